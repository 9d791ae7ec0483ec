//! Descriptors and rules that no REST transport can be made of.

use std::fmt;

/// Why a REST transport can't be made of some descriptors or rules: one sentence, with the RPC in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestError {
    message: String,
}

impl RestError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The rule of that RPC can't be used.
    pub(super) fn of_rule(method: &str, problem: impl fmt::Display) -> Self {
        Self::new(format!("the google.api.http rule of {method} can't be used: {problem}"))
    }
}

gax_text::error_text! { RestError { message }, "{message}" }
