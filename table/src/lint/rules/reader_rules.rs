//! The rules that readers of tables apply while they read.

use crate::Severity;
use crate::lint::rule::{Needs, Rule};

pub(super) static RULES: [Rule; 30] = [
    rule(
        "no-max-attempts",
        Severity::Note,
        "a retry policy without maxAttempts",
        "Write maxAttempts, from 2 to 5.",
    ),
    rule(
        "max-attempts-below-2",
        Severity::Warning,
        "a retry policy that never retries",
        "Write 2 or more, or remove the retry policy.",
    ),
    rule(
        "no-codes",
        Severity::Warning,
        "a retry policy that retries no code",
        "Name at least one code, or remove the retry policy.",
    ),
    rule(
        "no-limits",
        Severity::Warning,
        "a retry policy with neither a timeout nor maxAttempts",
        "Write a timeout, maxAttempts, or both.",
    ),
    rule(
        "missing-backoff",
        Severity::Warning,
        "a retry policy without one of its back-off values",
        "Write initialBackoff, maxBackoff and backoffMultiplier.",
    ),
    rule(
        "max-below-initial",
        Severity::Warning,
        "a maxBackoff below initialBackoff",
        "Write a maxBackoff above initialBackoff.",
    ),
    rule(
        "timeout-not-positive",
        Severity::Warning,
        "a timeout that every call runs into at once",
        "Write a timeout above zero.",
    ),
    rule(
        "duplicate-name",
        Severity::Warning,
        "a name that comes twice",
        "Remove the name from all entries but one.",
    ),
    rule(
        "duplicate-code",
        Severity::Note,
        "a code that comes twice in a list",
        "Remove the code from the list but once.",
    ),
    rule(
        "duplicate-key",
        Severity::Warning,
        "a key that comes twice in an object",
        "Remove the key from the object but once.",
    ),
    rule(
        "merge-conflict",
        Severity::Warning,
        "a name for which two tables say different things",
        "Remove the name from the earlier table.",
    ),
    rule(
        "renamed-definitions",
        Severity::Warning,
        "definitions that are named as those of another table, and so get other names",
        "Put what is for one service into one table.",
    ),
    rule(
        "unknown-field",
        Severity::Warning,
        "a field that is not known",
        "Correct the field's name, or remove it.",
    ),
    rule(
        "snake-case-field",
        Severity::Warning,
        "a field that gRPC itself does not read, spelled with underscores",
        "Write the field's name in lower camel case.",
    ),
    rule(
        "lower-case-code",
        Severity::Warning,
        "a code that some readers refuse, spelled in lower case",
        "Write the code in upper case.",
    ),
    rule(
        "grpc-libraries-differ",
        Severity::Warning,
        "what one of gRPC's libraries reads otherwise than A6",
        "Write what both libraries take, as the finding says.",
    ),
    rule("null-value", Severity::Warning, "a null, which gRPC itself refuses", "Remove the field."),
    rule(
        "default-timeout",
        Severity::Note,
        "a method without a timeout where the reader has one of its own",
        "Write timeout_millis.",
    ),
    rule(
        "incomplete-long-running",
        Severity::Warning,
        "polling settings that are ignored, since one is missing",
        "Write all four numbers.",
    ),
    rule(
        "skipped-entry",
        Severity::Warning,
        "a method whose codes or settings are not defined",
        "Name codes and params that the file defines.",
    ),
    rule(
        "no-effect",
        Severity::Note,
        "a value that nothing acts on",
        "Remove the value, or keep it for those that act on it and ignore the finding in gax.toml.",
    ),
    rule(
        "not-strict-json",
        Severity::Warning,
        "JSON that only a lenient reader takes",
        "Write strict JSON: no comments, and double quotes.",
    ),
    rule(
        "dropped-file",
        Severity::Warning,
        "a file that Google's Java generator drops in silence",
        "Correct what the finding names, so that the whole file is read.",
    ),
    rule(
        "refused-by-gax-java",
        Severity::Warning,
        "a file that stops Google's Java generator or its client",
        "Correct what the finding names.",
    ),
    rule(
        "unreadable-table",
        Severity::Error,
        "a file that is no retry table",
        "Correct the file where the finding points.",
    ),
    rule(
        "not-expressible",
        Severity::Warning,
        "what another format can't say",
        "Change the table, or accept that the new form does not say it.",
    ),
    rule(
        "approximated",
        Severity::Note,
        "what another format can say nearly so",
        "Write the value that the new form has, or accept it.",
    ),
    rule(
        "service-config-choice",
        Severity::Note,
        "a list of service configs, of which one is read",
        "Give clients the one service config that is for them.",
    ),
    rule(
        "refused-by-grpc",
        Severity::Note,
        "a file that gRPC itself refuses as a whole",
        "Correct what the finding names, if channels get the table.",
    ),
    rule(
        "too-many-findings",
        Severity::Warning,
        "more findings in a file than are listed",
        "Correct the findings that are listed, and lint again.",
    ),
];

const fn rule(id: &'static str, severity: Severity, summary: &'static str, advice: &'static str) -> Rule {
    Rule::new(id, severity, Needs::Text, summary, advice)
}
