//! The effect of a method on the state of the world, as far as its description tells.

use super::verbs::by_name;
use crate::{IdempotencyLevel, MethodDescription};
use gax_retry::MethodKind;

/// A kind of method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// It changes nothing.
    Read,
    /// It makes something that would be there twice.
    Create,
    /// It changes something.
    Change,
    /// It removes something, which may be done again after a failure, but not twice at once.
    Remove,
    /// It does what the table or its proto calls idempotent.
    Repeatable,
    /// Nothing says what it does.
    Unknown,
}

impl Action {
    /// The effect by the table's word on its idempotency, else by its description.
    pub(super) fn by_table(idempotent: Option<bool>, method: &MethodDescription) -> Self {
        match (idempotent, Self::of(method)) {
            (Some(true), action) if action != Action::Read => Action::Repeatable,
            (Some(false), action) if action != Action::Create => Action::Change,
            (_, action) => action,
        }
    }

    /// The effect by `idempotency_level`, else the HTTP verb, else the method's name. A POST says nothing: searches have it too.
    pub(super) fn of(method: &MethodDescription) -> Self {
        match method.idempotency() {
            IdempotencyLevel::NoSideEffects => return Action::Read,
            IdempotencyLevel::Idempotent => return Action::Repeatable,
            IdempotencyLevel::Unknown => {}
        }
        let streams = matches!(method.kind(), MethodKind::ServerStreaming | MethodKind::BidiStreaming);
        let named = by_name(method.name(), streams);
        match (method.http_verb(), named) {
            (Some("GET" | "HEAD"), _) => Action::Read,
            (Some("PUT"), _) => Action::Repeatable,
            (Some("DELETE"), _) => Action::Remove,
            (Some("PATCH"), Action::Read | Action::Unknown) => Action::Change,
            // Whatever it is called, it starts something.
            (_, Action::Read) if method.returns_operation() => Action::Unknown,
            _ => named,
        }
    }

    /// Returns whether a second time may do harm.
    pub(super) fn may_write(self) -> bool {
        matches!(self, Action::Create | Action::Change | Action::Unknown)
    }
}

/// Returns whether a name in upper camel case begins with that word: `GetBook` begins with `Get`, `Getaway` does not.
pub(super) fn begins_with_word(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_proto_says_goes_before_the_verb_and_that_before_the_name() {
        let method = |name: &str| MethodDescription::new(name, MethodKind::Unary);
        for (method, action) in [
            (method("GetBook"), Action::Read),
            (method("Getaway"), Action::Unknown),
            (method("CreateBook"), Action::Create),
            (method("DeleteBook"), Action::Remove),
            (method("Restock"), Action::Unknown),
            (method("Restock").with_http_verb("GET"), Action::Read),
            (method("CreateBook").with_http_verb("PUT"), Action::Repeatable),
            (method("CreateBook").with_http_verb("POST"), Action::Create),
            (method("GetBook").with_http_verb("POST"), Action::Read),
            (method("CreateBook").with_idempotency(IdempotencyLevel::Idempotent), Action::Repeatable),
            (method("Restock").with_idempotency(IdempotencyLevel::NoSideEffects), Action::Read),
            (method("AnalyzeBooks"), Action::Read),
            (method("AnalyzeBooksLongrunning"), Action::Unknown),
            (method("ExportBooks"), Action::Unknown),
            (method("Export").with_http_verb("PATCH"), Action::Change),
            (method("PurgeBooks").with_http_verb("DELETE"), Action::Remove),
            (method("ExportBooks").with_http_verb("GET"), Action::Read),
            (method("ImportBooks"), Action::Change),
            (method("GetBooks").returning_operation(), Action::Unknown),
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
            (Some(true), method("ExportBooks"), Action::Repeatable),
            (Some(false), method("ExportBooks"), Action::Change),
            (Some(false), method("GetBook").with_http_verb("GET"), Action::Change),
            (Some(false), method("GetBook").with_idempotency(level), Action::Change),
        ] {
            assert_eq!(Action::by_table(idempotent, &method), action, "{idempotent:?} {method:?}");
        }
    }
}
