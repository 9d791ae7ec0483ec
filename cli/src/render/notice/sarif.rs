//! SARIF 2.1.0, which code scanning services read.

use super::{Notice, NoticePlace, NoticeRule};
use gax_table::Severity;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log of one run of that tool. Rules that no remark has are left out.
pub(crate) fn sarif(tool: &str, rules: &[NoticeRule<'_>], notices: &[Notice<'_>]) -> Value {
    let ids: HashSet<&str> = notices.iter().map(|notice| notice.rule).collect();
    let is_used = |rule: &&NoticeRule<'_>| ids.contains(rule.id);
    let used: Vec<&NoticeRule<'_>> = rules.iter().filter(is_used).collect();
    let numbers: HashMap<&str, usize> =
        used.iter().enumerate().map(|(number, rule)| (rule.id, number)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": tool,
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": used.into_iter().map(described).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": notices.iter().map(|notice| result(notice, &numbers)).collect::<Vec<_>>(),
        }],
    })
}

fn described(rule: &NoticeRule<'_>) -> Value {
    let NoticeRule { id, severity, summary, help, page } = rule;
    json!({
        "id": id,
        "shortDescription": { "text": summary },
        "help": {
            "text": format!("{help} See {page}"),
            "markdown": format!("{help} See [{id}]({page})."),
        },
        "helpUri": page,
        "defaultConfiguration": { "level": level(*severity) },
    })
}

fn result(notice: &Notice<'_>, numbers: &HashMap<&str, usize>) -> Value {
    let mut location = Map::new();
    if let Some(place) = notice.place {
        location.insert("physicalLocation".to_owned(), physical(place));
    }
    if let Some(name) = notice.name {
        location.insert("logicalLocations".to_owned(), json!([{ "fullyQualifiedName": name }]));
    }
    let locations = if location.is_empty() { Vec::new() } else { vec![Value::Object(location)] };
    let mut result = json!({
        "ruleId": notice.rule,
        "level": level(notice.severity),
        "message": { "text": notice.text },
        "locations": locations,
    });
    if let (Some(number), Some(object)) = (numbers.get(notice.rule), result.as_object_mut()) {
        object.insert("ruleIndex".to_owned(), (*number).into());
    }
    result
}

fn physical(place: NoticePlace<'_>) -> Value {
    let mut region = json!({ "startLine": place.start.0, "startColumn": place.start.1 });
    if let (Some((line, column)), Some(object)) = (place.end, region.as_object_mut()) {
        object.insert("endLine".to_owned(), line.into());
        object.insert("endColumn".to_owned(), column.into());
    }
    json!({ "artifactLocation": { "uri": uri(place.file) }, "region": region })
}

/// A path as a URI: what is neither a letter, a digit nor one of `-._~/` is written with a percent sign.
fn uri(path: &str) -> String {
    let mut uri = if Path::new(path).is_absolute() { "file://" } else { "" }.to_owned();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _infallible = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("a b/ü#1.json"), "a%20b/%C3%BC%231.json");
        assert_eq!(uri("/a/b.json"), "file:///a/b.json");
    }
}
