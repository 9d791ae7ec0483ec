//! Generates the clients that `examples/` use. No program that uses this crate compiles a generator.

#[cfg(feature = "_examples")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    tonic_gax_build::configure()
        .retry_table("proto/library/v1/library_grpc_service_config.json")
        .build_rest(true)
        .generate_default_stubs(true)
        .include_file("library.rs")
        .compile_protos(&["library/v1/library.proto", "library/v1/archive.proto"], &["proto"])?;
    Ok(())
}

#[cfg(not(feature = "_examples"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
