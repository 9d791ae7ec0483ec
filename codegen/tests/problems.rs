//! The errors and warnings of the generator.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use miette::Diagnostic;
use tonic_gax_build::{Builder, Dialect, Error, Finding, GeneratedFile, Severity, configure};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn table(text: &str) -> Builder {
    configure().retry_table_text("retry.json", text)
}

fn error(builder: Builder) -> Error {
    builder.generate(&["edge.proto"], &[DATA]).unwrap_err()
}

const UNKNOWN: &str = r#"{"methodConfig": [{
  "name": [
    {"service": "edge.v1.Edges", "method": "ListItem"},
    {"service": "edge.v1.Edge", "method": "Ping"},
    {"service": "edge.v1.Edge", "method": "Watch"},
    {"service": "edge.v1.Edges", "method": "Ping"}
  ],
  "timeout": "5s"
}]}"#;

#[test]
fn unknown_names_are_warnings_with_place_and_suggestion() {
    let generated = table(UNKNOWN).build_client(false).generate(&["edge.proto"], &[DATA]).unwrap();
    let warnings: Vec<String> = generated
        .findings()
        .iter()
        .filter(|finding| finding.severity() == Severity::Warning)
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        warnings,
        [
            "retry.json:3:44: warning[unknown-method]: the service edge.v1.Edges has no method \"ListItem\"; \
             did you mean \"ListItems\"?",
            "retry.json:4:17: warning[unknown-service]: there is no service \"edge.v1.Edge\" (2 names); \
             did you mean \"edge.v1.Edges\"?",
        ]
    );
}

#[test]
fn unknown_names_are_an_error_where_they_are_denied() {
    let error = error(table(UNKNOWN).deny_unknown_methods(true));
    assert!(error.is_table());
    assert_eq!(error.unknown_methods().len(), 2);
    assert_eq!(
        error.to_string(),
        "the retry table has names that no proto has: retry.json:3:44: the service edge.v1.Edges has no method \
         \"ListItem\" (did you mean \"ListItems\"?); retry.json:4:17: there is no service \"edge.v1.Edge\" (2 names) \
         (did you mean \"edge.v1.Edges\"?)"
    );
    assert_eq!(error.code().unwrap().to_string(), "retry::unknown-method");
    // Published tables name methods and services that are in no proto. One that the table names itself is not a misspelling.
    let published = r#"{"methodConfig": [{"name": [
        {"service": "edge.v1.Edges", "method": "Pin"},
        {"service": "edge.v1.Edges", "method": "Ping"},
        {"service": "edge.v1.Edges", "method": "AnalyzeOrgPolicies"},
        {"service": "another.v1.Service"}
      ], "timeout": "5s"}]}"#;
    let generated = table(published).deny_unknown_methods(true).build_client(false);
    let generated = generated.generate(&["edge.proto"], &[DATA]).unwrap();
    let rules = generated.findings().iter().map(Finding::rule);
    assert_eq!(rules.filter(|rule| rule.starts_with("unknown-")).count(), 3);
}

#[test]
fn a_faulty_table_is_shown_with_its_place() {
    let text =
        "{\"methodConfig\": [{\n  \"name\": [{}],\n  \"retryPolicy\": {\"backoffMultiplier\": 0.5}\n}]}";
    let error = error(table(text));
    assert!(error.to_string().starts_with("retry.json:3:40: 0.5 "), "{error}");
    let label = error.labels().unwrap().next().unwrap();
    assert_eq!(&text[label.offset()..label.offset() + label.len()], "0.5");
    assert!(format!("{error:?}").contains("\n  help: "));
}

#[test]
fn a_table_that_java_drops_is_dropped_with_a_warning() {
    let generated = table("{").dialect(Dialect::GaxJava).generate(&["edge.proto"], &[DATA]).unwrap();
    assert_eq!(generated.findings()[0].rule(), "dropped-file");
    assert!(generated.files()[0].content().contains("(\"no_retry_codes\", ::gax_client::CodeSet::EMPTY)"));
}

#[test]
fn an_entry_of_gapic_yaml_has_to_say_what_its_method_gets() {
    let gapic = |method: &str| {
        let text = format!(
            "config_schema_version: 1.0.0\ninterfaces:\n- name: edge.v1.Edges\n  methods:\n  - name: {method}\n"
        );
        configure().retry_table_text("edge_gapic.yaml", text)
    };
    let error = error(gapic("Ping"));
    assert_eq!(error.to_string(), "edge_gapic.yaml:5:5: the method Ping has no retry_codes_name");
    assert!(error.is_table() && format!("{error:?}").contains("\n  help: add retry_codes_name"));
    let generated = gapic("Gone").generate(&["edge.proto"], &[DATA]).unwrap();
    assert_eq!(generated.findings()[0].rule(), "skipped-entry");
}

