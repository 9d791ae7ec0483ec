//! Annotations that can't be used.

/// Why an annotation of a method can't be used: one sentence, with the template in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingError {
    message: String,
    help: String,
}

impl RoutingError {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// A template with a mistake at that byte.
    pub(super) fn of_template(template: &str, at: usize, problem: &str, help: &str) -> Self {
        let column = template.get(..at).map_or(0, |before| before.chars().count()) + 1;
        Self::new(format!("the path template {template:?} {problem} (character {column})"), help)
    }

    /// A rule whose additional bindings have additional bindings.
    #[must_use]
    pub fn nested_bindings() -> Self {
        Self::new(
            "an additional binding has additional bindings, which google.api.http does not allow",
            "put them next to it",
        )
    }

    /// The advice.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

gax_text::error_text! { RoutingError { message }, "{message}" }
