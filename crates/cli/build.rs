//! Generates the `AssetService` that `gax demo` runs, and its retrying client.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In the repository this is a link, which not every system can follow; the published package has the files.
    let protos = if Path::new("proto").is_dir() { "proto" } else { "../../proto" };
    tonic_gax_build::configure()
        .retry_table(format!("{protos}/google/cloud/asset/v1/cloudasset_grpc_service_config.json"))
        .include_file("services.rs")
        .generate_default_stubs(true)
        .compile_protos(&["google/cloud/asset/v1/asset_service.proto"], &[protos])?;
    Ok(())
}
