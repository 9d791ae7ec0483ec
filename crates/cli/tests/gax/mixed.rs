//! GAPIC YAML and service YAML, in every command that takes them.

use super::generate::{run, text};
use super::{folder, session, stdout};
use std::fs;
use std::path::Path;

const DATA: &str = "../../../../../codegen/tests/data/mixed";
const PROTOS: [&str; 3] = [
    "mixed/v1/library.proto",
    "google/cloud/location/locations.proto",
    "google/longrunning/operations.proto",
];

/// The flags of the small API with everything.
fn flags() -> String {
    format!("--proto-path {DATA} --proto {} --service-yaml {DATA}/library_v1.yaml", PROTOS.join(" "))
}

#[test]
fn generated_code_is_that_of_a_build_script() {
    let out = folder("mixed_generate");
    let table = format!("{DATA}/library_grpc_service_config.json");
    let printed = run(&format!("{} --table {table} --gapic-yaml {DATA}/library_gapic.yaml", flags()), &out);
    assert!(printed.ends_with("--- exit status 0\n"), "{printed}");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures").join(DATA);
    let generated = tonic_gax_build::configure()
        .retry_table(data.join("library_grpc_service_config.json"))
        .gapic_yaml(data.join("library_gapic.yaml"))
        .service_yaml(data.join("library_v1.yaml"))
        .generate(&PROTOS, &[&data])
        .unwrap();
    for file in generated.files() {
        let same_place = |text: &str| text.replace(data.to_str().unwrap(), "").replace(DATA, "");
        assert_eq!(same_place(&text(&out, file.name())), same_place(file.content()), "{}", file.name());
    }
    assert!(text(&out, "mixed.v1.rs").contains("fn reindex_operation("));
    assert!(text(&out, "mixed.v1.rs").contains("fn get_location("));
}

#[test]
fn what_is_missing_is_named() {
    let out = folder("mixed_missing");
    for (flag, what) in [("--gapic-yaml", "a GAPIC YAML"), ("--service-yaml", "a service YAML")] {
        let printed = run(&format!("--proto-path generate --proto echo.proto {flag} no.yaml"), &out);
        let expected = format!(
            "error: can't read no.yaml (No such file or directory (os error 2)); give the path of {what}\n"
        );
        assert!(printed.contains(&expected), "{printed}");
    }
}

#[test]
fn a_method_is_explained_with_its_operations_and_batches() {
    let line = |method: &str, more: &str| {
        format!(
            "table explain {DATA}/library_grpc_service_config.json {method} --gapic-yaml {DATA}/library_gapic.yaml {} {more}",
            flags()
        )
    };
    let reindex = stdout(&line("Reindex", ""));
    assert!(
        reindex.contains("\nIts operations are polled after 60 s x 1.25 up to 6 min, for 2 h in all.\n"),
        "{reindex}"
    );
    let publish = stdout(&line("Publish", ""));
    assert!(
        publish.contains("\nIts requests are batched up to 100 elements, 1 MiB or 10 ms.\n"),
        "{publish}"
    );
    // A method of another service, by the name of its host.
    let location = stdout(&line("mixed.v1.Library/GetLocation", ""));
    assert!(location.starts_with("mixed.v1.Library/GetLocation\n"), "{location}");
    let json: serde_json::Value = serde_json::from_str(&stdout(&line("Reindex", "--format json"))).unwrap();
    assert_eq!(json["polling"]["total_timeout_ms"], 7_200_000);
    assert_eq!(json["batching"], serde_json::Value::Null);
}

#[test]
fn a_change_of_polling_or_batching_is_a_difference() {
    let folder = folder("mixed_diff");
    let gapic = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../codegen/tests/data/mixed/library_gapic.yaml"),
    )
    .unwrap();
    let edited = gapic
        .replace("7200000", "3600000")
        .replace("element_count_threshold: 100", "element_count_threshold: 7");
    let new = folder.join("new_gapic.yaml");
    fs::write(&new, edited).unwrap();
    let old = format!("{DATA}/library_gapic.yaml");
    let table = format!("{DATA}/library_grpc_service_config.json");
    let polling = "  polling: after 60 s x 1.25 up to 6 min, for 2 h in all -> after 60 s x 1.25 up to 6 min, for 1 h in \
                   all\n  faster: operations are polled for a shorter time\n\n";
    let batching = "  batching: up to 100 elements, 1 MiB or 10 ms -> up to 7 elements, 1 MiB or 10 ms\n  \
                    more-aggressive: batches are sent sooner or are smaller\n\n";
    for line in [
        format!("table diff {table} {table} --gapic-yaml {old} {}", new.display()),
        format!("table diff {old} {}", new.display()),
    ] {
        let printed = stdout(&line);
        assert!(printed.contains(polling) && printed.contains(batching), "{printed}");
        assert!(printed.contains("2 changed (1 more-aggressive, 1 faster)"), "{printed}");
        for (kind, status) in [("any", 1), ("faster", 1), ("more-aggressive", 1), ("slower,removed", 0)] {
            let denied = session(&format!("{line} --deny {kind}"));
            assert!(denied.ends_with(&format!("--- exit status {status}\n")), "{kind}");
        }
        let json: serde_json::Value =
            serde_json::from_str(&stdout(&format!("{line} --format json"))).unwrap();
        let changes: Vec<_> =
            json["methods"].as_array().unwrap().iter().map(|method| &method["changes"][0]["what"]).collect();
        assert!(changes.contains(&&"polling".into()) && changes.contains(&&"batching".into()), "{json}");
    }
    let same = stdout(&format!("table diff {table} {table} --gapic-yaml {old}"));
    assert!(same.contains("0 changed"), "{same}");
}

#[test]
fn without_protos_what_gapic_yaml_says_is_shown() {
    let shown = stdout(&format!("table show {DATA}/library_gapic.yaml"));
    assert!(shown.contains("mixed.v1.Library/Publish\n"), "{shown}");
    assert!(shown.contains("  its requests are batched up to 100 elements, 1 MiB or 10 ms\n"), "{shown}");
}
