//! The result of a conversion.

use crate::Finding;

/// A table in another form, and what that form could not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    pub(super) text: String,
    pub(super) findings: Vec<Finding>,
}

impl Conversion {
    /// The text of the new file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Settings that the new form can't express (`not-expressible`) or says in its own way (`approximated`); empty if
    /// it says the same. What is true of several methods of an entry is one finding.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
