//! Says which compiler is used, for a header that names it, and generates the clients that `examples/` use. No program that uses
//! this crate compiles a generator.

use std::process::Command;

#[cfg(feature = "_examples")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    compiler_version();
    library()
}

#[cfg(not(feature = "_examples"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    compiler_version();
}

/// The version of the compiler, if it says one: `rustc 1.88.0 (6b00bc388 2025-06-23)`.
fn compiler_version() {
    let Some(compiler) = std::env::var_os("RUSTC") else { return };
    let output = Command::new(compiler).arg("--version").output().ok();
    let version = output.and_then(|output| String::from_utf8(output.stdout).ok());
    if let Some(version) = version.as_deref().and_then(|text| text.split_whitespace().nth(1)) {
        println!("cargo::rustc-env=TONIC_GAX_RUSTC_VERSION={version}");
    }
}

#[cfg(feature = "_examples")]
fn library() -> Result<(), Box<dyn std::error::Error>> {
    tonic_gax_build::configure()
        .retry_table("proto/library/v1/library_grpc_service_config.json")
        .build_rest(true)
        .include_file("library.rs")
        .compile_protos(&["library/v1/library.proto", "library/v1/archive.proto"], &["proto"])?;
    Ok(())
}
