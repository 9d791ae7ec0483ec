//! Findings that a table's authors allow.

use crate::SourceLocation;
use std::ops::Range;

/// A rule whose findings are left out, for a reason, in a table in this project's own form.
///
/// `[[allow]]` at the top of the file is for all of it, `allow = [..]` in an entry for that entry.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "toml")] {
/// use gax_table::RetryTable;
/// use gax_table::lint::Linter;
///
/// let table = RetryTable::parse(
///     r#"
/// [[entry]]
/// for = ["example.v1.Library/GetBook"]
/// timeout = "2s"
/// allow = [{ rule = "short-timeout", reason = "replies come from a cache" }]
/// "#,
/// )?;
/// assert_eq!(table.suppressions().next().unwrap().reason(), "replies come from a cache");
/// assert_eq!(Linter::new().run(&table), []);
/// # }
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) origin: SourceLocation,
    /// The bytes of the file whose findings are allowed; `None` for all.
    pub(crate) extent: Option<Range<usize>>,
}

impl Suppression {
    gax_text::getters! { self:
        /// The rule whose findings are left out.
        pub rule: &str = self.rule.as_str();

        /// Why they may be left out. Never empty.
        pub reason: &str = self.reason.as_str();

        /// Where it stands.
        pub origin: &SourceLocation = &self.origin;
    }

    /// Returns whether it is for a finding of that rule at that place.
    pub(crate) fn covers(&self, rule: &str, place: Option<&SourceLocation>) -> bool {
        let is_there = match (&self.extent, place) {
            (None, None) => true,
            (None, Some(place)) => place.file() == self.origin.file(),
            (Some(_), None) => false,
            (Some(extent), Some(place)) => {
                place.file() == self.origin.file() && extent.contains(&place.span().start)
            }
        };
        rule == self.rule && is_there
    }
}
