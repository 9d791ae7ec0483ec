//! The services of protos.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test that calls it")]

use gax_retry::MethodKind;
use gax_table::{IdempotencyLevel, MethodDescription};
use std::path::{Path, PathBuf};
use tonic_gax_build::describe_protos;

/// Writes the proto. Gives its folder, and the one of Google's.
fn write(name: &str, proto: &str) -> [PathBuf; 2] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("describe").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("library.proto"), proto).unwrap();
    [folder, PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../proto"))]
}

const LIBRARY: &str = r#"
    syntax = "proto3";
    package example.v1;
    option java_package = "com.example.library.v1";
    import "google/api/annotations.proto";
    import "google/longrunning/operations.proto";
    message Book { string name = 1; }
    service Library {
        rpc GetBook(Book) returns (Book) { option (google.api.http) = { get: "/v1/{name=books/*}" }; }
        rpc MoveBook(Book) returns (Book) {
            option idempotency_level = IDEMPOTENT;
            option (google.api.http) = { post: "/v1/{name=books/*}:move" body: "*" };
        }
        rpc Reindex(Book) returns (google.longrunning.Operation) {
            option (google.longrunning.operation_info) = { response_type: "Book" };
        }
        rpc ExportBooks(Book) returns (google.longrunning.Operation);
        rpc Watch(Book) returns (stream Book) { option idempotency_level = NO_SIDE_EFFECTS; }
    }
"#;

#[test]
fn methods_come_with_their_options() {
    let folders = write("options", LIBRARY);
    let protos = describe_protos(&["library.proto"], &folders).unwrap();
    let [library] = protos.services() else { panic!("{protos:?}") };
    assert_eq!(library.name(), "example.v1.Library");
    assert_eq!(protos.java_package(library.name()), Some("com.example.library.v1"));
    assert_eq!(protos.java_package("example.v1.Archive"), None);
    let unary = |name: &str| MethodDescription::new(name, MethodKind::Unary);
    assert_eq!(
        library.methods(),
        [
            unary("GetBook").with_http_verb("GET"),
            unary("MoveBook").with_http_verb("POST").with_idempotency(IdempotencyLevel::Idempotent),
            unary("Reindex").long_running(),
            unary("ExportBooks").returning_operation(),
            MethodDescription::new("Watch", MethodKind::ServerStreaming)
                .with_idempotency(IdempotencyLevel::NoSideEffects),
        ]
    );
}

#[test]
fn services_come_in_the_order_of_the_protos_that_were_asked_for() {
    let folders = write("order", LIBRARY);
    let names = |protos: &[&str]| {
        let protos = describe_protos(protos, &folders).unwrap();
        protos.services().iter().map(|service| service.name().to_owned()).collect::<Vec<_>>()
    };
    let operations = "google/longrunning/operations.proto";
    let in_order = ["example.v1.Library", "google.longrunning.Operations"];
    assert_eq!(names(&["library.proto", operations]), in_order);
    assert_eq!(names(&[operations, "library.proto"]), [in_order[1], in_order[0]]);
}

#[test]
fn services_of_imports_are_distinguished() {
    let folders = write("imports", LIBRARY);
    let protos = describe_protos(&["library.proto"], &folders).unwrap();
    assert_eq!(protos.imported().len(), 1);
    assert_eq!(protos.imported()[0].name(), "google.longrunning.Operations");
}

#[test]
fn protos_that_do_not_compile_are_refused_with_the_place() {
    let folders = write("broken", "syntax = \"proto3\";\nmessage {");
    let error = describe_protos(&["library.proto"], &folders).unwrap_err();
    assert!(error.is_protos());
    assert!(error.to_string().contains("library.proto:2:9"), "{error}");
}
