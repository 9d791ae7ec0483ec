//! The generated code.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::path::Path;
use tonic_gax_build::{Builder, Dialect, Generated, configure};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../proto");
const ASSET: &str = "google/cloud/asset/v1/asset_service.proto";

fn generate(builder: Builder, proto: &str, include: &str) -> Generated {
    builder.generate(&[proto], &[include]).unwrap()
}

fn edge() -> Builder {
    configure().retry_table(Path::new(DATA).join("edge.json"))
}

fn content<'a>(generated: &'a Generated, name: &str) -> &'a str {
    generated.files().iter().find(|file| file.name() == name).unwrap().content()
}

/// A file's items as text, without settings and clients that retry.
fn without_gax(content: &str) -> Vec<String> {
    let is_ours = |item: &syn::Item| match item {
        syn::Item::Mod(module) => module.ident.to_string().ends_with("_gax"),
        syn::Item::Use(_) => true,
        _ => false,
    };
    let items = syn::parse_file(content).unwrap().items.into_iter().filter(|item| !is_ours(item));
    items.map(|item| quote::ToTokens::into_token_stream(item).to_string()).collect()
}

#[test]
fn every_kind_and_name_of_an_rpc() {
    let builder = edge().extern_path(".edge.v1", "crate::types");
    insta::assert_snapshot!(content(&generate(builder, "edge.proto", DATA), "edge.v1.rs"));
}

#[test]
fn the_asset_mirror_in_the_java_dialect() {
    let table = Path::new(PROTO).join("google/cloud/asset/v1/cloudasset_grpc_service_config.json");
    let builder = configure()
        .retry_table(table)
        .dialect(Dialect::GaxJava)
        .extern_path(".google", "::types::google")
        .build_transport(false)
        .runtime_path("crate::gax");
    insta::assert_snapshot!(content(&generate(builder, ASSET, PROTO), "google.cloud.asset.v1.rs"));
}

/// Of a service's RPCs only those that respond with a stream have them.
#[test]
fn timeouts_of_streams_are_those_of_the_table() {
    let table = "[[entry]]\nfor = [\"edge.v1.Edges\"]\nwait_timeout = \"30s\"\nidle_timeout = \"1500ms\"\n";
    let builder = configure().retry_table_text("streams.toml", table);
    let generated = generate(builder, "edge.proto", DATA);
    let code: String = content(&generated, "edge.v1.rs").split_whitespace().collect();
    let timeouts = "wait_timeout: Some(::core::time::Duration::new(30,0)),\
                    idle_timeout: Some(::core::time::Duration::from_millis(1500)),";
    let watch = code
        .split("method_info(")
        .find(|method| method.contains("MethodParts::of(\"edge.v1.Edges\",\"Watch\""))
        .unwrap();
    assert!(watch.contains(&timeouts.replace(' ', "")), "{}", &watch[..400]);
    assert_eq!(
        code.matches("_timeout:Some(::core::time::Duration").count(),
        2 * code.matches("messages:Some(").count()
    );
}

#[test]
fn a_list_whose_name_is_taken_has_another() {
    let generated = generate(edge(), "edge.proto", DATA);
    let code: String = content(&generated, "edge.v1.rs").split_whitespace().collect();
    assert!(code.contains(
        "pubfnlist_items_paged_rpc(&self,request:impl::tonic::IntoRequest<super::ListItemsRequest>"
    ));
    assert!(code.contains("pubfnlist_items_paged(&self,request:impl::tonic::IntoRequest<super::Request>"));
}

/// A page's size in a wrapper is set only where prost writes a number for it.
#[test]
fn a_size_in_a_wrapper_may_be_a_message() {
    let proto = "syntax = 'proto3'; package google.cloud.compute.a; import 'google/protobuf/wrappers.proto';
        message Q { google.protobuf.Int32Value max_results = 1; string page_token = 2; }
        message R { repeated google.protobuf.StringValue names = 1; string next_page_token = 2; }
        service S { rpc List(Q) returns (R); }";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrapped_size");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.proto"), proto).unwrap();
    let code = |builder: Builder| {
        let generated = builder.generate(&["a.proto"], &[&folder]).unwrap();
        content(&generated, "google.cloud.compute.a.rs").split_whitespace().collect::<String>()
    };
    let numbers = code(configure());
    assert!(numbers.contains("page_size:::core::option::Option::Some(|request|{&mutrequest.max_results"));
    assert!(numbers.contains("PagedCall<T,super::Q,super::R,::prost::alloc::string::String,>"), "{numbers}");
    let messages = code(configure().compile_well_known_types(true));
    assert!(messages.contains("page_size:::core::option::Option::None"));
    let item = "super::R,super::super::super::super::protobuf::StringValue,>";
    assert!(messages.contains(item), "{messages}");
}

