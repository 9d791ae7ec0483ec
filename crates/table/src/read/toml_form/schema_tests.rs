//! The JSON Schema that editors check tables by says what the reader reads.

#[cfg(feature = "http")]
use super::http::{HTTP, RULE};
#[cfg(feature = "http")]
use super::http_policy::HTTP_SETTINGS;
use super::read::{OTHERS, SETTINGS};
use crate::RetryTable;
use gax_retry::Code;
use serde_json::Value;
use std::collections::BTreeSet;

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../schema/retry-table.schema.json")).unwrap()
}

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_schema_has_the_fields_that_are_read() {
    let schema = schema();
    let settings: BTreeSet<_> = SETTINGS.into_iter().collect();
    assert_eq!(keys(&schema["definitions"]["settings"]), settings);
    assert_eq!(keys(&schema["properties"]["params"]["additionalProperties"]["properties"]), settings);
    let all: BTreeSet<_> = SETTINGS.into_iter().chain(OTHERS).collect();
    assert_eq!(keys(&schema["definitions"]["entry"]["properties"]), all);
}

#[cfg(feature = "http")]
#[test]
fn the_schema_has_the_fields_of_http_requests() {
    let schema = schema();
    // Codes are read to be refused.
    let settings = || HTTP_SETTINGS.into_iter().filter(|name| *name != "codes").chain(SETTINGS);
    let all: BTreeSet<_> = HTTP.into_iter().chain(settings()).collect();
    assert_eq!(keys(&schema["properties"]["http"]["properties"]), all);
    let all: BTreeSet<_> = RULE.into_iter().chain(settings()).collect();
    assert_eq!(keys(&schema["definitions"]["httpRule"]["properties"]), all);
}

#[test]
fn the_schema_has_the_codes_but_for_ok() {
    let schema = schema();
    let codes = schema["definitions"]["codeList"]["items"]["enum"].as_array().unwrap();
    let names = Code::ALL.into_iter().filter(|code| *code != Code::Ok).map(Code::name);
    assert!(names.eq(codes.iter().map(|code| code.as_str().unwrap())));
}

#[test]
fn every_field_of_the_schemas_root_is_read() {
    let schema = schema();
    for field in keys(&schema["properties"]) {
        let value = if ["entry", "allow"].contains(&field) { "[]" } else { "{}" };
        let text = format!("{field} = {value}\n");
        let unknown = RetryTable::parse(&text).is_ok_and(|table| !table.findings().is_empty());
        assert!(!unknown, "{field}");
    }
}
