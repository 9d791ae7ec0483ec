use super::{folder, gax, session_of};
use insta::assert_snapshot;
use std::fs;
use std::path::{Path, PathBuf};

/// The flags of a run over the proto of the fixtures.
pub(crate) const ECHO: &str = "--table generate/echo.toml --proto-path generate --proto echo.proto";

/// The output of a run, with `OUT` for its directory.
pub(crate) fn run(flags: &str, out: &Path) -> String {
    let line = format!("generate {flags} --out {}", out.display());
    session_of(&line, line.split_whitespace()).replace(&out.display().to_string(), "OUT")
}

pub(crate) fn names(out: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn text(out: &Path, name: &str) -> String {
    fs::read_to_string(out.join(name)).unwrap()
}

#[test]
fn code_is_what_a_build_script_writes() {
    let out = folder("generate_asset").join("new/gen");
    let protos = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    let table = protos.join("google/cloud/asset/v1/cloudasset_grpc_service_config.json");
    let proto = "google/cloud/asset/v1/asset_service.proto";
    let flags = format!(
        "--table {} --proto-path {} --proto {proto} --include-file mod.rs",
        table.display(),
        protos.display()
    );
    let printed = run(&flags, &out);
    assert!(printed.contains("wrote OUT/google.cloud.asset.v1.rs\n"), "{printed}");
    let generated = tonic_gax_build::configure()
        .retry_table(&table)
        .include_file("mod.rs")
        .generate(&[proto], &[&protos])
        .unwrap();
    assert_eq!(
        names(&out),
        [
            ".gax-generated",
            "google.api.rs",
            "google.cloud.asset.v1.rs",
            "google.longrunning.rs",
            "google.rpc.rs",
            "mod.rs"
        ]
    );
    for file in generated.files() {
        assert_eq!(text(&out, file.name()), file.content());
    }
}

/// The API whose client over REST the tests of `tests/` compile and call.
#[test]
fn clients_over_rest_are_what_a_build_script_writes() {
    let out = folder("generate_rest");
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/proto");
    let table = tests.join("rest/rest_grpc_service_config.json");
    let yaml = tests.join("rest/everything_v1.yaml");
    let protos = ["rest/messaging.proto", "rest/everything.proto", "google/longrunning/operations.proto"];
    let flags = format!(
        "--rest --table {} --service-yaml {} --proto-path {} --proto {} --include-file mod.rs \
         --extern-path .google.longrunning=::gax_client::longrunning \
         --extern-path .google.rpc=::gax_client::longrunning::rpc",
        table.display(),
        yaml.display(),
        tests.display(),
        protos.join(" ")
    );
    let printed = run(&flags, &out);
    assert!(printed.contains("wrote OUT/rest.everything.v1-rest.rs\n"), "{printed}");
    let generated = tonic_gax_build::configure()
        .retry_table(&table)
        .service_yaml(&yaml)
        .extern_path(".google.longrunning", "::gax_client::longrunning")
        .extern_path(".google.rpc", "::gax_client::longrunning::rpc")
        .build_rest(true)
        .include_file("mod.rs")
        .generate(&protos, &[&tests])
        .unwrap();
    assert_eq!(names(&out).len(), generated.files().len() + 1);
    for file in generated.files() {
        assert_eq!(text(&out, file.name()), file.content());
    }
    assert!(text(&out, "rest.everything.v1.rs").contains("S: ::gax_rest::RestHttpService,"));
}

/// The API whose batchers the tests of `tests/` compile and call.
#[test]
fn batchers_are_what_a_build_script_writes() {
    let out = folder("generate_batching");
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/proto");
    let google = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    let (table, yaml) = (tests.join("instances.toml"), tests.join("instances_gapic.yaml"));
    let proto = "instances.proto";
    let flags = format!(
        "--table {} --gapic-yaml {} --batching --proto-path {} --proto-path {} --proto {proto}",
        table.display(),
        yaml.display(),
        tests.display(),
        google.display()
    );
    run(&flags, &out);
    let generated = tonic_gax_build::configure()
        .retry_table(&table)
        .gapic_yaml(&yaml)
        .build_batching(true)
        .generate(&[proto], &[&tests, &google])
        .unwrap();
    for file in generated.files() {
        assert_eq!(text(&out, file.name()), file.content());
    }
    assert!(text(&out, "test.instances.v1.rs").contains("::gax_batching::Batching<"));
}

#[test]
fn a_second_run_touches_nothing() {
    let out = folder("generate_twice");
    let flags = format!("{ECHO} --include-file mod.rs");
    let first = run(&flags, &out);
    let wrote = "wrote OUT/.gax-generated\nwrote OUT/mod.rs\nwrote OUT/test.echo.rs\n--- exit status 0\n";
    assert!(first.ends_with(wrote), "{first}");
    let written = fs::metadata(out.join("mod.rs")).unwrap().modified().unwrap();
    let second = run(&flags, &out);
    assert!(second.ends_with("\n3 files in OUT were up to date\n--- exit status 0\n"), "{second}");
    assert_eq!(fs::metadata(out.join("mod.rs")).unwrap().modified().unwrap(), written);
}

/// A directory with a changed file, one that is missing, one that is left over, and the user's own.
fn stale(name: &str) -> PathBuf {
    let out = folder(name);
    run(&format!("{ECHO} --include-file mod.rs"), &out);
    fs::write(out.join("mod.rs"), text(&out, "mod.rs").replace("pub mod echo", "mod echo")).unwrap();
    fs::write(out.join("test.older.rs"), "// This file is @generated by prost-build.\npub struct Old;\n")
        .unwrap();
    fs::write(out.join(".gax-generated"), text(&out, ".gax-generated") + "test.older.rs\n").unwrap();
    fs::write(out.join("own.rs"), "pub struct Own;\n").unwrap();
    fs::remove_file(out.join("test.echo.rs")).unwrap();
    out
}

#[test]
fn a_check_prints_the_difference_and_writes_nothing() {
    let out = stale("generate_stale");
    let checked = run(&format!("{ECHO} --include-file mod.rs --check"), &out);
    let (before, after) = checked.split_once("--- /dev/null\n+++ OUT/test.echo.rs\n").unwrap();
    let (added, after) = after.split_once("--- OUT/test.older.rs\n").unwrap();
    assert!(added.starts_with("@@ -0,0 +1,"), "{added}");
    assert!(added.lines().skip(1).all(|line| line.starts_with('+')), "{added}");
    assert_snapshot!(format!("{before}[..]\n--- OUT/test.older.rs\n{after}"));
    assert_eq!(names(&out), [".gax-generated", "mod.rs", "own.rs", "test.older.rs"]);
    assert!(text(&out, "mod.rs").contains("    mod echo"));
}

#[test]
fn a_check_is_content_with_what_a_run_leaves() {
    let out = stale("generate_restored");
    let flags = format!("{ECHO} --include-file mod.rs");
    let printed = run(&flags, &out);
    assert!(
        printed.ends_with(
            "wrote OUT/.gax-generated\nwrote OUT/mod.rs\nwrote OUT/test.echo.rs\nremoved OUT/test.older.rs\n\
             --- exit status 0\n"
        ),
        "{printed}"
    );
    assert_eq!(names(&out), [".gax-generated", "mod.rs", "own.rs", "test.echo.rs"]);
    let checked = run(&format!("{flags} --check"), &out);
    assert!(checked.ends_with("\n3 files in OUT were up to date\n--- exit status 0\n"), "{checked}");
}

#[test]
fn a_check_of_nothing_finds_everything_missing() {
    let out = folder("generate_nothing").join("gen");
    let checked = run(&format!("{ECHO} --check"), &out);
    let error = "error: the code in OUT is not up to date (2 missing); run gax generate without --check\n\
                 --- exit status 1\n";
    assert!(checked.ends_with(error), "{checked}");
    assert!(!out.exists());
}

#[test]
fn programs_get_json() {
    let out = stale("generate_json");
    let line = |flags: &str| {
        let printed = run(&format!("{ECHO} {flags} --include-file mod.rs --format json"), &out);
        let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        let value: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
        (value, lines[2].clone())
    };
    let (checked, status) = line("--check");
    assert_eq!(status, "--- exit status 1");
    assert_eq!(checked["up_to_date"], false);
    let seen: Vec<_> =
        checked["files"].as_array().unwrap().iter().map(|file| (&file["name"], &file["state"])).collect();
    assert_eq!(
        serde_json::to_string(&seen).unwrap(),
        r#"[[".gax-generated","changed"],["mod.rs","changed"],["test.echo.rs","missing"],["test.older.rs","left-over"]]"#
    );
    let diff = checked["files"][3]["diff"].as_str().unwrap();
    assert!(diff.starts_with("--- OUT/test.older.rs\n+++ /dev/null\n"), "{diff}");
    let (written, status) = line("");
    assert_eq!(status, "--- exit status 0");
    assert_eq!(written["files"][0]["diff"], serde_json::Value::Null);
    let (again, _) = line("--check");
    assert_eq!(again["up_to_date"], true);
    assert_eq!(again["files"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_left_out_is_not_there() {
    let out = folder("generate_less");
    run(ECHO, &out);
    let all = text(&out, "test.echo.rs");
    for part in ["pub mod echo_client ", "pub mod echo_server ", "pub mod echo_gax ", "fn connect<"] {
        assert!(all.contains(part), "{part}");
    }
    run(&format!("{ECHO} --no-client --no-server --no-transport"), &out);
    let less = text(&out, "test.echo.rs");
    for part in ["pub mod echo_client ", "pub mod echo_server ", "fn connect<"] {
        assert!(!less.contains(part), "{part}");
    }
    assert!(less.contains("pub mod echo_gax "), "{less}");
    run(&format!("{ECHO} --extern-path .test=::other::test"), &out);
    let settings = text(&out, "test.echo.rs");
    assert!(settings.contains("::other::test::echo::Word"), "{settings}");
    assert!(!settings.contains("pub struct Word"), "{settings}");
}

#[test]
fn the_dialect_decides_what_a_table_means() {
    let out = folder("generate_dialect");
    let flags = "--table generate/dialect.json --proto-path generate --proto echo.proto";
    run(flags, &out);
    let as_written = text(&out, "test.echo.rs");
    run(&format!("{flags} --dialect gax-java"), &out);
    let gax_java = text(&out, "test.echo.rs");
    // Google's generator writes multipliers with one decimal.
    assert!(as_written.contains("1.25") && !gax_java.contains("1.25"), "{gax_java}");
}

#[test]
fn tables_are_remarked_on_with_their_place() {
    let out = folder("generate_unknown");
    let flags = "--table generate/unknown.json --proto-path generate --proto echo.proto";
    assert_snapshot!("unknown_methods", run(flags, &out));
    let denied = folder("generate_denied");
    assert_snapshot!("unknown_methods_denied", run(&format!("{flags} --deny-unknown-methods"), &denied));
    assert_eq!(names(&denied), [""; 0]);
}

#[test]
fn what_can_t_be_generated_is_refused_with_its_place() {
    let out = folder("generate_misuse");
    let sessions = [
        "--proto-path generate",
        "--proto echo.proto",
        "--proto-path generate --proto broken.proto",
        "--proto-path generate --proto echo.proto --table generate/wrong.json",
        "--proto-path generate --proto echo.proto --table generate/none.json",
        "--proto-path generate --proto echo.proto --extern-path .test",
        "--proto-path generate --proto echo.proto --extern-path test=::other",
        "--proto-path generate --proto echo.proto --extern-path .test=",
        "--proto-path generate --proto echo.proto --extern-path .test=1",
        "--proto-path generate --proto echo.proto --include-file ../mod.rs",
        "--proto-path generate --proto echo.proto --include-file test.echo.rs",
        "--proto-path generate --proto echo.proto --dialect python",
    ]
    .map(|flags| run(flags, &out));
    assert_snapshot!(sessions.join("\n"));
    assert_eq!(names(&out), [""; 0]);
    let no_out = gax(["generate", "--proto", "echo.proto"]).stderr;
    assert_eq!(String::from_utf8(no_out).unwrap(), "error: --out <DIR> must be given; see --help\n");
}

#[test]
fn a_file_in_the_way_is_reported() {
    let file = folder("generate_in_the_way").join("file");
    fs::write(&file, "").unwrap();
    let refused = run(ECHO, &file);
    assert!(refused.contains("error: --out: can't read OUT"), "{refused}");
    assert!(refused.ends_with("; name another directory\n--- exit status 2\n"), "{refused}");
}
