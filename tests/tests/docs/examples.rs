//! The programs of `examples/`, each run as it stands. `memorystore`, `storage_requests` and `transfer` have tests of their own,
//! and `published_client` is a program of `tests/apis`.
#![allow(clippy::duplicate_mod, reason = "each is a program of its own, and has its server with it")]
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fmt::Debug;
use std::fs;
use std::path::Path;

#[path = "../../../examples/balanced.rs"]
mod balanced;
#[path = "../../../examples/batching.rs"]
mod batching;
#[path = "../../../examples/budgets.rs"]
mod budgets;
#[path = "../../../examples/credentials.rs"]
mod credentials;
#[path = "../../../examples/delivery.rs"]
mod delivery;
#[path = "../../../examples/feed.rs"]
mod feed;
#[path = "../../../examples/fresh_token.rs"]
mod fresh_token;
#[path = "../../../examples/generator.rs"]
mod generator;
#[path = "../../../examples/layer.rs"]
mod layer;
#[path = "../../../examples/long_running.rs"]
mod long_running;
#[path = "../../../examples/metrics_prometheus.rs"]
mod metrics_prometheus;
#[path = "../../../examples/metrics_terminal.rs"]
mod metrics_terminal;
#[path = "../../../examples/overrides.rs"]
mod overrides;
#[path = "../../../examples/paging.rs"]
mod paging;
#[path = "../../../examples/rest.rs"]
mod rest;
#[path = "../../../examples/rest_rules.rs"]
mod rest_rules;
#[path = "../../../examples/server_delays.rs"]
mod server_delays;
#[path = "../../../examples/server_tasks.rs"]
mod server_tasks;
#[path = "../../../examples/settings_from_file.rs"]
mod settings_from_file;
#[path = "../../../examples/streaming.rs"]
mod streaming;
#[path = "../../../examples/testing.rs"]
mod testing;
#[path = "../../../examples/tls.rs"]
mod tls;
#[path = "../../../examples/transparent_retries.rs"]
mod transparent_retries;

/// Runs a program where `cargo run --example` runs it.
fn run<E: Debug>(program: fn() -> Result<(), E>) {
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    program().unwrap();
}

macro_rules! programs {
    ($($name:ident),*) => {
        const RUN_HERE: &[&str] = &[$(stringify!($name)),*];

        mod programs {
            $(
                #[test]
                fn $name() {
                    super::run(super::$name::main);
                }
            )*
        }
    };
}

programs!(
    balanced,
    batching,
    budgets,
    credentials,
    delivery,
    feed,
    fresh_token,
    generator,
    layer,
    long_running,
    metrics_prometheus,
    metrics_terminal,
    overrides,
    paging,
    rest,
    rest_rules,
    server_delays,
    server_tasks,
    streaming,
    settings_from_file,
    testing,
    tls,
    transparent_retries
);

/// A report ends without a line break, as every text of ours does.
#[test]
fn programs_end_each_line_that_they_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["examples", "tests/apis/examples"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap_or_default();
            assert!(!text.contains(" print!("), "{} glues a text to the next one", path.display());
        }
    }
}

#[test]
fn every_program_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let elsewhere = ["memorystore", "storage_requests", "transfer"].contains(&name);
        assert!(elsewhere || RUN_HERE.contains(&name), "no test runs examples/{name}.rs");
    }
}

/// The page of the guide shows the table that the example reads.
#[test]
fn the_guide_shows_the_rules_of_the_example() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let read = |file: &str| fs::read_to_string(format!("{root}/{file}")).unwrap();
    let rules = read("examples/rest_rules.toml");
    assert!(read("docs/src/reference/http-rules.md").contains(&format!("```toml\n{rules}```\n")));
}

/// Uploads over HTTP/2 wait for delayed acknowledgements without it, for seconds where there are many.
#[test]
fn clients_over_sockets_that_the_guide_shows_set_nodelay() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for file in ["docs/src/http.md", "examples/storage_requests.rs", "examples/transfer.rs"] {
        let text = fs::read_to_string(format!("{root}/{file}")).unwrap();
        assert!(text.contains("set_nodelay(true)"), "{file}");
        assert!(!text.contains("build_http();"), "{file}");
    }
}
