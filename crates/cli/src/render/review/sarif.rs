//! SARIF 2.1.0, which code scanning services read.

use super::notice::{Notice, NoticePlace, NoticeRule};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log of one run of a tool: `results` is made when it is written.
#[derive(Debug, Serialize)]
#[serde(bound = "Results<I>: Serialize")]
pub(crate) struct Log<I> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<I>; 1],
    version: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", bound = "Results<I>: Serialize")]
struct Run<I> {
    column_kind: &'static str,
    results: Results<I>,
    tool: Value,
}

#[derive(Debug)]
struct Results<I> {
    notices: I,
    /// Of the rules by their names.
    numbers: HashMap<String, usize>,
}

/// The log of one run of that tool. Rules that no remark has are left out.
pub(crate) fn sarif<'a, I>(tool: &str, rules: &[NoticeRule<'_>], notices: I) -> Log<I>
where
    I: Iterator<Item = Notice<'a>> + Clone,
{
    let ids: HashSet<&str> = notices.clone().map(|notice| notice.rule).collect();
    let used: Vec<&NoticeRule<'_>> = rules.iter().filter(|rule| ids.contains(rule.id)).collect();
    let numbers = used.iter().enumerate().map(|(number, rule)| (rule.id.to_owned(), number)).collect();
    let tool = json!({ "driver": {
        "name": tool,
        "version": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": used.into_iter().map(described).collect::<Vec<_>>(),
    } });
    let results = Results { notices, numbers };
    Log { schema: SCHEMA, runs: [Run { column_kind: "unicodeCodePoints", results, tool }], version: "2.1.0" }
}

impl<'a, I: Iterator<Item = Notice<'a>> + Clone> Serialize for Results<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.notices.clone().map(|notice| result(&notice, &self.numbers)))
    }
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
        "defaultConfiguration": { "level": severity.to_string() },
    })
}

fn result(notice: &Notice<'_>, numbers: &HashMap<String, usize>) -> Value {
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
        "level": notice.severity.to_string(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("a b/ü#1.json"), "a%20b/%C3%BC%231.json");
        assert_eq!(uri("/a/b.json"), "file:///a/b.json");
    }
}
