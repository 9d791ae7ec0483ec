//! Long-running operations in generated code.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::path::Path;
use std::{env, fs};
use tonic_gax_build::{Builder, Dialect, Generated, configure};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn generate(builder: Builder) -> Generated {
    let includes = [format!("{DATA}/operations"), format!("{DATA}/mixed")];
    builder
        .retry_table_text("retry.json", r#"{"methodConfig": []}"#)
        .generate(&["shelves.proto"], &includes)
        .unwrap()
}

/// The code of a package, without spaces.
fn code(generated: &Generated, file: &str) -> String {
    let file = generated.files().iter().find(|found| found.name() == file).unwrap();
    file.content().split_whitespace().collect()
}

#[test]
fn clients_have_functions_for_operations_whose_types_are_found() {
    let generated = generate(configure());
    let code = code(&generated, "shelves.v1.rs");
    for expected in [
        "::gax_client::__long_running!{implShelvesClient{",
        "fnmove_operation(request:super::MoveRequest,)->(super::move_request::Moved,()){(0,0,\"shelves.v1.MoveRequest.Moved\",\"google.protobuf.Empty\")}",
        // The RPC of that name comes first.
        "fnresume_move_operation_rpc(){}",
        "pubfnresume_move_operation(&self,",
        "pubfnburn_operation(&self)->&::gax_client::OperationCallSettings",
    ] {
        assert!(code.contains(expected), "{expected}");
    }
    assert!(!code.contains("fnburn_operation(super"));
    assert!(!code.contains("operationtypesof"));
}

#[test]
fn a_type_that_no_proto_defines_is_a_warning() {
    let generated = generate(configure());
    let findings: Vec<String> = generated.findings().iter().map(ToString::to_string).collect();
    assert_eq!(
        findings,
        [
            "warning[unknown-operation-type]: operation_info of shelves.v1.Shelves/Burn has the response_type \"Ashes\", which no \
             proto defines, so that its client can't poll the operation; import the proto that defines it, or say \
             google.protobuf.Empty for nothing"
        ]
    );
}

#[test]
fn types_of_operations_may_exist_elsewhere() {
    let generated = generate(configure().extern_path(".shelves.v1", "::shelves::v1"));
    let code = code(&generated, "shelves.v1.rs");
    assert!(code.contains("->(::shelves::v1::move_request::Moved,())"));
}

/// The client that `tonic-gax` polls with is checked in, so that its users compile no generator. `INSTA_UPDATE=always` writes it again.
#[test]
fn the_client_of_operations_is_what_the_generator_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = root.join("crates/client/src/client/lro/generated_code");
    if !folder.exists() {
        eprintln!("skipped: this package is not in its repository");
        return;
    }
    let generated = configure()
        .dialect(Dialect::AsWritten)
        .retry_table(root.join("proto/google/longrunning/operations.toml"))
        .build_client(false)
        .build_server(false)
        .runtime_path("crate")
        .include_file("packages.rs")
        .generate(&["google/longrunning/operations.proto"], &[root.join("proto")])
        .unwrap();
    let update = env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    for file in generated.files() {
        let path = folder.join(file.name());
        if update {
            fs::write(&path, file.content()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), file.content(), "{}", path.display());
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), generated.files().len());
}
