//! GAPIC YAML and service YAML add to settings and clients: mixed-in RPCs, batching, long-running operations.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_table::{RetryTable, RowKind, ServiceYaml};
use heck::ToSnakeCase as _;
use prost::Message as _;
use std::path::{Path, PathBuf};
use tonic_gax_build::{Builder, Dialect, Generated, GeneratedFile, configure, describe_protos};
use tonic_gax_optional_data::shared_with;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mixed");
const LIBRARY: &str = "mixed/v1/library.proto";
const LOCATIONS: &str = "google/cloud/location/locations.proto";
const OPERATIONS: &str = "google/longrunning/operations.proto";
const POLICIES: &str = "google/iam/v1/iam_policy.proto";

fn data(name: &str) -> PathBuf {
    Path::new(DATA).join(name)
}

fn library() -> Builder {
    configure()
        .retry_table(data("library_grpc_service_config.json"))
        .gapic_yaml(data("library_gapic.yaml"))
        .service_yaml(data("library_v1.yaml"))
}

fn generate(builder: Builder) -> Generated {
    builder.generate(&[LIBRARY, LOCATIONS, OPERATIONS, POLICIES], &[DATA]).unwrap()
}

fn content<'a>(generated: &'a Generated, name: &str) -> &'a str {
    generated.files().iter().find(|file| file.name() == name).map_or("", GeneratedFile::content)
}

/// The code of one module, without white space.
fn module(content: &str, name: &str) -> String {
    let start = content.find(&format!("pub mod {name} {{")).unwrap_or(content.len());
    let rest = content.get(start..).unwrap_or_default();
    let end = rest.find("\n}\n").unwrap_or(rest.len());
    // How it is wrapped doesn't matter.
    rest.get(..end).unwrap_or_default().split_whitespace().collect::<String>().replace("self,)", "self)")
}

/// The path of each RPC in a module's list of methods, and what it has beside its settings.
fn methods(module: &str) -> Vec<(String, String)> {
    let list = module.split_once("staticMETHODS:").unwrap().1.split_once("];///").unwrap().0;
    let infos = list.split("method_info(").skip(1).map(|info| {
        let (info, names) = info.split_once("MethodParts::of(").unwrap();
        let mut texts = names.split('"').skip(1).step_by(2);
        let path = texts.nth(2).unwrap().to_owned();
        let has = |what: &str| info.contains(what);
        let beside = match (has("batching:"), has("polling:")) {
            (true, _) => "batching",
            (_, true) => "polling",
            _ => "",
        };
        (path, beside.to_owned())
    });
    infos.collect()
}

fn names(methods: &[(String, String)]) -> Vec<(&str, &str)> {
    methods.iter().map(|(path, beside)| (path.as_str(), beside.as_str())).collect()
}

