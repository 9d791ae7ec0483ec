//! A table for programs.

use super::rules::Requests;
use crate::command::table::by_policy::ByPolicy;
use crate::command::table::view::MethodView;
use crate::render::Ordered;
use gax_table::RetryTable;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    dialect: &'static str,
    retry_throttling: Option<Value>,
    /// The findings that the table's authors know of.
    allow: Vec<Ordered<&'static str, &'a str>>,
    /// Which HTTP requests are safe to retry, and how they are retried.
    http: Option<Requests<'a>>,
    /// The fields of a service config besides retries, as they stand there.
    other_fields: Value,
    methods: Rows<'a>,
}

/// The methods. Where load is estimated, each is as it is written: a policy takes a moment.
#[derive(Debug)]
struct Rows<'a> {
    methods: Vec<MethodView<'a>>,
    with_load: bool,
}

impl<'a> Document<'a> {
    pub(super) fn new(methods: Vec<MethodView<'a>>, table: &'a RetryTable, with_load: bool) -> Self {
        let allowed = table
            .suppressions()
            .map(|known| Ordered(vec![("rule", known.rule()), ("reason", known.reason())]));
        Self {
            dialect: table.dialect().as_str(),
            retry_throttling: table.throttling().map(|throttling| {
                json!({ "max_tokens": throttling.max_tokens(), "token_ratio": throttling.token_ratio() })
            }),
            allow: allowed.collect(),
            http: table.http().map(|http| Requests::of_table(table, http)),
            other_fields: serde_json::from_str(&table.other_fields()).unwrap_or_default(),
            methods: Rows { methods, with_load },
        }
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.with_load {
            return self.methods.serialize(serializer);
        }
        let mut impacts = ByPolicy::new();
        serializer.collect_seq(self.methods.iter().map(|method| method.clone().estimated(&mut impacts)))
    }
}