#[test]
fn definitions_that_are_named_alike_get_names_of_their_own_and_a_warning() {
    let of = |method: &str, timeout: &str| {
        format!(
            r#"{{"methodConfig": [{{"name": [{{"service": "edge.v1.Edges", "method": "{method}"}}], "timeout": "{timeout}"}}]}}"#
        )
    };
    let generated = configure()
        .retry_table_text("a.json", of("Ping", "5s"))
        .retry_table_text("b.json", of("ListItems", "7s"))
        .build_client(false)
        .generate(&["edge.proto"], &[DATA])
        .unwrap();
    let code: String = generated.files().iter().map(GeneratedFile::content).collect();
    for name in ["\"no_retry_0_params\"", "\"no_retry_0_params_2\""] {
        assert!(code.contains(name), "{name}");
    }
    let found: Vec<String> = generated.findings().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "b.json:1:19: warning[renamed-definitions]: an earlier table has definitions of edge.v1.Edges with the \
             same names (no_retry_0_codes, no_retry_0_params): those of this table end with _2; put all entries for one \
             service into one table"
        ]
    );
}

#[test]
fn a_missing_table_is_named() {
    let error = error(configure().retry_table("no/such/table.json"));
    assert!(error.to_string().starts_with("can't read the retry table no/such/table.json: "), "{error}");
}

#[test]
fn a_missing_proto_is_named() {
    let error = configure().generate(&["nothing.proto"], &[DATA]).unwrap_err();
    assert!(error.is_protos());
    assert!(error.to_string().contains("'nothing.proto'"), "{error}");
}

#[test]
fn options_must_be_rust() {
    for (builder, expected) in [
        (configure().runtime_path("a b"), "runtime_path: \"a b\" is not a Rust path"),
        (configure().proto_path("1"), "proto_path: \"1\" is not a Rust path"),
        (configure().extern_path(".a", "::b-c"), "extern_path(\".a\", ..): \"::b-c\" is not a Rust path"),
    ] {
        assert_eq!(error(builder).to_string(), expected);
    }
}

#[test]
fn faulty_extern_paths_are_errors() {
    let error = error(configure().extern_path("edge.v1", "crate::a"));
    assert!(error.to_string().contains("edge.v1"), "{error}");
}

/// Whatever definitions are called, the code compiles, and its docs show their names and nothing else.
#[test]
fn any_name_of_a_definition_can_be_generated() {
    for (written, shown) in [
        (r"a\rb", r"a\rb"),
        (r"a\nb", r"a\nb"),
        (r"a\u202eb\u2066", r"a\u{202e}b\u{2066}"),
        (r"\u001b]0;PWNED\u0007", r"\u{1b}]0;PWNED\u{7}"),
        (r"a\u0000b\u2028", r"a\u{0}b\u{2028}"),
        ("a`b``c`", "a`b``c`"),
        ("`", "`"),
        ("[a](b) *c* <d> */ {e}", "[a](b) *c* <d> */ {e}"),
        ("", "\"\""),
    ] {
        let config = format!(
            r#"{{"interfaces": {{"edge.v1.Edges": {{
                "retry_codes": {{"{written}": ["UNAVAILABLE"]}},
                "retry_params": {{"{written}": {{"initial_retry_delay_millis": 100}}}},
                "methods": {{"Ping": {{"timeout_millis": 60000, "retry_codes_name": "{written}", "retry_params_name": "{written}"}}}}
            }}}}}}"#
        );
        let generated = table(&config).generate(&["edge.proto"], &[DATA]).unwrap();
        let code: String = generated.files().iter().map(GeneratedFile::content).collect();
        syn::parse_file(&code).unwrap_or_else(|error| panic!("{written}: {error}"));
        let is_raw = |c: char| c.is_control() && c != '\n' || ('\u{2028}'..='\u{2069}').contains(&c);
        assert!(!code.contains(is_raw), "{written}");
        let line = code.lines().find(|line| line.contains("From the retry table: ")).unwrap();
        let docs = line.trim().strip_prefix("/// ").unwrap();
        let spans = pulldown_cmark::Parser::new(docs).filter_map(|event| match event {
            pulldown_cmark::Event::Code(text) => Some(text.into_string()),
            _ => None,
        });
        assert_eq!(spans.collect::<Vec<_>>(), [shown, shown, "retry.json:4"], "{docs}");
    }
}