#[test]
fn settings_have_mixed_in_rpcs_batching_and_operations() {
    let generated = generate(library());
    assert_eq!(generated.findings(), []);
    let library = module(content(&generated, "mixed.v1.rs"), "library_gax");
    assert_eq!(
        names(&methods(&library)),
        [
            ("/mixed.v1.Library/GetBook", ""),
            ("/mixed.v1.Library/Reindex", "polling"),
            ("/mixed.v1.Library/Publish", "batching"),
            ("/mixed.v1.Library/Move", "polling"),
            ("/mixed.v1.Library/Begin", ""),
            ("/mixed.v1.Library/MoveOperation", ""),
            ("/google.longrunning.Operations/GetOperation", ""),
            ("/google.longrunning.Operations/CancelOperation", ""),
            ("/google.longrunning.Operations/ListOperations", ""),
            ("/google.cloud.location.Locations/ListLocations", ""),
            ("/google.cloud.location.Locations/GetLocation", ""),
            ("/google.iam.v1.IAMPolicy/SetIamPolicy", ""),
            ("/google.iam.v1.IAMPolicy/GetIamPolicy", ""),
            ("/google.iam.v1.IAMPolicy/TestIamPermissions", ""),
        ]
    );
    for part in [
        // The kinds are those of the rows.
        "kind:::gax_client::MethodKind::Batching,codes:&RETRYABLE_CODE_DEFINITIONS[0],params:&RETRY_PARAM_DEFINITIONS[0],\
         batching:Some(&BATCHING_SETTINGS[0]),",
        "kind:::gax_client::MethodKind::Paged,codes:&RETRYABLE_CODE_DEFINITIONS[0],params:&RETRY_PARAM_DEFINITIONS[0],\
         host:Some(\"mixed.v1.Library\"),",
        // The settings of the YAML, and for Move those of Google's generators.
        "staticPOLLING_SETTINGS:[::gax_client::RetrySettings;2]=[::gax_client::__private::ConstSettings::new()\
         .initial_retry_delay(::core::time::Duration::new(60,0)).retry_delay_multiplier(1.25)\
         .max_retry_delay(::core::time::Duration::new(360,0)).total_timeout(::core::time::Duration::new(7200,0)).build(),",
        "ConstSettings::new().initial_retry_delay(::core::time::Duration::new(5,0)).retry_delay_multiplier(1.5)\
         .max_retry_delay(::core::time::Duration::new(45,0)).total_timeout(::core::time::Duration::new(300,0)).build(),];",
        "::gax_client::__private::BatchingSettings::builder().element_count_threshold(100).request_byte_threshold(1048576)\
         .delay_threshold(::core::time::Duration::from_millis(10)).max_outstanding_elements(1000)\
         .limit_exceeded(::gax_client::__private::LimitExceeded::ThrowException).build()",
        // Accessors; the RPC MoveOperation keeps its name.
        "pubfnget_location(&self)->&::gax_client::CallSettings{self.inner.call(10)}",
        "pubfnreindex_operation(&mutself)->&mut::gax_client::OperationCallSettings{self.inner.operation_mut(0)}",
        "pubfnmove_operation(&self)->&::gax_client::CallSettings{self.inner.call(5)}",
        "pubfnmove_operation_rpc(&self)->&::gax_client::OperationCallSettings{self.inner.operation(1)}",
        // Calls, with messages of other packages.
        "::tonic::IntoRequest<super::super::super::google::cloud::location::GetLocationRequest",
        "::gax_client::UnaryCall<T,super::super::super::google::cloud::location::Location",
        "::tonic::IntoRequest<super::super::super::google::longrunning::GetOperationRequest",
        "pubfncancel_operation(&self,request",
        // Lists of other packages.
        "pubfnlist_locations_paged(",
        "super::super::super::google::cloud::location::ListLocationsResponse,super::super::super::google::cloud::location::Location,>",
        "super::super::super::google::longrunning::ListOperationsResponse,super::super::super::google::longrunning::Operation,>",
    ] {
        assert!(library.contains(part), "{part} in {library}");
    }
    assert!(!library.contains("begin_operation"), "an operation that nobody polls");
    let archive = module(content(&generated, "mixed.v1.rs"), "archive_gax");
    assert_eq!(methods(&archive).len(), 9);
    for nobody in ["nothing_gax", "locations_gax", "operations_gax", "iam_policy_gax"] {
        assert!(generated.files().iter().all(|file| !file.content().contains(nobody)), "{nobody}");
    }
    assert!(content(&generated, "google.cloud.location.rs").contains("pub mod locations_client "));
}

#[test]
fn a_mixed_in_rpc_has_the_policy_of_its_host() {
    let generated = generate(library());
    let code = content(&generated, "mixed.v1.rs");
    let library = module(code, "library_gax");
    let place = |name: &str| {
        let names = format!("\"{name}\",\"/");
        let info = library.split("method_info(").find(|info| info.contains(&names)).unwrap();
        info.split("RETRY_PARAM_DEFINITIONS[").nth(1).unwrap().split(']').next().unwrap().to_owned()
    };
    // The entry for the service; that of the method; the one that names the mixin's own service has no effect.
    assert_eq!(place("GetOperation"), place("GetBook"));
    assert_eq!(place("CancelOperation"), place("Reindex"));
    assert_eq!(place("GetLocation"), place("GetBook"));
    for docs in [
        "/// Polled after 60 s, times 1.25, 6 min at most, for 2 h in all.",
        "/// Polled after 5 s, times 1.5, 45 s at most, for 5 min in all.",
        "/// Gathered up to 100 elements, 1048576 bytes or 10 ms; 1000 elements may be outstanding (more are rejected).",
    ] {
        assert!(code.contains(docs), "{docs}");
    }
}

#[test]
fn without_service_yaml_nothing_is_mixed_in() {
    let builder = configure().retry_table(data("library_grpc_service_config.json"));
    let generated = generate(builder);
    let library = module(content(&generated, "mixed.v1.rs"), "library_gax");
    assert_eq!(methods(&library).len(), 6);
    assert!(content(&generated, "google.cloud.location.rs").contains("pub mod locations_gax "));
    assert!(content(&generated, "mixed.v1.rs").contains("pub mod nothing_gax "));
}

