//! Tables written as those whose methods name their definitions.

use super::forms::TABLE;
use super::{read, shared};
use crate::{Dialect, MethodDescription, RetryTable, ServiceDescription, TableFormat};
use gax_retry::MethodKind;
use std::path::Path;

fn converted(format: TableFormat) -> (String, Vec<String>) {
    let conversion = read(Dialect::AsWritten, TABLE).convert(format);
    (conversion.text().to_owned(), messages(&conversion))
}

fn messages(conversion: &crate::Conversion) -> Vec<String> {
    conversion.findings().iter().map(|finding| finding.message().to_owned()).collect()
}

fn service(name: &str, methods: &[&str]) -> ServiceDescription {
    methods.iter().fold(ServiceDescription::new(name), |service, method| {
        service.with_method(MethodDescription::new(*method, MethodKind::Unary))
    })
}

#[test]
fn methods_go_to_a_client_config_and_back() {
    let (text, messages) = converted(TableFormat::ClientConfig);
    let back = read(Dialect::AsWritten, &text);
    let table = read(Dialect::AsWritten, TABLE);
    for method in ["Get", "List"] {
        let (one, other) = (table.lookup("a.B", method).unwrap(), back.lookup("a.B", method).unwrap());
        assert_eq!(one.codes(), other.codes());
        let same = one.settings().clone().to_builder().max_attempts(None).build().unwrap();
        assert_eq!(&same, other.settings());
    }
    assert_eq!(back.lookup("a.B", "Get").unwrap().codes_key(), "aborted_unavailable");
    assert_eq!(back.lookup("a.B", "List").unwrap().codes_key(), "idempotent");
    assert_eq!(
        messages,
        [
            "retry throttling of every call can't be expressed in a client config",
            "a default for methods of a.B can't be expressed in a client config",
            "a default for methods of everything can't be expressed in a client config",
            "max_attempts of a.B/Get can't be expressed in a client config",
        ]
    );
}

#[test]
fn known_services_have_all_their_methods() {
    let table = read(Dialect::AsWritten, TABLE);
    let known = [service("a.B", &["List", "Other"]), service("c.D", &["Any"])];
    let conversion = table.convert_for(TableFormat::ClientConfig, &known);
    let back = read(Dialect::AsWritten, conversion.text());
    let names: Vec<_> = back.names().map(|name| (name.service(), name.method().unwrap())).collect();
    assert_eq!(names, [("a.B", "List"), ("a.B", "Other"), ("c.D", "Any")]);
    assert_eq!(back.lookup("a.B", "Other").unwrap().codes_key(), "non_idempotent");
    assert_eq!(
        messages(&conversion),
        [
            "retry throttling of every call can't be expressed in a client config",
            "wait_for_ready of c.D/Any can't be expressed in a client config",
            "a call without a timeout of c.D/Any can't be expressed in a client config",
        ]
    );
}

#[cfg(feature = "yaml")]
#[test]
fn gapic_yaml_has_names_for_everything() {
    let (text, messages) = converted(TableFormat::GapicYaml);
    assert_eq!(
        text,
        "\
type: com.google.api.codegen.ConfigProto
config_schema_version: \"1.0.0\"
interfaces:
- name: a.B
  retry_codes_def:
  - name: retry_policy_0_codes
    retry_codes: [ABORTED, UNAVAILABLE]
  - name: retry_policy_1_codes
    retry_codes: [DEADLINE_EXCEEDED, UNAVAILABLE]
  retry_params_def:
  - name: retry_policy_0_params
    initial_retry_delay_millis: 100
    retry_delay_multiplier: 2
    max_retry_delay_millis: 10000
    initial_rpc_timeout_millis: 60000
    rpc_timeout_multiplier: 1
    max_rpc_timeout_millis: 60000
    total_timeout_millis: 60000
  - name: retry_policy_1_params
    initial_retry_delay_millis: 1000
    retry_delay_multiplier: 1.3
    max_retry_delay_millis: 10000
    initial_rpc_timeout_millis: 5000
    rpc_timeout_multiplier: 1
    max_rpc_timeout_millis: 5000
    total_timeout_millis: 5000
  methods:
  - name: Get
    retry_codes_name: retry_policy_0_codes
    retry_params_name: retry_policy_0_params
    timeout_millis: 60000
  - name: List
    retry_codes_name: retry_policy_1_codes
    retry_params_name: retry_policy_1_params
    timeout_millis: 5000
"
    );
    assert_eq!(
        messages,
        [
            "retry throttling of every call can't be expressed in GAPIC YAML",
            "a default for methods of a.B can't be expressed in GAPIC YAML",
            "a default for methods of everything can't be expressed in GAPIC YAML",
            "max_attempts of a.B/Get can't be expressed in GAPIC YAML",
        ]
    );
}

