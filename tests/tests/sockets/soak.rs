//! Two seconds of the soak. For more, `cargo run --release -p tonic-gax-tests --bin soak -- --seconds 600`.

use std::process::Command;

#[test]
fn nothing_is_lost_leaked_or_miscounted_in_two_seconds() {
    let words = ["--seconds", "2", "--callers", "8"];
    let output = Command::new(env!("CARGO_BIN_EXE_soak")).args(words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap_or_default();
    assert_eq!(last, "result: sound; nothing lost, nothing leaked, all counts agree", "{text}");
    assert_eq!(output.status.code(), Some(0));
    assert!(text.lines().count() >= 4, "{text}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for words in [&["--seconds"][..], &["--seconds", "0"], &["--minutes", "1"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_soak")).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}