#[test]
fn a_mixin_has_to_be_among_the_protos() {
    let generated = library().generate(&[LIBRARY], &[DATA]).unwrap();
    let library = module(content(&generated, "mixed.v1.rs"), "library_gax");
    assert_eq!(methods(&library).len(), 6);
    assert!(content(&generated, "google.cloud.location.rs").is_empty());
    // One warning for each, and none about the names that the table has for their methods.
    let findings: Vec<String> = generated.findings().iter().map(ToString::to_string).collect();
    let of = |methods: &str, service: &str, file: &str| {
        format!(
            "warning[missing-mixin]: the service YAML mixes in {methods} of {service}, whose proto is not compiled, so \
             that clients don't have them; add {file} to the protos"
        )
    };
    assert_eq!(
        findings,
        [
            of("CancelOperation, GetOperation, ListOperations", "google.longrunning.Operations", OPERATIONS),
            of("GetLocation, ListLocations", "google.cloud.location.Locations", LOCATIONS),
            of("GetIamPolicy, SetIamPolicy, TestIamPermissions", "google.iam.v1.IAMPolicy", POLICIES),
        ]
    );
}

#[test]
fn over_existing_messages_mixed_in_rpcs_have_theirs() {
    let builder =
        library().extern_path(".google", "::types::google").extern_path(".mixed.v1", "::types::mixed");
    let generated = generate(builder);
    let names: Vec<&str> = generated.files().iter().map(GeneratedFile::name).collect();
    assert_eq!(names, ["mixed.v1.rs"]);
    let library = module(content(&generated, "mixed.v1.rs"), "library_gax");
    let call = "IntoRequest<::types::google::cloud::location::GetLocationRequest,>";
    assert!(library.contains(call), "{library}");
    let list = "::types::google::cloud::location::ListLocationsResponse,::types::google::cloud::location::Location,>";
    assert!(library.contains(list), "{library}");
}

#[test]
fn requests_are_batched_as_the_descriptor_says() {
    let [without, with] = [false, true].map(|batching| generate(library().build_batching(batching)));
    assert!(!content(&without, "mixed.v1.rs").contains("gax_batching"));
    let library = module(content(&with, "mixed.v1.rs"), "library_gax");
    for part in [
        "impl<T:::gax_client::GrpcTransport>LibraryClient<T>whereT::Future:'static,",
        "pubfnpublish_batching(&self)->::gax_batching::Batching<super::PublishRequest,super::PublishResponse,::tonic::Status,>",
        "merged.messages.append(&mutrequest.messages)",
        "(request.topic.clone(),request.r#type.clone(),request.labels.clone(),)",
        ".settings(BATCHING_SETTINGS[0].clone())",
    ] {
        assert!(library.contains(part), "no {part} in {library}");
    }
}

#[test]
fn a_descriptor_whose_fields_are_not_there_is_a_warning() {
    let yaml = std::fs::read_to_string(data("library_gapic.yaml")).unwrap();
    for (field, unfit, reason) in [
        (
            "batched_field: messages",
            "batched_field: topic",
            "topic, which is not a repeated field of the request",
        ),
        (
            "batched_field: messages",
            "batched_field: labels",
            "labels, which is not a repeated field of the request",
        ),
        ("- type", "- kind", "kind, which is not a field of the request outside of a oneof"),
        ("message_ids", "ids", "ids, which is not a repeated field of the response"),
    ] {
        let builder = configure()
            .retry_table(data("library_grpc_service_config.json"))
            .gapic_yaml_text("a.yaml", yaml.replace(field, unfit))
            .build_batching(true)
            .service_yaml(data("library_v1.yaml"));
        let generated = generate(builder);
        let warning = format!("the batch_descriptor of Publish of mixed.v1.Library names {reason}");
        let warnings = generated.findings();
        assert!(warnings.iter().any(|found| found.message().starts_with(&warning)), "{warnings:?}");
        assert!(!content(&generated, "mixed.v1.rs").contains("publish_batching"));
    }
}

#[test]
fn gapic_yaml_may_be_a_table_as_well() {
    let builder = configure()
        .retry_table(data("library_grpc_service_config.json"))
        .retry_table(data("library_gapic.yaml"))
        .service_yaml(data("library_v1.yaml"));
    assert_eq!(generate(builder).files(), generate(library()).files());
}

#[test]
fn what_is_read_is_an_input_and_what_can_t_be_read_is_named() {
    let inputs = generate(library()).inputs().to_vec();
    for name in ["library_grpc_service_config.json", "library_gapic.yaml", "library_v1.yaml"] {
        assert!(inputs.contains(&data(name)), "{name}");
    }
    let error = |builder: Builder| builder.generate(&[LIBRARY], &[DATA]).unwrap_err().to_string();
    assert!(error(library().service_yaml("no.yaml")).starts_with("can't read the service YAML no.yaml: "));
    assert!(error(library().gapic_yaml("no.yaml")).starts_with("can't read the GAPIC YAML no.yaml: "));
    assert_eq!(error(library().service_yaml_text("a.yaml", "[1]")), "a.yaml:1:1: [1] is not a service YAML");
    assert_eq!(
        error(library().gapic_yaml_text("a.yaml", "interfaces: 1")),
        "a.yaml:1:13: 1 is a number, but interfaces is an array"
    );
}

