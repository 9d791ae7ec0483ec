//! Retry tables with many methods or definitions, larger than any that are known.

use gax_table::{RetryTable, TableError, TableFormat};

/// A kind of table.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The thing that it has a lot of.
    pub name: &'static str,
    /// A method that it knows, or all of a service.
    pub method: &'static str,
    /// Its text, in JSON, with so many methods or definitions.
    pub json: fn(usize) -> String,
    /// The other forms that it can be written in.
    forms: &'static [TableFormat],
}

/// Every kind.
pub const SHAPES: [Shape; 5] = [
    Shape {
        name: "one entry with all names",
        method: "GetBook00001",
        json: names,
        forms: &[TableFormat::Toml, TableFormat::GapicYaml, TableFormat::ClientConfig],
    },
    Shape {
        name: "an entry for each method",
        method: "GetBook00001",
        json: entries,
        forms: &[TableFormat::Toml, TableFormat::GapicYaml, TableFormat::ClientConfig],
    },
    Shape {
        name: "services",
        method: "example.library.v1.Library00001/*",
        json: services,
        forms: &[TableFormat::Toml],
    },
    Shape { name: "one name, again and again", method: "GetBook", json: same, forms: &[TableFormat::Toml] },
    Shape {
        name: "definitions",
        method: "GetBook1",
        json: definitions,
        forms: &[TableFormat::Toml, TableFormat::GapicYaml],
    },
];

impl Shape {
    /// Its text with so many rows, in each form that it can have, with the name of the form.
    ///
    /// # Errors
    ///
    /// The text in JSON is no table.
    pub fn texts(&self, rows: usize) -> Result<Vec<(&'static str, String)>, TableError> {
        let json = (self.json)(rows);
        let table = RetryTable::parse(&json)?;
        let other = |form: &TableFormat| (form.as_str(), table.convert(*form).text().to_owned());
        Ok(std::iter::once(("json", json.clone())).chain(self.forms.iter().map(other)).collect())
    }
}

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
        let timeout = format!("{}.{:03}s", 60 + number / 1000, number % 1000);
        format!("{{\"name\": [{name}], \"timeout\": \"{timeout}\", {POLICY}}}")
    });
    format!("{{\"methodConfig\": [\n{}]}}", entries.collect::<Vec<_>>().join(",\n"))
}

/// A client config whose methods have codes and params of their own.
fn definitions(count: usize) -> String {
    let all = |one: fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(",\n");
    let codes = all(|number| format!("\"codes{number}\": [\"UNAVAILABLE\"]"));
    let params = all(|number| {
        format!(
            "\"params{number}\": {{\"initial_retry_delay_millis\": {}, \"retry_delay_multiplier\": 1.3, \
             \"max_retry_delay_millis\": 60000, \"total_timeout_millis\": 600000}}",
            100 + number
        )
    });
    let methods = all(|number| {
        format!(
            "\"GetBook{number}\": {{\"timeout_millis\": 60000, \"retry_codes_name\": \"codes{number}\", \
             \"retry_params_name\": \"params{number}\"}}"
        )
    });
    format!(
        "{{\"interfaces\": {{\"example.library.v1.Library\": {{\"retry_codes\": {{{codes}}},\n\
         \"retry_params\": {{{params}}},\n\"methods\": {{{methods}}}}}}}}}"
    )
}
