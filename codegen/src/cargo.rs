//! The lines that a build script prints for cargo.

use gax_table::{Finding, Severity};
use std::io::{Write, stdout};
use std::path::PathBuf;

/// Runs the script again when one of these files changes.
pub(crate) fn rerun_if_changed(paths: &[PathBuf]) {
    print(paths.iter().map(|path| format!("rerun-if-changed={}", path.display())));
}

/// Shows findings to the person who builds, mere notes left out.
pub(crate) fn warn(findings: &[Finding]) {
    let warnings = findings.iter().filter(|finding| finding.severity() >= Severity::Warning);
    print(warnings.map(|finding| format!("warning={finding}")));
}

fn print(mut lines: impl Iterator<Item = String>) {
    let mut stdout = stdout().lock();
    // If cargo has closed its end, there is no reason to fail.
    lines.try_for_each(|line| writeln!(stdout, "cargo::{line}")).unwrap_or_default();
}
