use super::{gax, session, session_of};
use insta::assert_snapshot;

#[test]
fn values_that_make_no_sense() {
    let values = [
        "--total-timeout -5s",
        "--total-timeout 5",
        "--total-timeout 5parsecs",
        "--total-timeout 0",
        "--total-timeout NaN",
        "--total-timeout 600y",
        "--total-timeout 99999999999d",
        "--total-timeout 0.1ns",
        "--logical-timeout 0s",
        "--initial-rpc-timeout 0ms",
        "--max-rpc-timeout 0",
        "--initial-retry-delay=-1ms",
        "--max-retry-delay soon",
        "--max-attempts 0",
        "--max-attempts -1",
        "--max-attempts 1.5",
        "--max-attempts 4294967296",
        "--retry-delay-multiplier 0.5",
        "--retry-delay-multiplier NaN",
        "--rpc-timeout-multiplier inf",
        "--rpc-timeout-multiplier -2",
        "--rpc-timeout-multiplier two",
        "--retryable-codes UNAVAILABLE,GONE",
        "--retryable-codes 17",
        "--retryable-codes OK",
        "--outcome 300:UNAVAILABLE",
        "--outcome 300ms",
        "--outcome 300ms:GONE",
        "--outcome -1ms:OK",
        "--compat python",
        "--format xml",
        "--jitter --seed -1",
        "--jitter --seed 7.5",
        "--jitter --samples 0",
        "--jitter --samples 1000001",
        "--jitter=yes",
    ];
    assert_snapshot!(refused(&values));
}

#[test]
fn values_that_contradict_each_other() {
    let flags = [
        "--max-retry-delay 100ms --initial-retry-delay 200ms",
        "--max-rpc-timeout 1s --initial-rpc-timeout 1500ms",
        "--max-retry-delay 1ms --initial-retry-delay 2ms --max-rpc-timeout 1s --initial-rpc-timeout 2s",
        "--logical-timeout 5s --total-timeout 6s",
        "--total-timeout 5s --total-timeout 6s",
        "--seed 7",
        "--samples 100",
        "--jitter --samples 100 --svg x.svg",
        "--hedging-max-attempts 3 --max-attempts 2",
        "--hedging-max-attempts 3 --retryable-codes UNAVAILABLE",
        "--hedging-max-attempts 3 --initial-retry-delay 1s",
        "--hedging-max-attempts 3 --max-retry-delay 1s --retry-delay-multiplier 2",
    ];
    assert_snapshot!(refused(&flags));
}

#[test]
fn flags_that_are_none() {
    let flags = [
        "--totl-timeout 5s",
        "--total_timeout 5s",
        "--xyz",
        "-x",
        "5s",
        "--total-timeout",
        "--svg",
        "--outcome",
    ];
    assert_snapshot!(refused(&flags));
}

#[test]
fn a_picture_that_can_t_be_written() {
    let refusal = session("plan --svg no/such/folder/x.svg");
    assert!(
        refusal.contains("error: --svg no/such/folder/x.svg: can't be written (No such file"),
        "{refusal}"
    );
    assert!(refusal.ends_with("name another file\n--- exit status 2\n"), "{refusal}");
}

#[test]
fn text_that_is_not_unicode_is_refused() {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_gax"))
            .args(["plan", "--total-timeout"])
            .arg(std::ffi::OsStr::from_bytes(b"5\xffs"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
    }
}

#[test]
fn empty_values_are_refused_too() {
    for flag in ["--total-timeout", "--max-attempts", "--outcome", "--seed", "--rpc-timeout-multiplier"] {
        let refusal = session_of(flag, ["plan", "--jitter", flag, ""]);
        assert!(refusal.contains(&format!("error: {flag} \"\" is ")), "{refusal}");
    }
}

/// The errors of these flags; every one is one line, on standard error, with status 2.
fn refused(flags: &[&str]) -> String {
    let mut text = String::new();
    for flags in flags {
        let output = gax(["plan"].into_iter().chain(flags.split_whitespace()));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags}: {error}");
        assert!(output.stdout.is_empty(), "{flags}");
        assert_eq!(error.lines().count(), 1, "{flags}: {error}");
        text += flags;
        text += "\n    ";
        text += &error;
    }
    text
}
