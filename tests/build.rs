//! Generates the messages, servers and clients that the end-to-end tests use, and those of `examples/`.

#[path = "build/guide.rs"]
mod guide;

use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In the repository these are links, which not every system can follow; in a package they are folders.
    let shared = if Path::new("proto/google").is_dir() { "proto" } else { "../proto" };
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    guide::write(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src"), &out)?;
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
        .build_batching(true)
        .file_descriptor_set_path(out.join("descriptors.bin"))
        .out_dir(&services)
        .include_file("mod.rs")
        .generate_default_stubs(true)
        .compile_protos(
            &["google/cloud/asset/v1/asset_service.proto", "talk.proto", "shelves.proto", "instances.proto"],
            &[shared, "proto"],
        )?;
    tonic_gax_build::configure()
        .retry_table("proto/shapes/shapes_grpc_service_config.json")
        .service_yaml("proto/shapes/storage_v2.yaml")
        .file_descriptor_set_path(out.join("shapes.bin"))
        .include_file("shapes.rs")
        .generate_default_stubs(true)
        .compile_protos(
            &["shapes/asset.proto", "shapes/logging.proto", "shapes/routing.proto", "shapes/storage.proto"],
            &[shared, "proto"],
        )?;
    let rest = out.join("rest");
    std::fs::create_dir_all(&rest)?;
    tonic_gax_build::configure()
        .retry_table("proto/rest/rest_grpc_service_config.json")
        .service_yaml("proto/rest/everything_v1.yaml")
        .extern_path(".google.longrunning", "::gax_client::longrunning")
        .extern_path(".google.rpc", "::gax_client::longrunning::rpc")
        .build_rest(true)
        .file_descriptor_set_path(out.join("rest.bin"))
        .out_dir(&rest)
        .include_file("mod.rs")
        .generate_default_stubs(true)
        .compile_protos(
            &["rest/messaging.proto", "rest/everything.proto", "google/longrunning/operations.proto"],
            &[shared, "proto"],
        )?;
    tonic_gax_build::configure()
        .retry_table(format!("{shared}/library/v1/library_grpc_service_config.json"))
        .build_rest(true)
        .include_file("library.rs")
        .generate_default_stubs(true)
        .compile_protos(&["library/v1/library.proto", "library/v1/archive.proto"], &[shared])?;
    Ok(())
}
