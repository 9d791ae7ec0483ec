//! Generates the messages, servers and clients that the end-to-end tests use, and those of `examples/`.

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    tonic_gax_build::configure()
        .retry_table("../proto/google/cloud/asset/v1/cloudasset_grpc_service_config.json")
        .retry_table("proto/talk_grpc_service_config.json")
        .file_descriptor_set_path(out.join("descriptors.bin"))
        .include_file("services.rs")
        .generate_default_stubs(true)
        .compile_protos(
            &["google/cloud/asset/v1/asset_service.proto", "talk.proto"],
            &["../proto", "proto"],
        )?;
    tonic_gax_build::configure()
        .retry_table("../proto/library/v1/library_grpc_service_config.json")
        .include_file("library.rs")
        .compile_protos(&["library/v1/library.proto"], &["../proto"])?;
    Ok(())
}
