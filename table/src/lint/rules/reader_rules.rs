//! The rules that readers of tables apply while they read.

use crate::lint::rule::declare;

declare! {
    "no-max-attempts", Note,
        "a retry policy without maxAttempts",
        "Write maxAttempts, from 2 to 5.";
    "max-attempts-below-2", Warning,
        "a retry policy that never retries",
        "Write 2 or more, or remove the retry policy.";
    "no-codes", Warning,
        "a retry policy that retries no code",
        "Name at least one code, or remove the retry policy.";
    "no-limits", Warning,
        "a retry policy with neither a timeout nor maxAttempts",
        "Write a timeout, maxAttempts, or both.";
    "missing-backoff", Warning,
        "a retry policy without one of its back-off values",
        "Write initialBackoff, maxBackoff and backoffMultiplier.";
    "max-below-initial", Warning,
        "a maxBackoff below initialBackoff",
        "Write a maxBackoff above initialBackoff.";
    "timeout-not-positive", Warning,
        "a timeout that every call runs into at once",
        "Write a timeout above zero.";
    "duplicate-name", Warning,
        "a name that comes twice",
        "Remove the name from all entries but one.";
    "duplicate-code", Note,
        "a code that comes twice in a list",
        "Remove the code from the list but once.";
    "duplicate-key", Warning,
        "a key that comes twice in an object",
        "Remove the key from the object but once.";
    "merge-conflict", Warning,
        "a name for which two tables say different things",
        "Remove the name from the earlier table.";
    "renamed-definitions", Warning,
        "definitions that are named as those of another table, and so get other names",
        "Put what is for one service into one table.";
    "unknown-field", Warning,
        "a field that is not known",
        "Correct the field's name, or remove it.";
    "snake-case-field", Warning,
        "a field that gRPC itself does not read, spelled with underscores",
        "Write the field's name in lower camel case.";
    "lower-case-code", Warning,
        "a code that some readers refuse, spelled in lower case",
        "Write the code in upper case.";
    "grpc-libraries-differ", Warning,
        "what one of gRPC's libraries reads otherwise than A6",
        "Write what both libraries take, as the finding says.";
    "null-value", Warning,
        "a null, which gRPC itself refuses",
        "Remove the field.";
    "default-timeout", Note,
        "a method without a timeout where the reader has one of its own",
        "Write timeout_millis.";
    "incomplete-long-running", Warning,
        "polling settings that are ignored, since one is missing",
        "Write all four numbers.";
    "skipped-entry", Warning,
        "a method whose codes or settings are not defined",
        "Name codes and params that the file defines.";
    "no-effect", Note,
        "a value that nothing acts on",
        "Remove the value, or keep it for those that act on it and ignore the finding in gax.toml.";
    "not-strict-json", Warning,
        "JSON that only a lenient reader takes",
        "Write strict JSON: no comments, and double quotes.";
    "dropped-file", Warning,
        "a file that Google's Java generator drops in silence",
        "Correct what the finding names, so that the whole file is read.";
    "refused-by-gax-java", Warning,
        "a file that stops Google's Java generator or its client",
        "Correct what the finding names.";
    "unreadable-table", Error,
        "a file that is no retry table",
        "Correct the file where the finding points.";
    "not-expressible", Warning,
        "what another format can't say",
        "Change the table, or accept that the new form does not say it.";
    "approximated", Note,
        "what another format can say nearly so",
        "Write the value that the new form has, or accept it.";
    "service-config-choice", Note,
        "a list of service configs, of which one is read",
        "Give clients the one service config that is for them.";
    "refused-by-grpc", Note,
        "a file that gRPC itself refuses as a whole",
        "Correct what the finding names, if channels get the table.";
    "too-many-findings", Warning,
        "more findings in a file than are listed",
        "Correct the findings that are listed, and lint again.";
}
