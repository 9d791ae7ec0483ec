//! Says which compiler is used, for a header that names it.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Some(compiler) = std::env::var_os("RUSTC") else { return };
    let output = Command::new(compiler).arg("--version").output().ok();
    // `rustc 1.88.0 (6b00bc388 2025-06-23)`
    let version = output.and_then(|output| String::from_utf8(output.stdout).ok());
    if let Some(version) = version.as_deref().and_then(|text| text.split_whitespace().nth(1)) {
        println!("cargo::rustc-env=TONIC_GAX_RUSTC_VERSION={version}");
    }
}
