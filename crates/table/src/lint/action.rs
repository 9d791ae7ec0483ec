//! The effect of a method on the state of the world, as far as its description tells.

use crate::{IdempotencyLevel, MethodDescription};

/// A kind of method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// It changes nothing.
    Read,
    /// It makes something that would be there twice.
    Create,
    /// It changes something, or what it does is not known.
    Change,
    /// It removes something, or does what the table or its proto calls idempotent.
    Repeatable,
}

const READS: [&str; 27] = [
    "Get",
    "List",
    "BatchGet",
    "Search",
    "Query",
    "Fetch",
    "Lookup",
    "Read",
    "Check",
    "Count",
    "Describe",
    "Analyze",
    "Test",
    "Validate",
    "Stream",
    "Watch",
    "Tail",
    "Subscribe",
    "Listen",
    "Observe",
    "Follow",
    "Monitor",
    "Find",
    "View",
    "Download",
    "Scan",
    "Resolve",
];
/// How the names of some methods end that start an operation.
const STARTS: [&str; 2] = ["Longrunning", "LongRunning"];
const CREATES: [&str; 31] = [
    "Create",
    "BatchCreate",
    "Insert",
    "Add",
    "Publish",
    "Run",
    "Send",
    "Submit",
    "Append",
    "Copy",
    "Clone",
    "Upload",
    "Write",
    "Enqueue",
    "Schedule",
    "Start",
    "Provision",
    "Issue",
    "Place",
    "Charge",
    "Pay",
    "Buy",
    "Purchase",
    "Transfer",
    "Refund",
    "Withdraw",
    "Deposit",
    "Register",
    "Post",
    "Notify",
    "Increment",
];
const REMOVALS: [&str; 4] = ["Delete", "BatchDelete", "Remove", "Purge"];

impl Action {
    /// The effect by the table's word on its idempotency, else by its description.
    pub(super) fn by_table(idempotent: Option<bool>, method: &MethodDescription) -> Self {
        match (idempotent, Self::of(method)) {
            (Some(true), Action::Create | Action::Change) => Action::Repeatable,
            (Some(false), Action::Read | Action::Repeatable) => Action::Change,
            (_, action) => action,
        }
    }

    /// The effect by `idempotency_level`, else the HTTP verb, else the method's name.
    pub(super) fn of(method: &MethodDescription) -> Self {
        match method.idempotency() {
            IdempotencyLevel::NoSideEffects => return Action::Read,
            IdempotencyLevel::Idempotent => return Action::Repeatable,
            IdempotencyLevel::Unknown => {}
        }
        match method.http_verb() {
            Some("GET" | "HEAD") => return Action::Read,
            Some("PUT" | "DELETE") => return Action::Repeatable,
            _ => {}
        }
        let starts = |words: &[&str]| words.iter().any(|word| begins_with_word(method.name(), word));
        if starts(&CREATES) {
            Action::Create
        } else if starts(&REMOVALS) {
            Action::Repeatable
        } else if starts(&READS) && !is_named_as_a_start(method) {
            Action::Read
        } else {
            Action::Change
        }
    }
}

/// Whether a method whose name begins as that of one that reads starts something nevertheless.
fn is_named_as_a_start(method: &MethodDescription) -> bool {
    method.returns_operation() || STARTS.iter().any(|end| method.name().ends_with(end))
}

/// Whether a name in upper camel case begins with that word: `GetBook` begins with `Get`, `Getaway` does not.
pub(super) fn begins_with_word(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::MethodKind;

    #[test]
    fn what_the_proto_says_goes_before_the_verb_and_that_before_the_name() {
        let method = |name: &str| MethodDescription::new(name, MethodKind::Unary);
        for (method, action) in [
            (method("GetBook"), Action::Read),
            (method("Getaway"), Action::Change),
            (method("CreateBook"), Action::Create),
            (method("DeleteBook"), Action::Repeatable),
            (method("Restock"), Action::Change),
            (method("Restock").with_http_verb("GET"), Action::Read),
            (method("CreateBook").with_http_verb("PUT"), Action::Repeatable),
            (method("CreateBook").with_http_verb("POST"), Action::Create),
            (method("GetBook").with_http_verb("POST"), Action::Read),
            (method("CreateBook").with_idempotency(IdempotencyLevel::Idempotent), Action::Repeatable),
            (method("Restock").with_idempotency(IdempotencyLevel::NoSideEffects), Action::Read),
            (method("AnalyzeBooks"), Action::Read),
            (method("AnalyzeBooksLongrunning"), Action::Change),
            (method("ExportBooks"), Action::Change),
            (method("ExportBooks").with_http_verb("GET"), Action::Read),
            (method("ImportBooks"), Action::Change),
            (method("GetBooks").returning_operation(), Action::Change),
            (method("GetOperation").returning_operation().with_http_verb("GET"), Action::Read),
        ] {
            assert_eq!(Action::of(&method), action, "{method:?}");
        }
    }

    #[test]
    fn what_the_table_says_goes_before_all() {
        let method = |name: &str| MethodDescription::new(name, MethodKind::Unary);
        let level = IdempotencyLevel::NoSideEffects;
        for (idempotent, method, action) in [
            (None, method("CreateBook"), Action::Create),
            (Some(true), method("CreateBook"), Action::Repeatable),
            (Some(true), method("Restock"), Action::Repeatable),
            (Some(true), method("GetBook"), Action::Read),
            (Some(true), method("DeleteBook"), Action::Repeatable),
            (Some(false), method("CreateBook"), Action::Create),
            (Some(false), method("DeleteBook"), Action::Change),
            (Some(false), method("GetBook").with_http_verb("GET"), Action::Change),
            (Some(false), method("GetBook").with_idempotency(level), Action::Change),
        ] {
            assert_eq!(Action::by_table(idempotent, &method), action, "{idempotent:?} {method:?}");
        }
    }
}
