//! Generates the client that polls long-running operations, and the clients that `examples/` use. A program that uses this crate
//! without the feature `longrunning` compiles no generator.

#[cfg(any(feature = "longrunning", feature = "_examples"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(feature = "longrunning")]
    longrunning()?;
    #[cfg(feature = "_examples")]
    library()?;
    Ok(())
}

#[cfg(not(any(feature = "longrunning", feature = "_examples")))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
        .include_file("library.rs")
        .compile_protos(&["library/v1/library.proto", "library/v1/archive.proto"], &["proto"])?;
    Ok(())
}
