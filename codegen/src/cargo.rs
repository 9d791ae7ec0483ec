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

/// Shows a warning if the manifest of the package that is built doesn't name the crate that generated clients run on.
pub(crate) fn warn_of_missing_runtime() {
    let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR") else { return };
    let Ok(manifest) = std::fs::read_to_string(PathBuf::from(folder).join("Cargo.toml")) else { return };
    if !names(&manifest, RUNTIME) {
        let problem =
            format!("the generated clients need the crate {RUNTIME}: add it to [dependencies] of Cargo.toml");
        print([format!("warning={problem}, beside tonic-gax, tonic and prost")].into_iter());
    }
}

const RUNTIME: &str = "gax-client";

/// Returns whether a manifest names a crate, as a dependency or as the package behind another name.
fn names(manifest: &str, name: &str) -> bool {
    let goes_on = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    let code = manifest.lines().map(|line| line.split('#').next().unwrap_or_default());
    code.flat_map(|line| line.match_indices(name).map(move |(start, _)| line.split_at(start))).any(
        |(before, after)| {
            !before.ends_with(goes_on)
                && !after.strip_prefix(name).is_some_and(|rest| rest.starts_with(goes_on))
        },
    )
}

fn print(mut lines: impl Iterator<Item = String>) {
    let mut stdout = stdout().lock();
    // If cargo has closed its end, there is no reason to fail.
    lines.try_for_each(|line| writeln!(stdout, "cargo::{line}")).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_named_by_itself_alone() {
        for (manifest, expected) in [
            ("[dependencies]\ngax-client = \"0.1\"\n", true),
            ("[dependencies.gax-client]\nversion = \"0.1\"\n", true),
            ("gax = { package = \"gax-client\", version = \"0.1\" }", true),
            ("gax-client.workspace = true", true),
            ("gax-clients = \"1\"\nmy-gax-client = \"1\"\n# gax-client = \"0.1\"", false),
        ] {
            assert_eq!(names(manifest, RUNTIME), expected, "{manifest}");
        }
    }
}
