//! Generates the `AssetService` that `gax demo` runs, and its retrying client.

/// Where the protos and retry tables are.
const PROTOS: &str = "../proto";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tonic_gax_build::configure()
        .retry_table(format!("{PROTOS}/google/cloud/asset/v1/cloudasset_grpc_service_config.json"))
        .include_file("services.rs")
        .generate_default_stubs(true)
        .compile_protos(&["google/cloud/asset/v1/asset_service.proto"], &[PROTOS])?;
    Ok(())
}
