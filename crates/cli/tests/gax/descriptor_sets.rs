//! Compiled protos in place of protos, and protos that say `edition`.

use super::{folder, gax, session};
use std::fs;
use std::path::{Path, PathBuf};

const EDITIONS: &str = "the file uses editions, which prost 0.14 does not have; write syntax = \"proto3\" in place of the \
                        edition, with optional for fields whose presence counts, or take the file as it was before editions";

fn protos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto")
}

/// A field of protobuf's wire format that has a length.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
}

#[test]
fn a_descriptor_set_gives_the_code_and_the_findings_of_its_protos() {
    let folder = folder("descriptor_set");
    let proto = "google/cloud/asset/v1/asset_service.proto";
    let compiled = tonic_gax_build::configure().generate(&[proto], &[protos()]).unwrap();
    let set = folder.join("asset.binpb").display().to_string();
    fs::write(&set, compiled.descriptor_set()).unwrap();
    let table =
        protos().join("google/cloud/asset/v1/cloudasset_grpc_service_config.json").display().to_string();
    let root = protos().display().to_string();

    let generated = |protos: &[&str], out: &str| {
        let out = folder.join(out);
        let path = out.display().to_string();
        let output =
            gax(["generate", "--table", &table, "--out", &path].into_iter().chain(protos.iter().copied()));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(out.join("google.cloud.asset.v1.rs")).unwrap()
    };
    let from_set = generated(&["--descriptor-set", &set], "from_set");
    assert_eq!(from_set, generated(&["--proto-path", &root, "--proto", proto], "from_protos"));

    for command in ["lint", "show"] {
        let run = |protos: &[&str]| {
            let output =
                gax(["table", command].into_iter().chain(protos.iter().copied()).chain(["--", &table]));
            (String::from_utf8(output.stdout).unwrap(), output.status.code())
        };
        assert_eq!(
            run(&["--descriptor-set", &set]),
            run(&["--proto-path", &root, "--proto", proto]),
            "{command}"
        );
    }
    let both = session(&format!("table lint --descriptor-set {set} --proto a.proto -- {table}"));
    assert!(both.ends_with("--- exit status 2\n") && both.contains("--descriptor-set"), "{both}");
}

#[test]
fn a_proto_with_an_edition_is_named_with_what_to_do() {
    let folder = folder("editions");
    fs::write(folder.join("a.proto"), "// Copyright\nedition = \"2023\";\npackage a;\nmessage M {}\n")
        .unwrap();
    let import =
        "syntax = \"proto3\";\npackage a;\nimport \"a.proto\";\nservice B { rpc Get(M) returns (M); }\n";
    fs::write(folder.join("b.proto"), import).unwrap();
    let file =
        [field(1, b"a.proto"), field(2, b"a"), field(12, b"editions"), vec![14 << 3, 0xe8, 0x07]].concat();
    let set = folder.join("a.binpb").display().to_string();
    fs::write(&set, field(1, &file)).unwrap();
    let (root, out) = (folder.display().to_string(), folder.join("out").display().to_string());
    let table = "library_grpc_service_config.json";
    for (line, message) in [
        (
            format!("generate --proto-path {root} --proto a.proto --out {out}"),
            format!("a.proto:2:1: {EDITIONS}"),
        ),
        (
            format!("generate --proto-path {root} --proto b.proto --out {out}"),
            format!("a.proto:2:1: {EDITIONS}"),
        ),
        (format!("generate --descriptor-set {set} --out {out}"), format!("a.proto: {EDITIONS}")),
        (
            format!("table lint --proto-path {root} --proto b.proto -- {table}"),
            format!("--proto: a.proto:2:1: {EDITIONS}"),
        ),
        (
            format!("table show --descriptor-set {set} -- {table}"),
            format!("--descriptor-set a.proto: {EDITIONS}"),
        ),
    ] {
        assert_eq!(
            session(&line),
            format!("$ gax {line}\n--- stderr\nerror: {message}\n--- exit status 2\n")
        );
    }
    fs::write(&set, b"\x0a\xff").unwrap();
    for line in [
        format!("generate --descriptor-set {set} --out {out}"),
        format!("table show --descriptor-set {set} -- {table}"),
    ] {
        let reported = session(&line);
        assert!(
            reported.contains("error: --descriptor-set has bytes that are not a FileDescriptorSet ("),
            "{reported}"
        );
        assert!(
            reported.contains("; give what protoc --descriptor_set_out or buf build writes\n"),
            "{reported}"
        );
    }
}
