//! Generates settings and clients of whole public APIs, from the protos in this repository and, where they
//! are there, from Google's own.

use std::error::Error;
use std::path::{Path, PathBuf};
use tonic_gax_build::{Builder, Dialect};

const ASSET: &str = "google/cloud/asset/v1/asset_service.proto";
const REDIS: &str = "google/cloud/redis/v1/cloud_redis.proto";
const LOCATIONS: &str = "google/cloud/location/locations.proto";
const OPERATIONS: &str = "google/longrunning/operations.proto";
const POLICIES: &str = "google/iam/v1/iam_policy.proto";
const PUBLISHED: &str = "::googleapis_tonic_google_cloud_asset_v1::google";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-check-cfg=cfg(google_protos)");
    println!("cargo::rerun-if-env-changed=TONIC_GAX_SHARED");
    println!("cargo::rerun-if-changed=build.rs");
    let package = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let root = package.join("../..");
    // In the repository these are links, which not every system can follow; in a package they are folders.
    let linked = |link: &str, place: &str| {
        let link = package.join(link);
        if link.is_dir() { link } else { root.join(place) }
    };
    let proto = linked("proto", "proto");
    let own_table = proto.join("google/cloud/asset/v1/cloudasset_grpc_service_config.json");

    generator("own")?.retry_table(&own_table).compile_protos(&[ASSET], &[&proto])?;
    published("own_published")?.retry_table(&own_table).compile_protos(&[ASSET], &[&proto])?;

    let data = linked("data/codegen", "codegen/tests/data");
    // tonic's own client and server can't cope with these names.
    generator("edge")?
        .dialect(Dialect::AsWritten)
        .build_client(false)
        .build_server(false)
        .retry_table(data.join("edge.json"))
        .compile_protos(&["edge.proto"], &[&data])?;

    let odd = package.join("data/odd");
    let mut names = std::fs::read_dir(&odd)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    names.sort();
    generate("odd", generator("odd")?.build_rest(true), &names, &[&odd, &proto])?;

    let data = data.join("mixed");
    generator("mixed")?
        .retry_table(data.join("library_grpc_service_config.json"))
        .gapic_yaml(data.join("library_gapic.yaml"))
        .build_batching(true)
        .service_yaml(data.join("library_v1.yaml"))
        .compile_protos(&["mixed/v1/library.proto", LOCATIONS, OPERATIONS, POLICIES], &[&data])?;

    let shared = std::env::var_os("TONIC_GAX_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let protos = shared.join("protos");
    if !protos.is_dir() {
        return Ok(());
    }
    println!("cargo::rustc-cfg=google_protos");
    let inputs = shared.join("retry-tables/inputs");
    let inputs = |api: &str, file: &str| inputs.join(api).join(file);
    let asset = |generator: Builder| {
        generator
            .retry_table(inputs("google.cloud.asset.v1", "cloudasset_grpc_service_config.json"))
            .service_yaml(inputs("google.cloud.asset.v1", "cloudasset_v1.yaml"))
    };
    let redis = generator("redis")?
        .retry_table(inputs("google.cloud.redis.v1", "redis_grpc_service_config.json"))
        .gapic_yaml(inputs("google.cloud.redis.v1", "redis_gapic.yaml"))
        .service_yaml(inputs("google.cloud.redis.v1", "redis_v1.yaml"));
    generate("asset", asset(generator("asset")?).build_rest(true), &[ASSET], &[&protos])?;
    generate("redis", redis, &[REDIS, LOCATIONS], &[&protos])?;
    generate("published", asset(published("published")?), &[ASSET], &[&protos])?;
    Ok(())
}

/// Writes what the generator makes, and leaves out the warnings: the asset API's table has three names that
/// are not in its proto, and odd protos have RPCs that something is left out of, whoever builds this.
fn generate(
    name: &str,
    generator: Builder,
    protos: &[impl AsRef<Path>],
    includes: &[&PathBuf],
) -> Result<(), Box<dyn Error>> {
    let generated = generator.generate(protos, includes)?;
    for input in generated.inputs() {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    Ok(generated.write_to(directory(name)?)?)
}

/// A generator of everything, which writes into a directory of that name.
fn generator(name: &str) -> Result<Builder, Box<dyn Error>> {
    Ok(tonic_gax_build::configure()
        .dialect(Dialect::GaxJava)
        .generate_default_stubs(true)
        .out_dir(directory(name)?)
        .include_file("mod.rs"))
}

/// A generator of settings and clients over the messages of a published crate.
fn published(name: &str) -> Result<Builder, Box<dyn Error>> {
    Ok(generator(name)?.extern_path(".google", PUBLISHED))
}

fn directory(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let directory = PathBuf::from(std::env::var("OUT_DIR")?).join(name);
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}