/// Every form that knows nothing of that setting says that it is lost.
#[cfg(feature = "toml")]
fn is_lost_aloud(setting: &str, name: &str) {
    let text = "[[entry]]\nfor = [\"a.B/C\"]\ntimeout = \"60s\"\ncodes = [\"UNAVAILABLE\"]\n".to_owned();
    let table = read(Dialect::AsWritten, &(text + setting));
    let targets: [(crate::ConversionTarget, &str); 5] = [
        (TableFormat::GapicYaml.into(), "GAPIC YAML"),
        (TableFormat::ClientConfig.into(), "a client config"),
        (TableFormat::ServiceConfig.into(), "a gRPC service config"),
        (crate::ConversionTarget::Envoy, "Envoy"),
        (crate::ConversionTarget::Istio, "Istio"),
    ];
    for (target, form) in targets {
        let lost = messages(&table.convert(target));
        let expected = format!("{name} of a.B/C can't be expressed in {form}");
        assert!(lost.contains(&expected), "{form}: {lost:?}");
    }
}

#[cfg(feature = "toml")]
#[test]
fn the_longest_delay_of_a_server_is_lost_aloud() {
    is_lost_aloud("max_server_delay = \"90s\"\n", "max_server_delay");
}

#[cfg(feature = "toml")]
#[test]
fn timeouts_of_streams_are_lost_aloud() {
    is_lost_aloud("idle_timeout = \"90s\"\n", "wait and idle timeouts of streams");
}

/// Other readers have no defaults: for them a maximum of zero is one.
#[cfg(all(feature = "yaml", feature = "toml"))]
#[test]
fn an_initial_delay_by_itself_is_written_with_the_defaults_beside_it() {
    let text = "[[entry]]\nfor = [\"a.B/C\"]\ntimeout = \"60s\"\ncodes = [\"UNAVAILABLE\"]\n\
                initial_retry_delay = \"200ms\"\n";
    let table = read(Dialect::AsWritten, text);
    for (format, form) in
        [(TableFormat::GapicYaml, "GAPIC YAML"), (TableFormat::ClientConfig, "a client config")]
    {
        let conversion = table.convert(format);
        let back = read(Dialect::AsWritten, conversion.text());
        let settings = back.lookup("a.B", "C").unwrap().settings();
        let max = Some(std::time::Duration::from_secs(60));
        assert_eq!((settings.retry_delay_multiplier(), settings.max_retry_delay()), (Some(1.3), max));
        assert_eq!(messages(&conversion), [format!("default delays are written out for a.B/C in {form}")]);
    }
}

#[cfg(feature = "yaml")]
#[test]
fn times_below_a_millisecond_are_rounded_and_reported() {
    let text = r#"{"methodConfig": [{"name": [{"service": "a.B", "method": "C"}], "timeout": "0.0001s"}]}"#;
    let conversion = read(Dialect::AsWritten, text).convert(TableFormat::GapicYaml);
    assert_eq!(messages(&conversion), ["times are rounded for a.B/C in GAPIC YAML"]);
    let back = read(Dialect::AsWritten, conversion.text());
    let timeout = back.lookup("a.B", "C").unwrap().settings().total_timeout();
    assert_eq!(timeout, Some(std::time::Duration::from_millis(1)));
}

/// In a client config a method's own timeout goes before that of the params that it shares with others.
#[cfg(feature = "yaml")]
#[test]
fn one_name_never_stands_for_two_values() {
    let text = r#"{"interfaces": {"a.B": {
      "retry_codes": {"none": [], "some": ["UNAVAILABLE"]},
      "retry_params": {"default": {"initial_retry_delay_millis": 100, "retry_delay_multiplier": 2,
        "max_retry_delay_millis": 1000}},
      "methods": {
        "C": {"timeout_millis": 1000, "retry_codes_name": "some", "retry_params_name": "default"},
        "D": {"timeout_millis": 2000, "retry_codes_name": "none", "retry_params_name": "default"}
      }}}}"#;
    let table = read(Dialect::AsWritten, text);
    let conversion = table.convert(TableFormat::GapicYaml);
    let back = read(Dialect::AsWritten, conversion.text());
    for method in ["C", "D"] {
        let (one, other) = (table.lookup("a.B", method).unwrap(), back.lookup("a.B", method).unwrap());
        assert_eq!((one.settings(), one.codes()), (other.settings(), other.codes()), "{method}");
        assert_eq!(one.codes_key(), other.codes_key());
    }
    assert_eq!(back.lookup("a.B", "C").unwrap().params_key(), "default_2");
    assert_eq!(back.lookup("a.B", "D").unwrap().params_key(), "default_3");
}

