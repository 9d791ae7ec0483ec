//! Compiles the asset API: messages, the stock tonic client, and a server.

use std::error::Error;

const PROTO: &str = "google/cloud/asset/v1/asset_service.proto";

fn main() -> Result<(), Box<dyn Error>> {
    let protos = concat!(env!("CARGO_MANIFEST_DIR"), "/../proto");
    println!("cargo:rerun-if-changed={protos}");
    let descriptors = protox::compile([PROTO], [protos])?;
    tonic_prost_build::configure()
        .include_file("protos.rs")
        .generate_default_stubs(true)
        .compile_fds(descriptors)?;
    Ok(())
}
