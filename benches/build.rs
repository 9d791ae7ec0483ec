//! Compiles the services that are measured, and the asset API for the bench `rest`: messages, tonic's own clients, and servers.

use prost::Message as _;
use std::env;
use std::error::Error;
use std::path::PathBuf;

const ASSETS: &str = "google/cloud/asset/v1/asset_service.proto";
const BENCH: &str = "bench.proto";

fn main() -> Result<(), Box<dyn Error>> {
    // In the repository `proto` is a link, which not every system can follow; in a package it is a folder.
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let linked = package.join("proto");
    let protos = if linked.is_dir() { linked } else { package.join("../proto") };
    let protos = protos.to_str().ok_or("the path of the package is not UTF-8")?;
    let own = package.join("src");
    let own = own.to_str().ok_or("the path of the package is not UTF-8")?;
    println!("cargo:rerun-if-changed={protos}");
    println!("cargo:rerun-if-changed={own}/{BENCH}");
    let descriptors = protox::compile([ASSETS, BENCH], [protos, own])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .include_file("protos.rs")
        .generate_default_stubs(true)
        .compile_fds(descriptors)?;
    Ok(())
}
