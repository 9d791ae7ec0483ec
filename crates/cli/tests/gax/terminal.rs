//! The command as people at a terminal use it.

use super::{folder, gax, session, stdout};
use std::process::Command;

const LIBRARY: &str = "library_grpc_service_config.json";

/// The output in a terminal of that width, as far as a test can have one.
fn stdout_in(columns: &str, line: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(line.split_whitespace())
        .current_dir(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures"))
        .env("COLUMNS", columns)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn nothing_at_all_prints_the_help() {
    let bare = gax([]);
    assert!(bare.status.success());
    assert!(bare.stderr.is_empty());
    let help = String::from_utf8(bare.stdout).unwrap();
    assert!(help.contains("Usage: gax <COMMAND>") && help.contains("  table "), "{help}");
    let of_tables = session("table");
    assert!(of_tables.contains("Usage: gax table <COMMAND>") && of_tables.contains("  lint "), "{of_tables}");
    assert!(of_tables.ends_with("--- exit status 0\n"), "{of_tables}");
}

/// On Windows it is `gax.exe`.
#[cfg(unix)]
#[test]
fn nothing_at_all_prints_the_help_whatever_the_command_is_called() {
    use std::os::unix::process::CommandExt as _;
    let bare = Command::new(env!("CARGO_BIN_EXE_gax")).arg0("gax.exe").output().unwrap();
    let help = String::from_utf8(bare.stdout).unwrap();
    assert!(bare.status.success() && help.contains("Usage: gax.exe <COMMAND>"), "{help}");
}

#[test]
fn numbers_have_three_places_and_units_that_fit() {
    let plan = stdout("plan --total-timeout 55738.050272ms --initial-rpc-timeout 100s");
    assert!(
        plan.contains("      1 |      55.7 s |        0 ms |    0 ms | 55.7 s | DEADLINE_EXCEEDED"),
        "{plan}"
    );
    let exact = stdout("plan --total-timeout 1.2345s --retryable-codes DEADLINE_EXCEEDED");
    assert!(exact.contains(" | 1.23 s |") && exact.contains("the total timeout of 1.2345 s;"), "{exact}");
}

#[test]
fn tables_fit_the_terminal() {
    let line = format!("table explain {LIBRARY} ListBooks");
    let widest = |text: &str| {
        text.lines()
            .filter(|line| line.contains('|') && !line.contains("busiest"))
            .map(str::len)
            .max()
            .unwrap()
    };
    assert!(widest(&stdout(&line)) > 80);
    let narrow = stdout_in("72", &line);
    assert!(widest(&narrow) <= 72, "{narrow}");
    assert!(widest(&stdout_in("50", &format!("table show {LIBRARY}"))) <= 50);
    assert_eq!(stdout_in("wide", &line), stdout(&line), "what is no width is none");
}

#[test]
fn shells_complete_commands_and_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&format!("completions {shell}"));
        assert!(script.contains("gapic-yaml") && script.contains("conformance"), "{shell}: {script}");
    }
    let refused = session("completions tcsh");
    assert!(refused.contains("is not known; write one of bash, elvish, fish, powershell, zsh"), "{refused}");
}

#[test]
fn every_command_has_a_manual_page() {
    let page = stdout("man table lint");
    assert!(page.contains(".TH gax-table-lint 1") && page.contains("\\-\\-deny"), "{page}");
    assert!(stdout("man").contains(".TH gax 1"));
    let pages = folder("man_pages").join("share/man1");
    stdout(&format!("man --out {}", pages.display()));
    for name in ["gax.1", "gax-plan.1", "gax-table-diff.1", "gax-completions.1"] {
        assert!(pages.join(name).is_file(), "{name}");
    }
    let lines =
        ["man tabel", "man plan now", "man --out library_grpc_service_config.json/pages", "man plan --out x"];
    insta::assert_snapshot!(lines.map(session).join("\n"));
}