/// The getters of a stub table, as `gax table show --format stub-tables` prints them, have their functions.
#[test]
fn every_row_of_a_stub_table_has_its_accessors() {
    let table = RetryTable::from_path(data("library_grpc_service_config.json")).unwrap();
    let protos = [LIBRARY, LOCATIONS, OPERATIONS, POLICIES];
    let services = describe_protos(&protos, &[DATA]).unwrap().services().to_vec();
    let services = ServiceYaml::from_path(data("library_v1.yaml")).unwrap().mix_in(services);
    let code = generate(library());
    let code = content(&code, "mixed.v1.rs");
    let mut rows = 0;
    for (stub, module_name) in table.stub_tables(&services).iter().zip(["library_gax", "archive_gax"]) {
        let module = module(code, module_name);
        for row in stub.rows() {
            let name = row.getter().strip_suffix("Settings").unwrap().to_snake_case();
            let name = match (name.as_str(), row.kind()) {
                ("move", _) => "r#move",
                // The RPC MoveOperation keeps its name, and the operations that Move starts have another.
                ("move_operation", kind) if kind != RowKind::Unary => "move_operation_rpc",
                (name, _) => name,
            };
            let is_operation = matches!(row.kind(), RowKind::OperationInitial | RowKind::OperationPolling);
            let settings = if is_operation { "OperationCallSettings" } else { "CallSettings" };
            let getter = format!("pubfn{name}(&self)->&::gax_client::{settings}{{");
            let setter = format!("pubfn{name}(&mutself)->&mut::gax_client::{settings}{{");
            assert!(module.contains(&getter) && module.contains(&setter), "{name} in {module_name}");
            if !is_operation {
                assert!(module.contains(&format!("pubfn{name}(&self,request:")), "{name} in {module_name}");
            }
            if row.kind() == RowKind::Paged {
                assert!(module.contains(&format!("pubfn{name}_paged(&self,request:")), "{name}_paged");
            }
            rows += 1;
        }
    }
    assert_eq!(rows, 6 + 2 * 2 + 8 + 1 + 8, "RPCs of the library, operations, mixins; those of the archive");
}

/// Google's Redis API: its settings, row by row, as the published Java client has them.
#[test]
fn the_redis_apis_rows_are_those_of_its_java_client() {
    let inputs = "retry-tables/inputs/google.cloud.redis.v1";
    let Some(shared) = shared_with(inputs) else { return };
    let inputs = shared.join(inputs);
    let generated = configure()
        .dialect(Dialect::GaxJava)
        .retry_table(inputs.join("redis_grpc_service_config.json"))
        .gapic_yaml(inputs.join("redis_gapic.yaml"))
        .service_yaml(inputs.join("redis_v1.yaml"))
        .generate(&["google/cloud/redis/v1/cloud_redis.proto", LOCATIONS], &[shared.join("protos")])
        .unwrap();
    let found = methods(&module(content(&generated, "google.cloud.redis.v1.rs"), "cloud_redis_gax"));
    let expected =
        std::fs::read_to_string(shared.join("retry-tables/expected/google.cloud.redis.v1.json")).unwrap();
    let of_kind = |kind: &str| {
        let rows = expected.lines().filter(|line| line.contains(&format!("\"kind\": \"{kind}\"")));
        let path = |line: &str| {
            line.split_once("\"fullMethod\": \"").unwrap().1.split('"').next().unwrap().to_owned()
        };
        rows.map(|line| format!("/{}", path(line))).collect::<Vec<_>>()
    };
    let polled: Vec<String> =
        found.iter().filter(|(_, beside)| beside == "polling").map(|(path, _)| path.clone()).collect();
    assert_eq!(polled, of_kind("operation-polling"));
    assert!(!polled.is_empty());
    let all = expected
        .lines()
        .filter(|line| line.contains("\"fullMethod\"") && !line.contains("\"kind\": \"operation-"));
    let all: Vec<&str> =
        all.map(|line| line.split_once("\"fullMethod\": \"").unwrap().1.split('"').next().unwrap()).collect();
    assert_eq!(found.iter().map(|(path, _)| path.trim_start_matches('/')).collect::<Vec<_>>(), all);
}

/// Options that prost's own types of descriptors drop are still in the bytes.
#[test]
fn encoded_descriptors_tell_which_rpcs_start_operations() {
    let from_protos = generate(library());
    let from_bytes = library().generate_encoded_fds(from_protos.descriptor_set()).unwrap();
    assert!(content(&from_bytes, "mixed.v1.rs").contains("fn reindex_operation("));
    let set = prost_types::FileDescriptorSet::decode(from_protos.descriptor_set()).unwrap();
    let from_types = library().generate_fds(set).unwrap();
    assert!(!content(&from_types, "mixed.v1.rs").contains("fn reindex_operation("));
}
