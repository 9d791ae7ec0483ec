//! The descriptors that the clients over REST of a build share.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use prost::Message as _;
use prost_types::FileDescriptorSet;
use std::path::{Path, PathBuf};
use tonic_gax_build::{Builder, Error, Generated, configure};

/// Writes the protos. Gives their folder, and the one of Google's.
fn write(name: &str, proto: &str) -> [PathBuf; 2] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rest").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("other.proto"), OTHER).unwrap();
    std::fs::write(folder.join("library.proto"), proto).unwrap();
    [folder, PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../proto"))]
}

const OTHER: &str = r#"
    syntax = "proto3";
    package other.v1;
    import "google/protobuf/timestamp.proto";
    message Used { Inner inner = 1; message Inner { google.protobuf.Timestamp time = 1; Kind kind = 2; } }
    message Unused { Used used = 1; }
    enum Kind { NONE = 0; }
    enum UnusedKind { NOTHING = 0; }
"#;

const LIBRARY: &str = r#"
    syntax = "proto3";
    package example.v1;
    import "google/api/annotations.proto";
    import "other.proto";
    message Book { string name = 1; other.v1.Used used = 2; map<string, Page> pages = 3; Book next = 4; }
    message Page { string text = 1; }
    message Unused { string name = 1; }
    service Library {
        rpc GetBook(Book) returns (Book) {
            option (google.api.http) = {
                get: "/v1/{name=books/*}"
                additional_bindings { post: "/v1/books:get" body: "*" }
            };
        }
        rpc Plain(Book) returns (Page);
    }
    service Others { rpc Get(Unused) returns (Unused); }
"#;

fn generate(name: &str, proto: &str, builder: Builder) -> Result<Generated, Error> {
    builder.generate(&["library.proto"], &write(name, proto))
}

/// The descriptors that the clients of a build share.
fn descriptors(generated: &Generated) -> FileDescriptorSet {
    let file = generated.files().iter().find(|file| file.name() == "example.v1-rest.rs").unwrap();
    let bytes = syn::parse_str::<syn::LitByteStr>(file.content().lines().nth(1).unwrap()).unwrap();
    FileDescriptorSet::decode(bytes.value().as_slice()).unwrap()
}

#[test]
fn clients_over_rest_are_made_where_they_are_asked_for() {
    let code = |enable: bool| {
        let generated = generate("asked", LIBRARY, configure().build_rest(enable)).unwrap();
        generated.files().iter().find(|file| file.name() == "example.v1.rs").unwrap().content().to_owned()
    };
    assert!(!code(false).contains("RestService") && code(true).contains("RestService"));
}

