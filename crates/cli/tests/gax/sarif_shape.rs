//! SARIF 2.1.0, as far as this project writes it: which properties an object may and must have, and of what kind.
#![expect(clippy::panic, clippy::indexing_slicing, reason = "a helper of tests fails the test that calls it")]

use serde_json::Value;

/// The kind of a property's value.
enum Kind {
    Text,
    /// One of these texts.
    Word(&'static [&'static str]),
    /// A URI or, below it, a path that is encoded as in one.
    Uri,
    /// A whole number, from that one on.
    Number(u64),
    Object(&'static str),
    Array(&'static str),
}

use Kind::{Array, Number, Object, Text, Uri, Word};

/// The objects of the schema: each property, whether it has to be there, and what it holds.
fn properties(object: &str) -> &'static [(&'static str, bool, Kind)] {
    const LEVELS: &[&str] = &["none", "note", "warning", "error"];
    match object {
        "sarifLog" => {
            &[("$schema", false, Uri), ("version", true, Word(&["2.1.0"])), ("runs", true, Array("run"))]
        }
        "run" => &[
            ("tool", true, Object("tool")),
            ("results", false, Array("result")),
            ("columnKind", false, Word(&["utf16CodeUnits", "unicodeCodePoints"])),
        ],
        "tool" => &[("driver", true, Object("toolComponent"))],
        "toolComponent" => &[
            ("name", true, Text),
            ("version", false, Text),
            ("informationUri", false, Uri),
            ("rules", false, Array("reportingDescriptor")),
        ],
        "reportingDescriptor" => &[
            ("id", true, Text),
            ("shortDescription", false, Object("multiformatMessageString")),
            ("help", false, Object("multiformatMessageString")),
            ("helpUri", false, Uri),
            ("defaultConfiguration", false, Object("reportingConfiguration")),
        ],
        "multiformatMessageString" => &[("text", true, Text), ("markdown", false, Text)],
        "reportingConfiguration" => &[("level", false, Word(LEVELS))],
        "result" => &[
            ("message", true, Object("message")),
            ("ruleId", false, Text),
            ("ruleIndex", false, Number(0)),
            ("level", false, Word(LEVELS)),
            ("locations", false, Array("location")),
        ],
        "message" => &[("text", false, Text)],
        "location" => &[
            ("physicalLocation", false, Object("physicalLocation")),
            ("logicalLocations", false, Array("logicalLocation")),
        ],
        "logicalLocation" => &[("fullyQualifiedName", false, Text)],
        "physicalLocation" => {
            &[("artifactLocation", true, Object("artifactLocation")), ("region", false, Object("region"))]
        }
        "artifactLocation" => &[("uri", false, Uri)],
        "region" => &[
            ("startLine", true, Number(1)),
            ("startColumn", false, Number(1)),
            ("endLine", false, Number(1)),
            ("endColumn", false, Number(1)),
        ],
        other => panic!("there is no {other}"),
    }
}

/// The faults of a log.
pub(crate) fn faults(log: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(log, "sarifLog", &mut faults);
    for run in log["runs"].as_array().into_iter().flatten() {
        let rules = run["tool"]["driver"]["rules"].as_array().map_or(&[][..], Vec::as_slice);
        for result in run["results"].as_array().into_iter().flatten() {
            let index = result["ruleIndex"].as_u64().and_then(|index| usize::try_from(index).ok());
            if index.and_then(|index| rules.get(index)).is_none_or(|rule| rule["id"] != result["ruleId"]) {
                faults.push(format!("{}: ruleIndex leads elsewhere", result["ruleId"]));
            }
        }
    }
    faults
}

fn check(value: &Value, object: &str, faults: &mut Vec<String>) {
    let Some(members) = value.as_object() else { return faults.push(format!("{object} is no object")) };
    let known = properties(object);
    for name in members.keys().filter(|name| known.iter().all(|(known, ..)| known != name)) {
        faults.push(format!("{object} has no {name}"));
    }
    for (name, is_needed, kind) in known {
        let Some(value) = members.get(*name) else {
            if *is_needed {
                faults.push(format!("{object} lacks {name}"));
            }
            continue;
        };
        let is_fine = match kind {
            Text => value.is_string(),
            Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Uri => value.as_str().is_some_and(is_uri),
            Number(least) => value.as_u64().is_some_and(|number| number >= *least),
            Object(inner) => {
                check(value, inner, faults);
                true
            }
            Array(inner) => {
                value.as_array().into_iter().flatten().for_each(|element| check(element, inner, faults));
                value.is_array()
            }
        };
        if !is_fine {
            faults.push(format!("{object}.{name} can't be {value}"));
        }
    }
}

/// Returns whether all characters are ones that a URI has, and each percent sign comes with two digits.
fn is_uri(text: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    let is_code = |part: &str| part.get(..2).is_some_and(|code| code.chars().all(|c| c.is_ascii_hexdigit()));
    !text.is_empty() && text.chars().all(is_known) && text.split('%').skip(1).all(is_code)
}

#[test]
fn faults_are_found() {
    let log = serde_json::json!({
        "version": "2.2.0", "runs": [{ "tool": { "driver": { "rules": [{ "id": "a", "helpURI": "x y" }] } },
        "results": [{ "ruleId": "b", "ruleIndex": 0, "message": { "text": 1 }, "level": "fatal",
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a b" }, "region": { "startLine": 0 } } }] }] }]
    });
    assert_eq!(
        faults(&log),
        [
            "sarifLog.version can't be \"2.2.0\"",
            "toolComponent lacks name",
            "reportingDescriptor has no helpURI",
            "message.text can't be 1",
            "result.level can't be \"fatal\"",
            "artifactLocation.uri can't be \"a b\"",
            "region.startLine can't be 0",
            "\"b\": ruleIndex leads elsewhere",
        ]
    );
}
