//! Generates the messages, servers and clients that the end-to-end tests use, and those of `examples/`.

use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In the repository these are links, which not every system can follow; in a package they are folders.
    let shared = if Path::new("proto/google").is_dir() { "proto" } else { "../proto" };
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    // In a folder of its own: the examples' API has long-running operations, too.
    let services = out.join("services");
    std::fs::create_dir_all(&services)?;
    tonic_gax_build::configure()
        .retry_table(format!("{shared}/google/cloud/asset/v1/cloudasset_grpc_service_config.json"))
        .retry_table("proto/talk_grpc_service_config.json")
        .retry_table("proto/shelves_grpc_service_config.json")
        .bytes([".google.cloud.compute.test.v1.ListPartsResponse.parts"])
        .btree_map([".google.cloud.compute.test.v1.ListBoxesResponse.boxes"])
        .retry_table("proto/instances.toml")
        .gapic_yaml("proto/instances_gapic.yaml")
        .file_descriptor_set_path(out.join("descriptors.bin"))
        .out_dir(&services)
        .include_file("mod.rs")
        .generate_default_stubs(true)
        .compile_protos(
            &["google/cloud/asset/v1/asset_service.proto", "talk.proto", "shelves.proto", "instances.proto"],
            &[shared, "proto"],
        )?;
    tonic_gax_build::configure()
        .retry_table(format!("{shared}/library/v1/library_grpc_service_config.json"))
        .include_file("library.rs")
        .compile_protos(&["library/v1/library.proto", "library/v1/archive.proto"], &[shared])?;
    Ok(())
}