#[test]
fn descriptors_have_all_messages_of_a_build_and_the_methods_that_clients_call() {
    let generated = generate("needed", LIBRARY, configure().build_rest(true)).unwrap();
    let set = descriptors(&generated);
    let described: Vec<_> = set
        .file
        .iter()
        .map(|file| {
            let messages = file.message_type.iter().map(prost_types::DescriptorProto::name);
            let enums = file.enum_type.iter().map(prost_types::EnumDescriptorProto::name);
            let services = file.service.iter().map(prost_types::ServiceDescriptorProto::name);
            let names: Vec<&str> = messages.chain(enums).chain(services).collect();
            (file.name(), file.dependency.join(" "), names.join(" "))
        })
        .collect();
    let text = str::to_owned;
    assert_eq!(
        described,
        [
            ("google/api/http.proto", text(""), text("HttpRule CustomHttpPattern")),
            (
                "google/api/annotations.proto",
                text("google/api/http.proto google/protobuf/descriptor.proto"),
                text("")
            ),
            ("other.proto", text("google/protobuf/timestamp.proto"), text("Used Unused Kind UnusedKind")),
            (
                "library.proto",
                text("google/api/annotations.proto other.proto"),
                text("Book Page Unused Library Others")
            ),
        ]
    );
    assert!(set.file.iter().all(|file| file.source_code_info.is_none()));
    // All clients of the build take them from one place.
    let code = generated.files().iter().find(|file| file.name() == "example.v1.rs").unwrap().content();
    assert_eq!(code.matches(r#"include!("example.v1-rest.rs")"#).count(), 2);
}

#[test]
fn a_rule_that_is_none_is_a_warning_with_its_method() {
    for (rule, problem) in [("/v1/{name=books/*}", "/v1/{name=**}/x"), ("/v1/books:get", "v1/books:get")] {
        let generated =
            generate("wrong", &LIBRARY.replace(rule, problem), configure().build_rest(true)).unwrap();
        let text = left_out(&generated);
        assert!(text.starts_with("library.proto:11:13: example.v1.Library.GetBook: "), "{text}");
        assert!(text.contains(problem), "{text}");
    }
}

const WITHOUT: &str = ", so that the client over REST does not have it";

/// The warning of the one RPC that is left out.
fn left_out(generated: &Generated) -> &str {
    assert_eq!(generated.findings().len(), 1, "{:?}", generated.findings());
    let only = generated.findings().first().unwrap();
    assert_eq!(only.rule(), "unusable-annotation");
    only.message()
}

#[test]
fn a_rule_that_its_messages_do_not_fit_is_a_warning_with_its_method() {
    for (rule, wrong, problem) in [
        ("{name=books/*}", "{nome=books/*}", "example.v1.Book has no field \"nome\", which \"nome\" names"),
        ("{name=books/*}", "{pages}", "the field \"pages\" of example.v1.Book has many values"),
        ("{name=books/*}", "{used.inner}", "the field \"used.inner\" of example.v1.Book is a message"),
        ("{name=books/*}", "*", "the path template \"/v1/*\" has a * outside of a variable"),
        ("body: \"*\"", "body: \"nome\"", "example.v1.Book has no field \"nome\", which body names"),
        ("post: \"/v1/books:get\"", "get: \"/v1/books:get\"", "a GET has no body, but the rule has \"*\""),
        (
            "body: \"*\" }",
            "body: \"*\" additional_bindings { get: \"/v1/books\" } }",
            "an additional binding has additional bindings, which google.api.http does not allow",
        ),
    ] {
        assert!(LIBRARY.contains(rule));
        let built = generate("unfit", &LIBRARY.replace(rule, wrong), configure().build_rest(true));
        assert_eq!(
            left_out(&built.unwrap()),
            format!("library.proto:11:13: example.v1.Library.GetBook: {problem}{WITHOUT}")
        );
        // Without a client over REST nobody needs the rule.
        generate("unfit", &LIBRARY.replace(rule, wrong), configure()).unwrap();
    }
    let yaml = "http:\n  rules:\n  - selector: example.v1.Library.Plain\n    get: '/v1/{nome}'\n";
    let builder = configure().build_rest(true).service_yaml_text("library.yaml", yaml);
    let generated = generate("unfit", LIBRARY, builder).unwrap();
    let text = left_out(&generated);
    assert!(
        text.starts_with("the service YAML: example.v1.Library.Plain: example.v1.Book has no field"),
        "{text}"
    );
}

#[test]
fn rules_of_the_service_yaml_go_over_the_protos() {
    let yaml = "
http:
  rules:
  - selector: example.v1.Library.Plain
    get: /v2/plain
  - selector: example.v1.Library.GetBook
    put: '/v2/{name}'
";
    let builder = configure().build_rest(true).service_yaml_text("library.yaml", yaml);
    let generated = generate("yaml", LIBRARY, builder).unwrap();
    let code = generated.files().iter().find(|file| file.name() == "example.v1-rest.rs").unwrap().content();
    assert!(
        code.contains("/v2/plain") && code.contains("/v2/{name}") && !code.contains("/v1/{name=books/*}")
    );
}
