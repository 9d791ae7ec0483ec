//! The rules as data: what each is called, and how much it matters.

use crate::Severity;
use std::fmt;

/// A thing that the linter looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    id: &'static str,
    severity: Severity,
    needs: Needs,
    summary: &'static str,
    advice: &'static str,
}

/// The knowledge that a rule needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Needs {
    /// The text: the rule is part of reading it.
    Text,
    /// The table.
    Table,
    /// The table and the services that it is for.
    Services,
    /// The tables of several versions of an API.
    Siblings,
    /// The table, and the load that is allowed: see [`Linter::max_load`](super::Linter::max_load).
    MaxLoad,
}

/// Declares rules: a constant for each, and `RULES` with all. Those that readers apply need no constants.
macro_rules! declare {
    ($($name:ident: $id:literal, $severity:ident, $needs:ident, $summary:literal, $advice:literal;)*) => {
        $(
            const $name: $crate::lint::rule::Rule = $crate::lint::rule::Rule::new(
                $id,
                $crate::Severity::$severity,
                $crate::lint::rule::Needs::$needs,
                $summary,
                $advice,
            );
        )*
        pub(in crate::lint) static RULES: &[$crate::lint::rule::Rule] = &[$($name),*];
    };
    ($($id:literal, $severity:ident, $summary:literal, $advice:literal;)*) => {
        pub(in crate::lint) static RULES: &[$crate::lint::rule::Rule] = &[$(
            $crate::lint::rule::Rule::new(
                $id,
                $crate::Severity::$severity,
                $crate::lint::rule::Needs::Text,
                $summary,
                $advice,
            )
        ),*];
    };
}

pub(super) use declare;

impl Rule {
    pub(super) const fn new(
        id: &'static str,
        severity: Severity,
        needs: Needs,
        summary: &'static str,
        advice: &'static str,
    ) -> Self {
        Self { id, severity, needs, summary, advice }
    }

    gax_text::getters! { const self:
        /// The name, such as `no-max-attempts`.
        pub id: &'static str = self.id;

        /// The severity of the rule's findings, unless the rule is denied.
        pub severity: Severity = self.severity;

        /// The knowledge that the rule needs.
        pub needs: Needs = self.needs;

        /// The subject of the rule's findings, in a few words.
        pub summary: &'static str = self.summary;

        /// The advice for a finding of the rule, in a sentence.
        pub advice: &'static str = self.advice;
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id)
    }
}
