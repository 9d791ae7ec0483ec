//! The rules that readers of tables apply while they read.

use crate::Severity;
use crate::lint::rule::{Needs, Rule};

pub(super) static RULES: [Rule; 30] = [
    rule("no-max-attempts", Severity::Note, "a retry policy without maxAttempts"),
    rule("max-attempts-below-2", Severity::Warning, "a retry policy that never retries"),
    rule("no-codes", Severity::Warning, "a retry policy that retries no code"),
    rule("no-limits", Severity::Warning, "a retry policy with neither a timeout nor maxAttempts"),
    rule("missing-backoff", Severity::Warning, "a retry policy without one of its back-off values"),
    rule("max-below-initial", Severity::Warning, "a maxBackoff below initialBackoff"),
    rule("timeout-not-positive", Severity::Warning, "a timeout that every call runs into at once"),
    rule("duplicate-name", Severity::Warning, "a name that comes twice"),
    rule("duplicate-code", Severity::Note, "a code that comes twice in a list"),
    rule("duplicate-key", Severity::Warning, "a key that comes twice in an object"),
    rule("merge-conflict", Severity::Warning, "a name for which two tables say different things"),
    rule(
        "renamed-definitions",
        Severity::Warning,
        "definitions that are named as those of another table, and so get other names",
    ),
    rule("unknown-field", Severity::Warning, "a field that is not known"),
    rule(
        "snake-case-field",
        Severity::Warning,
        "a field that gRPC itself does not read, spelled with underscores",
    ),
    rule("lower-case-code", Severity::Warning, "a code that some readers refuse, spelled in lower case"),
    rule("grpc-libraries-differ", Severity::Warning, "what one of gRPC's libraries reads otherwise than A6"),
    rule("null-value", Severity::Warning, "a null, which gRPC itself refuses"),
    rule("default-timeout", Severity::Note, "a method without a timeout where the reader has one of its own"),
    rule(
        "incomplete-long-running",
        Severity::Warning,
        "polling settings that are ignored, since one is missing",
    ),
    rule("skipped-entry", Severity::Warning, "a method whose codes or settings are not defined"),
    rule("no-effect", Severity::Note, "a value that nothing acts on"),
    rule("not-strict-json", Severity::Warning, "JSON that only a lenient reader takes"),
    rule("dropped-file", Severity::Warning, "a file that Google's Java generator drops in silence"),
    rule("refused-by-gax-java", Severity::Warning, "a file that stops Google's Java generator or its client"),
    rule("unreadable-table", Severity::Error, "a file that is no retry table"),
    rule("not-expressible", Severity::Warning, "what another format can't say"),
    rule("approximated", Severity::Note, "what another format can say nearly so"),
    rule("service-config-choice", Severity::Note, "a list of service configs, of which one is read"),
    rule("refused-by-grpc", Severity::Note, "a file that gRPC itself refuses as a whole"),
    rule("too-many-findings", Severity::Warning, "more findings in a file than are listed"),
];

const fn rule(id: &'static str, severity: Severity, summary: &'static str) -> Rule {
    Rule::new(id, severity, Needs::Text, summary)
}