#[test]
fn codes_that_count_only_with_a_servers_delay_are_settings_of_the_client() {
    let table = "[[entry]]\nfor = [\"google.cloud.asset.v1.AssetService\"]\ntimeout = \"10s\"\nmax_attempts = 3\n\
                 codes = [\"UNAVAILABLE\", \"RESOURCE_EXHAUSTED\"]\nonly_with_server_delay = [\"RESOURCE_EXHAUSTED\"]\n";
    let generated = generate(configure().retry_table_text("asset.toml", table), ASSET, PROTO);
    let code: String = content(&generated, "google.cloud.asset.v1.rs").split_whitespace().collect();
    let setting =
        ".only_with_server_delay(::gax_client::CodeSet::EMPTY.with(::gax_client::Code::ResourceExhausted)";
    assert!(code.contains(&setting.replace(' ', "")), "the setting is there");
    assert!(code.contains("(RESOURCE_EXHAUSTEDonlyiftheserverasksforadelay)"), "and in the docs");
}

#[test]
fn a_table_read_as_grpc_reads_it_is_run_as_grpc_runs_it() {
    let table = r#"{"methodConfig": [{
        "name": [{"service": "google.cloud.asset.v1.AssetService"}],
        "timeout": "1s",
        "retryPolicy": {
            "maxAttempts": 9, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"]
        }
    }]}"#;
    let generated = |dialect| {
        let builder = configure().retry_table_text("table.json", table).dialect(dialect);
        content(&generate(builder, ASSET, PROTO), "google.cloud.asset.v1.rs").to_owned()
    };
    let rules = "by_rules_of(::gax_client::Compatibility::Grpc)";
    let created = |code: &str| code.split_whitespace().collect::<String>().contains(rules);
    assert!(created(&generated(Dialect::Grpc)));
    assert!(!created(&generated(Dialect::AsWritten)));
}

#[test]
fn tables_of_every_format_make_the_same_settings() {
    let service = "google.cloud.asset.v1.AssetService";
    let toml = format!(
        r#"
[codes]
idempotent = ["UNAVAILABLE"]
[params.patient]
timeout = "1m"
initial_retry_delay = "100ms"
retry_delay_multiplier = 1.5
max_retry_delay = "10s"
[[entry]]
for = ["{service}/ListAssets"]
codes = "idempotent"
params = "patient"
"#
    );
    let yaml = format!(
        r"
type: com.google.api.codegen.ConfigProto
config_schema_version: 1.0.0
interfaces:
- name: {service}
  retry_codes_def:
  - {{name: idempotent, retry_codes: [UNAVAILABLE]}}
  retry_params_def:
  - name: patient
    initial_retry_delay_millis: 100
    retry_delay_multiplier: 1.5
    max_retry_delay_millis: 10000
    initial_rpc_timeout_millis: 60000
    rpc_timeout_multiplier: 1
    max_rpc_timeout_millis: 60000
    total_timeout_millis: 60000
  methods:
  - {{name: ListAssets, retry_codes_name: idempotent, retry_params_name: patient, timeout_millis: 60000}}
"
    );
    for (name, table) in [("table.toml", toml), ("asset_gapic.yaml", yaml)] {
        let builder = configure().retry_table_text(name, table);
        let generated = generate(builder, ASSET, PROTO);
        let code: String = content(&generated, "google.cloud.asset.v1.rs").split_whitespace().collect();
        let settings = "ConstSettings::new().initial_retry_delay(::core::time::Duration::from_millis(100)).retry_delay_multiplier(1.5)";
        assert!(
            code.contains(
                "(\"idempotent\",::gax_client::CodeSet::EMPTY.with(::gax_client::Code::Unavailable"
            ),
            "{name}"
        );
        assert!(code.contains("\"patient\""), "{name}");
        assert!(code.contains(settings), "{name}");
    }
}

/// The table's word goes before `idempotency_level`.
#[test]
fn an_rpc_is_idempotent_by_the_tables_word_or_else_by_its_proto() {
    let said = |table: &str| {
        let generated = generate(configure().retry_table_text("table.toml", table), "idempotent.proto", DATA);
        let code: String = content(&generated, "idempotent.v1.rs").split_whitespace().collect();
        ["Get", "Reserve"].map(|name| {
            let mut methods = code.split("method_info(");
            let of_method = methods.find(|part| part.contains(&format!("\"{name}\",")));
            of_method.unwrap().contains("is_idempotent:true")
        })
    };
    let word = |name: &str, word: bool| {
        format!("[[entry]]\nfor = [\"idempotent.v1.Library{name}\"]\nidempotent = {word}\n")
    };
    assert_eq!(said("entry = []"), [true, false]);
    assert_eq!(said(&word("/Reserve", true)), [true, true]);
    assert_eq!(said(&word("/Get", false)), [false, false]);
    assert_eq!(said(&word("", true)), [true, true]);
    assert_eq!(said(&(word("", false) + &word("/Reserve", true))), [false, true]);
}

