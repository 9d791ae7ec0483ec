//! Retry tables with many methods or definitions, larger than any that are known.

use std::fmt::Write as _;

/// A kind of table, and its text with so many methods or definitions.
pub type Shape = (&'static str, fn(usize) -> String);

/// Every kind.
pub const SHAPES: [Shape; 5] = [
    ("one entry with all names", names),
    ("an entry for each method", entries),
    ("services", services),
    ("one name, again and again", same),
    ("definitions", definitions),
];

const POLICY: &str = r#""retryPolicy": {"maxAttempts": 5, "initialBackoff": "1s", "maxBackoff": "10s", "backoffMultiplier": 1.3, "retryableStatusCodes": ["UNAVAILABLE"]}"#;

fn one_entry(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    format!("{{\"methodConfig\": [{{\"name\": [\n{}], \"timeout\": \"60s\", {POLICY}}}]}}", names.join(",\n"))
}

fn name(method: &str) -> String {
    format!(r#"{{"service": "example.library.v1.Library", "method": "{method}"}}"#)
}

fn names(count: usize) -> String {
    one_entry((0..count).map(|number| name(&format!("GetBook{number:05}"))))
}

fn services(count: usize) -> String {
    one_entry((0..count).map(|number| format!(r#"{{"service": "example.library.v1.Library{number:05}"}}"#)))
}

fn same(count: usize) -> String {
    one_entry((0..count).map(|_| name("GetBook")))
}

fn entries(count: usize) -> String {
    let entries = (0..count).map(|number| {
        let name = name(&format!("GetBook{number:05}"));
        format!("{{\"name\": [{name}], \"timeout\": \"{}s\", {POLICY}}}", 60 + number % 3000)
    });
    format!("{{\"methodConfig\": [\n{}]}}", entries.collect::<Vec<_>>().join(",\n"))
}

/// A client config whose methods have codes and params of their own.
fn definitions(count: usize) -> String {
    let (mut codes, mut params, mut methods) = (String::new(), String::new(), String::new());
    for number in 0..count {
        let comma = if number == 0 { "" } else { ",\n" };
        let _infallible = write!(codes, "{comma}\"codes{number}\": [\"UNAVAILABLE\"]");
        let delay = 100 + number;
        let _infallible = write!(
            params,
            "{comma}\"params{number}\": {{\"initial_retry_delay_millis\": {delay}, \"retry_delay_multiplier\": 1.3, \
             \"max_retry_delay_millis\": 60000, \"total_timeout_millis\": 600000}}"
        );
        let _infallible = write!(
            methods,
            "{comma}\"GetBook{number}\": {{\"timeout_millis\": 60000, \"retry_codes_name\": \"codes{number}\", \
             \"retry_params_name\": \"params{number}\"}}"
        );
    }
    format!(
        "{{\"interfaces\": {{\"example.library.v1.Library\": {{\"retry_codes\": {{{codes}}},\n\
         \"retry_params\": {{{params}}},\n\"methods\": {{{methods}}}}}}}}}"
    )
}