#[test]
fn errors_print_names_and_texts_escaped() {
    let evil = "\u{1b}]0;PWNED\u{7}\u{9b}\u{202e}";
    let shown = r"\u{1b}]0;PWNED\u{7}\u{9b}\u{202e}";
    let is_raw = |text: String| text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}');
    let wrong = r#"{"methodConfig": [{"timeout": "\u001b\u009b"}]}"#;
    // Close to the service's name, but for what is escaped.
    let unknown =
        r#"{"methodConfig": [{"name": [{"service": "edge.v1.Edges\u001b\u202e"}], "timeout": "5s"}]}"#;
    let named = configure().retry_table_text(evil, wrong).generate(&["edge.proto"], &[DATA]).unwrap_err();
    assert!(named.to_string().starts_with(&format!("{shown}:1:31: ")), "{named}");
    let missing = configure().retry_table(evil).generate(&["edge.proto"], &[DATA]).unwrap_err();
    assert!(missing.to_string().starts_with(&format!("can't read the retry table {shown}: ")), "{missing}");
    let proto = configure().generate(&[format!("{evil}.proto")], &[DATA]).unwrap_err();
    let denied = table(unknown).deny_unknown_methods(true);
    let errors = [named, missing, proto, error(denied), error(configure().extern_path(evil, "1"))];
    for error in errors {
        assert!(!is_raw(error.to_string()) && !is_raw(format!("{error:?}")), "{:?}", error.to_string());
        assert!(error.to_string().contains("\\u{1b}") || error.to_string().contains("\\u001b"), "{error}");
    }
}

/// tonic's code for such a service does not compile; ours does.
#[test]
fn rpcs_of_one_function_are_reported() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("clashing");
    std::fs::create_dir_all(&folder).unwrap();
    let proto = "syntax = 'proto3'; package a.v1; message M {} \
                 service Both { rpc GetFoo(M) returns (M); rpc get_foo(M) returns (M); rpc New(M) returns (M); } \
                 service Client { rpc Connect(M) returns (M); } service T { rpc Get(M) returns (M); }";
    std::fs::write(folder.join("clashing.proto"), proto).unwrap();
    let reported = |builder: Builder| {
        let generated = builder.generate(&["clashing.proto"], &[&folder]).unwrap();
        generated.findings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        reported(configure()),
        [
            "warning[clashing-methods]: GetFoo and get_foo of a.v1.Both are both get_foo in Rust, so that a.v1.Both has none of \
          tonic's own client and server; rename one of the two",
            "warning[clashing-methods]: Connect of a.v1.Client is connect in Rust, as is a function of tonic's own client, so \
          that a.v1.Client has none of that client; rename it, or call it by the client that retries, which has another name for it",
            "warning[clashing-methods]: the service a.v1.T is named like a type or trait in tonic's own server, so that a.v1.T \
          has none of that server; rename the service"
        ]
    );
    assert_eq!(reported(configure().build_client(false)).len(), 2, "the server has no such function");
    assert_eq!(
        reported(configure().build_transport(false)).len(),
        2,
        "and the client has none without a channel"
    );
    let without = configure().build_client(false).build_server(false);
    assert_eq!(reported(without), [""; 0]);
    // Nothing is left out but the code that doesn't compile.
    let generated = configure().generate(&["clashing.proto"], &[&folder]).unwrap();
    let code = generated.files()[0].content();
    let modules = ["both", "client", "t"].map(|name| {
        ["client", "server", "gax"].map(|kind| code.contains(&format!("pub mod {name}_{kind} ")))
    });
    assert_eq!(modules, [[false, false, true], [false, true, true], [true, false, true]]);
}

#[test]
fn bytes_that_are_no_descriptors_are_refused() {
    let error = configure().generate_encoded_fds(b"\x0a\xff".to_vec()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("generate_encoded_fds: has bytes that are not a FileDescriptorSet"), "{text}");
}

/// prost panics at them.
#[test]
fn descriptors_with_editions_are_an_error_that_names_the_file() {
    let file = prost_types::FileDescriptorProto {
        name: Some("a/v1/a.proto".to_owned()),
        package: Some("a.v1".to_owned()),
        syntax: Some("editions".to_owned()),
        ..Default::default()
    };
    let set = prost_types::FileDescriptorSet { file: vec![file] };
    let error = configure().generate_fds(set).unwrap_err();
    assert!(error.is_protos());
    assert_eq!(
        format!("{error:?}"),
        "a/v1/a.proto: the file uses editions, which prost 0.14 does not have\n  help: write syntax = \"proto3\" in place of \
         the edition, with optional for fields whose presence counts, or take the file as it was before editions"
    );
}