#[test]
fn messages_and_tonics_code_are_tonics_own() {
    let directory = std::env::temp_dir().join(format!("tonic-gax-build-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for (proto, include) in [("edge.proto", DATA), (ASSET, PROTO)] {
        let descriptors = protox::compile([proto], [include]).unwrap();
        // Neither tonic nor prost gives messages their names unasked.
        let mut named = prost_build::Config::new();
        named.enable_type_names().type_name_domain(["."], "type.googleapis.com");
        let theirs = tonic_prost_build::configure().out_dir(&directory);
        theirs.compile_fds_with_config(descriptors, named).unwrap();
        // tonic alone does not add this attribute to precompiled descriptors.
        let ours = generate(configure(), proto, include);
        assert!(!ours.files().is_empty());
        for file in ours.files() {
            let theirs = std::fs::read_to_string(directory.join(file.name())).unwrap();
            let is_theirs = |line: &&str| {
                !line.contains("reason = \"generated\")]") && !line.contains("(This is tonic's own client")
            };
            let mine: String = file.content().split_inclusive('\n').filter(is_theirs).collect();
            // Edges has RPCs with which tonic's client doesn't compile.
            let theirs = without_gax(&theirs).into_iter().filter(|item| !item.contains("mod edges_client "));
            assert!(without_gax(&mine).into_iter().eq(theirs), "{}", file.name());
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn the_output_does_not_depend_on_the_run() {
    let run = || generate(edge().include_file("mod.rs"), "edge.proto", DATA);
    let first = run();
    let names: Vec<&str> = first.files().iter().map(tonic_gax_build::GeneratedFile::name).collect();
    assert_eq!(names, ["edge.v1.rs", "mod.rs"]);
    for _ in 0..3 {
        assert_eq!(run().files(), first.files());
    }
}

#[test]
fn over_existing_messages_only_settings_and_client_come_out() {
    let builder = configure().extern_path(".google", "::types::google");
    let generated = generate(builder, ASSET, PROTO);
    let names: Vec<&str> = generated.files().iter().map(tonic_gax_build::GeneratedFile::name).collect();
    assert_eq!(names, ["google.cloud.asset.v1.rs"]);
    assert_eq!(without_gax(generated.files()[0].content()), Vec::<String>::new());
}

#[test]
fn descriptors_work_as_protos_do() {
    let descriptors = protox::compile(["edge.proto"], [DATA]).unwrap();
    let from_descriptors = edge().generate_fds(descriptors).unwrap();
    assert_eq!(from_descriptors.files(), generate(edge(), "edge.proto", DATA).files());
}

#[test]
fn attributes_and_comments_are_the_users() {
    let builder = edge()
        .disable_comments(["edge.v1.Edges", "edge.v1.Edges.Ping"])
        .type_attribute(".edge.v1.Response", "#[derive(Marked)]")
        .client_mod_attribute("edge.v1", "#[cfg(client)]")
        .build_server(false);
    let generated = generate(builder, "edge.proto", DATA);
    let content = content(&generated, "edge.v1.rs");
    assert_eq!(content.matches("#[derive(Marked)]").count(), 1);
    assert_eq!(content.matches("#[cfg(client)]").count(), 1);
    assert!(!content.contains("edges_server"));
    assert!(!content.contains("Replies at once"));
    assert!(content.contains("Calls `Ping`."));
    assert!(content.contains("Sends items as they come."));
}

#[test]
fn inputs_are_what_was_read() {
    let generated = generate(edge(), "edge.proto", DATA);
    let names: Vec<&str> =
        generated.inputs().iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["edge.json", "edge.proto"]);
}

/// The table's throttling is the budget that a client starts with, where its dialect has it.
#[test]
fn a_tables_throttling_is_in_the_clients_settings() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("throttling");
    std::fs::create_dir_all(&folder).unwrap();
    let table = folder.join("throttling.json");
    std::fs::write(&table, r#"{"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#).unwrap();
    for (dialect, expected) in [(Dialect::AsWritten, 1), (Dialect::Grpc, 1), (Dialect::GaxJava, 0)] {
        let generated = generate(configure().retry_table(&table).dialect(dialect), "edge.proto", DATA);
        let calls = content(&generated, "edge.v1.rs").matches("RetryBudget::tokens(10f64, 0.1f64)").count();
        assert_eq!(calls.min(1), expected, "{dialect}");
    }
}
