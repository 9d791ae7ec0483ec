//! The rules for Prometheus, and their cases.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use tonic_gax_optional_data::skipped;

const PAGE: &str = include_str!("../../../docs/src/runbook.md");
const RULES: &str = include_str!("../../../docs/alerts.yaml");

#[test]
fn the_page_has_the_rules_as_they_are() {
    let (_, rest) = PAGE.split_once("```yaml\n").unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    assert_eq!(shown, RULES);
}

/// The promtool to run: `GAX_PROMTOOL`, else the one in `PATH`.
fn promtool() -> Option<OsString> {
    let program = std::env::var_os("GAX_PROMTOOL").unwrap_or_else(|| "promtool".into());
    let runs = Command::new(&program).arg("--version").output();
    if runs.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    skipped(&"no promtool to run the cases of the alerts with (set GAX_PROMTOOL to its path)");
    None
}

#[test]
fn alerts_fire_in_an_outage_and_not_for_streams_hedges_and_cancelled_calls() {
    let Some(program) = promtool() else { return };
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let run =
        Command::new(program).args(["test", "rules", "alerts_test.yaml"]).current_dir(docs).output().unwrap();
    let said = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(run.status.success() && said.contains("SUCCESS"), "{said}");
}
