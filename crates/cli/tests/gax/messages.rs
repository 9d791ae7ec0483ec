//! Files that are no tables, or nearly none: each message about them in full.

use super::{folder, gax};
use std::fs;

/// The findings of `gax table lint` in a file of that name, with their advice. The folder is a test's own.
fn found(own: &str, name: &str, content: &[u8]) -> Vec<String> {
    let path = folder(own).join(name);
    fs::write(&path, content).unwrap();
    let path = path.display().to_string();
    let output = gax(["table", "lint", "--format=json", "--", &path]);
    let log: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().replace(&path, name);
    let findings = log.get("findings").and_then(|findings| findings.as_array()).unwrap();
    let [rule, message, help, line] = ["rule", "message", "help", "line"];
    let finding = |finding: &serde_json::Value| {
        let of = |key: &str| finding.get(key).unwrap();
        format!("{} {}: {}; {}", of(line), text(of(rule)), text(of(message)), text(of(help)))
    };
    findings.iter().map(finding).collect()
}

#[test]
fn files_that_are_no_tables_are_reported_with_what_to_do() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = |count: usize| format!("{}{{}}", "\u{feff}".repeat(count)).into_bytes();
    for (name, content, message) in [
        (
            "empty.json",
            Vec::new(),
            "1 unreadable-table: the file is empty; write a retry table, such as {\"methodConfig\": [{\"name\": \
             [{\"service\": \"a.B\"}], \"timeout\": \"60s\"}]}",
        ),
        (
            "empty.toml",
            Vec::new(),
            "1 empty-table: the table has no entries; add an [[entry]], or remove the file",
        ),
        (
            "comment.toml",
            b"# later\n".to_vec(),
            "1 empty-table: the table has no entries; add an [[entry]], or remove the file",
        ),
        (
            "nothing.json",
            b"{}".to_vec(),
            "1 empty-table: the table has no entries; add an entry to methodConfig, or remove the file",
        ),
        (
            "nothing_client_config.json",
            b"{\"interfaces\": {}}".to_vec(),
            "1 empty-table: the table has no entries; add methods to interfaces, or remove the file",
        ),
        (
            "prose.txt",
            b"This is not a table\n".to_vec(),
            "1 unreadable-table: This is not a table is neither JSON nor YAML nor TOML; a retry table begins with { or a key",
        ),
        (
            "list.json",
            b"[1, 2]".to_vec(),
            "1 unreadable-table: [1, 2] is an array, but a service config is an object; write an object in braces",
        ),
        (
            "other.yaml",
            b"key: value\n".to_vec(),
            "1 unreadable-table: the file is YAML, but neither GAPIC YAML nor an OpenAPI document; write a service config as JSON, or GAPIC YAML with \
             interfaces",
        ),
        (
            "utf16.json",
            utf16("{\"methodConfig\": []}"),
            "1 unreadable-table: the file is UTF-16, without a byte order mark; save the file as UTF-8",
        ),
        (
            "utf16_with_mark.json",
            utf16("\u{feff}{}"),
            "1 unreadable-table: the file is UTF-16; save the file as UTF-8",
        ),
        (
            "marks.json",
            marked(2),
            "1 unreadable-table: the file begins with two byte order marks; save the file as UTF-8",
        ),
    ] {
        assert_eq!(found("messages", name, &content), [message], "{name}");
    }
    assert_eq!(found("messages", "mark.json", &marked(1)).len(), 1);
}

/// gRPC and Google's generators never read it.
#[test]
fn toml_is_reported_in_its_own_words_and_not_what_others_refuse() {
    let entry = |rest: &str| format!("[[entry]]\nfor = [\"a.B/C\"]\ntimeout = \"10s\"\n{rest}");
    let retried = |rest: &str| entry(&format!("codes = [\"UNAVAILABLE\"]\nmax_attempts = 3\n{rest}"));
    for (name, text, message) in [
        (
            "longest.toml",
            retried("initial_rpc_timeout = \"20s\"\n"),
            "6 rpc-timeout-above-total: the RPC timeout, 20s, is longer than the total timeout, 10s; write a shorter RPC \
             timeout, or a longer total timeout",
        ),
        (
            "twice.toml",
            entry("\n[[entry]]\nfor = [\"a.B/C\"]\ntimeout = \"20s\"\n"),
            "6 duplicate-name: a.B/C is in an earlier entry too (at twice.toml:2:8); the last one applies; remove the other",
        ),
        (
            "lower.toml",
            entry("codes = [\"unavailable\"]\nmax_attempts = 3\n"),
            "4 lower-case-code: \"unavailable\" is read as UNAVAILABLE; write UNAVAILABLE",
        ),
        (
            "attempts.toml",
            entry("codes = [\"UNAVAILABLE\"]\nmax_attempts = 1\n"),
            "5 max-attempts-below-2: with max_attempts 1 nothing is retried; write 2 or more",
        ),
        (
            "room.toml",
            retried("initial_retry_delay = \"8s\"\nretry_delay_multiplier = 2\n"),
            "5 unreachable-attempts: the timeout of 10s has room for 2 attempts, not 3; write max_attempts 2, shorter delays \
             or a longer timeout",
        ),
    ] {
        assert_eq!(found("messages_toml", name, text.as_bytes()), [message], "{name}");
    }
    let folder = folder("messages_explained");
    let path = folder.join("table.toml");
    fs::write(&path, retried("")).unwrap();
    let path = path.display().to_string();
    let explained = |dialect: &str| {
        let output = gax(["table", "explain", &path, "C", "--dialect", dialect]);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert!(!explained("as-written").contains("others read"), "{}", explained("as-written"));
    assert!(
        explained("grpc").ends_with(
            ":1:1: [[entry]] has no initial_retry_delay; write a time above zero, such as \"0.1s\"\n"
        ),
        "{}",
        explained("grpc")
    );
    let java = ":1:1: [[entry]] has no initial_retry_delay, for which the dialect gax-java has no default; add \
                initial_retry_delay\n";
    assert!(explained("gax-java").ends_with(java), "{}", explained("gax-java"));
}