/// A service with that option for its method `Get`, whose request has `string name = 1` and `Inner inner = 2`.
fn annotated(option: &str) -> Vec<Finding> {
    let proto = format!(
        "syntax = \"proto3\";\npackage a.v1;\nimport \"google/api/annotations.proto\";\nimport \"google/api/client.proto\";\n\
         import \"google/api/routing.proto\";\nmessage Inner {{ repeated string names = 1; }}\n\
         message Request {{ string name = 1; Inner inner = 2; }}\nservice A {{\n\
         option (google.api.default_host) = \"a.googleapis.com\";\n  rpc Get(Request) returns (Inner) {{\n    {option}\n  }}\n}}\n"
    );
    let folder =
        std::env::temp_dir().join(format!("gax-annotations-{}-{:x}", std::process::id(), option.len()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.proto"), proto).unwrap();
    let protos = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../proto"));
    let table = table(r#"{"methodConfig": []}"#);
    let generated = table.build_rest(true).generate(&["a.proto"], &[&folder, &protos]).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    generated.findings().to_vec()
}

#[test]
fn an_annotation_that_cannot_be_used_is_a_warning_with_its_place() {
    for (option, problem) in [
        (
            "option (google.api.http) = { get: \"/v1/{name=**}/more\" };",
            "the path template \"/v1/{name=**}/more\" has ** before its end (character 11)",
        ),
        (
            "option (google.api.http) = { get: \"/v1/{nam}\" };",
            "a.v1.Request has no field \"nam\", which \"nam\" names",
        ),
        (
            "option (google.api.http) = { get: \"/v1/{inner.names}\" };",
            "the field \"names\" of a.v1.Inner has many values",
        ),
        (
            "option (google.api.routing) = { routing_parameters { field: \"name\" path_template: \"a/*\" } };",
            "the path template \"a/*\" has 0 variables, where google.api.routing requires one (character 1)",
        ),
    ] {
        let findings = annotated(option);
        let mut without = vec!["its requests have no header for routing"];
        if option.contains("api.http") {
            without.push("the client over REST does not have it");
        }
        let expected =
            without.iter().map(|without| format!("a.proto:11:5: a.v1.A.Get: {problem}, so that {without}"));
        let found: Vec<&str> = findings.iter().map(Finding::message).collect();
        assert_eq!(found, expected.collect::<Vec<_>>());
        assert!(
            findings
                .iter()
                .all(|finding| finding.rule() == "unusable-annotation" && finding.help().is_some())
        );
    }
}

/// Returns what the generator says of a proto's text.
fn odd(text: &str) -> Result<Vec<String>, String> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("gax-odd-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("odd.proto"), format!("syntax = \"proto3\";\npackage odd;\n{text}")).unwrap();
    let generated = table(r#"{"methodConfig": []}"#).generate(&["odd.proto"], &[&folder]);
    std::fs::remove_dir_all(&folder).unwrap();
    match generated {
        Ok(generated) => {
            for file in generated.files() {
                syn::parse_file(file.content()).unwrap();
            }
            Ok(generated.findings().iter().map(|finding| finding.message().to_owned()).collect())
        }
        Err(error) => {
            assert!(error.is_protos() && format!("{error:?}").contains("\n  help: "), "{error:?}");
            Err(error.to_string())
        }
    }
}

#[test]
fn what_rust_has_no_name_for_is_an_error_before_prost_is_asked() {
    for (text, problem) in [
        (
            "message M { string _ = 1; }",
            "3:13: the field _ of odd.M has no name in Rust, because it has neither letters nor digits",
        ),
        (
            "message __ {}",
            "3:1: the message odd.__ has no name in Rust, because it has neither letters nor digits",
        ),
        ("service _ {}", "3:1: the service _ has no name in Rust, because it has neither letters nor digits"),
        (
            "message M { oneof _ { string a = 1; } }",
            "3:13: the oneof _ of odd.M has no name in Rust, because it has neither letters nor digits",
        ),
        (
            "enum E { _ = 0; }",
            "3:10: the value _ of E has no name in Rust, because it has neither letters nor digits",
        ),
        (
            "enum E { A_B = 0; AB = 1; a_b = 2; }",
            "3:27: the value a_b of E and the value A_B of E are both AB in Rust",
        ),
        (
            "enum Kind { KIND_A = 0; A = 1; }",
            "3:25: the value A of Kind and the value KIND_A of Kind are both A in Rust",
        ),
        (
            "message a_b {}\nmessage A_b {}",
            "4:1: the message odd.A_b and the message odd.a_b are both AB in Rust",
        ),
        (
            "message M { message x {} enum X { A = 0; } }",
            "3:26: the enum odd.M.X and the message odd.M.x are both X in Rust",
        ),
        (
            "message M { string ab_c = 1; oneof abC { string x = 2; } }",
            "3:30: the oneof abC of odd.M and the field ab_c of odd.M are both ab_c in Rust",
        ),
    ] {
        let error = odd(text).unwrap_err();
        assert_eq!(error, format!("odd.proto:{problem}"), "{text}");
    }
    let both = odd("message M { string _ = 1; }\nenum E { _ = 0; }").unwrap_err();
    assert!(both.contains("odd.proto:3:13: ") && both.contains("; odd.proto:4:10: "), "{both}");
}

#[test]
fn an_rpc_or_module_that_rust_has_no_place_for_is_left_out_with_a_warning() {
    let left_out = odd("message M {}\nservice S { rpc _(M) returns (M); rpc Get(M) returns (M); }").unwrap();
    assert_eq!(
        left_out,
        ["odd.proto:4:13: the RPC \"_\" of odd.S has no name in Rust, so that it is left out"]
    );
    let module =
        odd("message SClient { message Inner {} }\nservice S { rpc Get(SClient) returns (SClient); }")
            .unwrap();
    let words = "the module s_client of odd.S, of tonic's own client, is also that of a message, subpackage or service, so that odd.S has none of that client";
    assert_eq!(module, [words]);
    let twice =
        odd("message M {}\nservice A_b { rpc G(M) returns (M); }\nservice a_B { rpc G(M) returns (M); }")
            .unwrap();
    assert_eq!(twice.len(), 2, "{twice:?}");
}

/// A service whose method fills a field of its request.
fn filled(field: &str, rpc: &str) -> String {
    let proto = format!(
        "syntax = \"proto3\";\npackage a.v1;\nimport \"google/api/field_info.proto\";\nimport \"google/api/field_behavior.proto\";\n\
         message Request {{ {field} }}\nservice A {{ rpc {rpc}; }}\n"
    );
    let yaml = "apis:\n- name: a.v1.A\npublishing:\n  method_settings:\n  - selector: a.v1.A.Get\n    \
                auto_populated_fields:\n    - id\n";
    let name: String = field.chars().chain(rpc.chars()).filter(char::is_ascii_alphanumeric).collect();
    let folder = std::env::temp_dir().join(format!("gax-ids-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.proto"), proto).unwrap();
    let protos = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../proto"));
    let builder = table(r#"{"methodConfig": []}"#).service_yaml_text("a.yaml", yaml);
    let result = builder.generate(&["a.proto"], &[&folder, &protos]);
    std::fs::remove_dir_all(&folder).unwrap();
    result.map_or_else(|error| error.to_string(), |_| "filled".to_owned())
}

#[test]
fn a_field_that_clients_may_not_fill_is_an_error_at_its_place_in_the_service_yaml() {
    const UUID: &str = "(google.api.field_info).format = UUID4";
    let get = "Get(Request) returns (Request)";
    let wrong = |problem| format!("a.yaml:7:7: the field \"id\" of a.v1.A.Get can't be filled: {problem}");
    for (field, rpc, expected) in [
        (format!("string id = 1 [{UUID}];"), get, "filled".to_owned()),
        (format!("optional string id = 1 [{UUID}];"), get, "filled".to_owned()),
        (format!("string ids = 1 [{UUID}];"), get, wrong("the request has no field of that name")),
        (format!("repeated string id = 1 [{UUID}];"), get, wrong("it is not a string")),
        (format!("bytes id = 1 [{UUID}];"), get, wrong("it is not a string")),
        (format!("oneof one {{ string id = 1 [{UUID}]; }}"), get, wrong("it is one of several fields")),
        (
            format!("string id = 1 [{UUID}, (google.api.field_behavior) = REQUIRED];"),
            get,
            wrong("it is REQUIRED"),
        ),
        ("string id = 1;".to_owned(), get, wrong("its format is not UUID4")),
        (
            format!("string id = 1 [{UUID}];"),
            "Get(Request) returns (stream Request)",
            wrong("the method is a stream"),
        ),
        // Another method of that service.
        ("string id = 1;".to_owned(), "Got(Request) returns (Request)", "filled".to_owned()),
    ] {
        assert_eq!(filled(&field, rpc), expected, "{field} {rpc}");
    }
}
