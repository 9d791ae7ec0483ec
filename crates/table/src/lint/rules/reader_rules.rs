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
        "a name that occurs twice",
        "Remove the name from all entries but one.";
    "duplicate-code", Note,
        "a code that occurs twice in a list",
        "Keep the code only once.";
    "duplicate-key", Warning,
        "a key that occurs twice in an object",
        "Keep the key only once.";
    "merge-conflict", Warning,
        "a name that has different settings in two tables",
        "Remove the name from the earlier table.";
    "renamed-definitions", Warning,
        "definitions with the names of another table's, which therefore get other names",
        "Put all entries for one service into one table.";
    "unknown-field", Warning,
        "a field that is not known",
        "Correct the field's name, or remove it.";
    "snake-case-field", Warning,
        "a field that gRPC's clients do not see, spelled with underscores or other capitals",
        "Write the field's name in lower camel case.";
    "lower-case-code", Warning,
        "a code in lower case, which some readers reject",
        "Write the code in upper case.";
    "grpc-libraries-differ", Warning,
        "something that one of gRPC's libraries reads differently from A6",
        "Write what all libraries accept, as the finding describes.";
    "null-value", Warning,
        "a null, which grpc-java rejects",
        "Remove the field.";
    "default-timeout", Note,
        "a method without a timeout, for which the reader has a default",
        "Write timeout_millis.";
    "incomplete-long-running", Warning,
        "polling settings that are ignored because one is missing",
        "Write all four numbers.";
    "skipped-entry", Warning,
        "a method whose codes or settings are not defined",
        "Name codes and params that the file defines.";
    "no-effect", Note,
        "a value that has no effect",
        "Remove the value, or keep it for other readers and ignore the finding in gax.toml.";
    "not-strict-json", Warning,
        "JSON that only a lenient reader accepts",
        "Write strict JSON: no comments, and double quotes.";
    "dropped-file", Warning,
        "a file that Google's Java generator drops without a message",
        "Correct what the finding names, so that the whole file is read.";
    "refused-by-gax-java", Warning,
        "a file that stops Google's Java generator or its client",
        "Correct what the finding names.";
    "unreadable-table", Error,
        "a file that is not a retry table",
        "Correct the file where the finding points.";
    "not-expressible", Warning,
        "something that another format can't express",
        "Change the table, or accept the loss.";
    "approximated", Note,
        "something that another format can only approximate",
        "Write a value that the other format has, or accept the approximation.";
    "service-config-choice", Note,
        "a list of service configs, of which one is read",
        "Give clients the one service config that is for them.";
    "refused-by-grpc", Note,
        "a file that gRPC itself refuses as a whole",
        "Correct what the finding names, if channels read the table.";
    "client-refuses", Error,
        "something for which a client of the team refuses the table, or fails every call",
        "Write what the finding says, so that all clients take it.";
    "client-never-retries", Warning,
        "something because of which a client of the team retries nothing",
        "Write what the finding says.";
    "client-changes", Warning,
        "something that a client of the team reads as something else",
        "Write what the finding says, so that all clients read the same.";
    "client-differs", Note,
        "something that a client of the team does otherwise, whatever is written",
        "Do in the program what the table can't say.";
    "clients-disagree", Note,
        "something harmful that clients don't agree on",
        "Write what all clients take, and name yours by --client.";
    "too-many-findings", Warning,
        "more findings in a file than are listed",
        "Correct the findings that are listed, and lint again.";
}
