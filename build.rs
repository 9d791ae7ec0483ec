//! Says which compiler is used, for a header that names it. Generates the client that polls long-running operations, and the clients
//! that `examples/` use. A program that uses this crate without the feature `longrunning` compiles no generator.

use std::process::Command;

#[cfg(any(feature = "longrunning", feature = "_examples"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    compiler_version();
    #[cfg(feature = "longrunning")]
    longrunning()?;
    #[cfg(feature = "_examples")]
    library()?;
    Ok(())
}

#[cfg(not(any(feature = "longrunning", feature = "_examples")))]
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

/// `google.longrunning`, in a folder of its own: the examples have servers of it.
#[cfg(feature = "longrunning")]
fn longrunning() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::path::PathBuf::from(std::env::var("OUT_DIR")?).join("longrunning");
    std::fs::create_dir_all(&folder)?;
    tonic_gax_build::configure()
        .dialect(tonic_gax_build::Dialect::AsWritten)
        .retry_table("proto/google/longrunning/operations.toml")
        .build_client(false)
        .build_server(false)
        .runtime_path("crate")
        .out_dir(folder)
        .include_file("mod.rs")
        .compile_protos(&["google/longrunning/operations.proto"], &["proto"])?;
    Ok(())
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