#[cfg(feature = "toml")]
#[test]
fn polling_and_batching_are_lost_aloud() {
    let table = read(
        Dialect::AsWritten,
        r#"
[[entry]]
for = ["a.B/Start"]
timeout = "5s"
polling = { initial_delay = "1s", delay_multiplier = 2, max_delay = "5s", total_timeout = "60s" }

[[entry]]
for = ["a.B/Publish"]
timeout = "5s"
batching = { element_count_threshold = 10, request_byte_threshold = 1000, delay_threshold = "10ms" }
"#,
    );
    let lost = |target: crate::ConversionTarget| {
        let of_both = |message: &String| message.starts_with("polling") || message.starts_with("batching");
        messages(&table.convert(target)).into_iter().filter(of_both).collect::<Vec<_>>()
    };
    let both = |format| {
        [
            format!("polling of a.B/Start can't be expressed in {format}"),
            format!("batching of a.B/Publish can't be expressed in {format}"),
        ]
    };
    assert_eq!(lost(crate::ConversionTarget::Envoy), both("Envoy"));
    assert_eq!(lost(crate::ConversionTarget::Istio), both("Istio"));
    assert_eq!(lost(TableFormat::ClientConfig.into()), both("a client config"));
    assert_eq!(lost(TableFormat::ServiceConfig.into()), both("a gRPC service config"));
    assert_eq!(lost(TableFormat::GapicYaml.into()), both("GAPIC YAML")[1..]);
    assert_eq!(lost(TableFormat::Toml.into()), [""; 0]);
}

#[cfg(feature = "yaml")]
#[test]
fn gapic_yaml_goes_to_gapic_yaml_and_back() {
    let Some(shared) = shared() else { return };
    let path = shared.join("retry-tables/gapic-yaml-v1/google/cloud/asset/v1/cloudasset_gapic.yaml");
    let table = RetryTable::from_path(path).unwrap();
    let conversion = table.convert(TableFormat::GapicYaml);
    assert_eq!(conversion.findings(), []);
    let back = read(Dialect::AsWritten, conversion.text());
    let service = "google.cloud.asset.v1.AssetService";
    for method in ["ExportAssets", "BatchGetAssetsHistory"] {
        let (one, other) = (table.lookup(service, method).unwrap(), back.lookup(service, method).unwrap());
        assert_eq!((one.settings(), one.codes()), (other.settings(), other.codes()));
        assert_eq!((one.codes_key(), one.params_key()), (other.codes_key(), other.params_key()));
    }
    assert_eq!(table.polling(service, "ExportAssets"), back.polling(service, "ExportAssets"));
}

/// Client configs that were published for Node and not changed by hand, and the service configs that they were made
/// from.
const PUBLISHED: [(&str, &str); 6] = [
    ("asset/asset_service", "cloud/asset/v1/cloudasset"),
    ("dlp/dlp_service", "privacy/dlp/v2/dlp"),
    ("kms/key_management_service", "cloud/kms/v1/cloudkms"),
    ("monitoring/metric_service", "monitoring/v3/monitoring"),
    ("redis/cloud_redis", "cloud/redis/v1/redis"),
    ("secret-manager/secret_manager_service", "cloud/secretmanager/v1/secretmanager"),
];

/// The one part of a published file that its service's methods come from.
fn published(path: &Path) -> (serde_json::Value, ServiceDescription) {
    let text = std::fs::read_to_string(path).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (name, interface) = value["interfaces"].as_object().unwrap().iter().next().unwrap();
    let methods: Vec<&str> = interface["methods"].as_object().unwrap().keys().map(String::as_str).collect();
    let service = service(name, &methods);
    (interface.clone(), service)
}

#[test]
fn client_configs_are_those_that_google_publishes() {
    let Some(shared) = shared() else { return };
    let tables = shared.join("retry-tables");
    for (node, grpc) in PUBLISHED {
        let (expected, service) =
            published(&tables.join(format!("node-client-config/{node}_client_config.json")));
        let path = tables.join(format!("corpus/google/{grpc}_grpc_service_config.json"));
        let table = RetryTable::from_path(path).unwrap();
        let conversion = table.convert_for(TableFormat::ClientConfig, std::slice::from_ref(&service));
        let written: serde_json::Value = serde_json::from_str(conversion.text()).unwrap();
        let written = &written["interfaces"][service.name()];
        assert_eq!(written["methods"], expected["methods"], "{node}");
        for name in ["retry_codes", "retry_params"] {
            for (key, value) in written[name].as_object().unwrap() {
                assert_eq!(value, &expected[name][key], "{node}: {key}");
            }
        }
    }
}
