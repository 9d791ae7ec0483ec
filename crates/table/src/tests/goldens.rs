//! The settings that published Java clients hold, where they are at hand.

use super::shared;
use crate::{Dialect, MethodDescription, RetryTable, RowKind, ServiceDescription, StubRow, StubTable};
use gax_retry::{MethodKind, RetrySettings};
use serde_json::{Value, json};

/// The services of a golden file, made from its rows: names, order, kinds and mixins.
fn services(golden: &Value) -> Vec<ServiceDescription> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let services = golden["services"].as_array().unwrap().iter().map(|service| {
        let rows = service["rows"].as_array().unwrap();
        let mut description = ServiceDescription::new(text(&service["service"]));
        for row in rows {
            let kind = match row["kind"].as_str().unwrap() {
                "unary" => MethodKind::Unary,
                "paged" => MethodKind::Paged,
                "operation-initial" | "operation-polling" => continue,
                other => panic!("{other}"),
            };
            let mut method = MethodDescription::new(text(&row["method"]), kind);
            let own = text(&row["fullMethod"]).split_once('/').unwrap().0.to_owned();
            if own != description.name() {
                method = method.mixed_in_from(own);
            }
            let starts_operation =
                |other: &Value| other["kind"] == "operation-initial" && other["method"] == row["method"];
            if rows.iter().any(starts_operation) {
                method = method.long_running();
            }
            description = description.with_method(method);
        }
        description
    });
    services.collect()
}

fn settings_json(settings: &RetrySettings) -> Value {
    let ms = |duration: Option<std::time::Duration>| {
        u64::try_from(duration.unwrap_or_default().as_millis()).unwrap()
    };
    json!({
        "initialRetryDelayMs": ms(settings.initial_retry_delay()),
        "retryDelayMultiplier": settings.retry_delay_multiplier().unwrap_or(1.0),
        "maxRetryDelayMs": ms(settings.max_retry_delay()),
        "initialRpcTimeoutMs": ms(settings.initial_rpc_timeout()),
        "rpcTimeoutMultiplier": settings.rpc_timeout_multiplier(),
        "maxRpcTimeoutMs": ms(settings.max_rpc_timeout()),
        "totalTimeoutMs": ms(settings.total_timeout()),
        "maxAttempts": settings.max_attempts().unwrap_or(0),
        "jittered": settings.jittered(),
    })
}

fn row_json(row: &StubRow) -> Value {
    let polling = row.kind() == RowKind::OperationPolling;
    let codes: Vec<_> = row.codes().iter().map(gax_retry::Code::name).collect();
    json!({
        "method": row.method(), "fullMethod": row.full_method(), "getter": row.getter(),
        "kind": row.kind().as_str(), "codesKey": row.codes_key(), "paramsKey": row.params_key(),
        "retryableCodes": if polling { Value::Null } else { json!(codes) },
        "retrySettings": row.settings().map(settings_json),
    })
}

fn assert_same(stub: &StubTable, golden: &Value) {
    let names = |definitions: &Value| definitions.as_object().unwrap().len();
    assert_eq!(stub.service(), golden["service"]);
    assert_eq!(stub.code_definitions().len(), names(&golden["retryCodeDefinitions"]));
    for (name, codes) in stub.code_definitions() {
        let codes: Vec<_> = codes.iter().map(gax_retry::Code::name).collect();
        assert_eq!(golden["retryCodeDefinitions"][name], json!(codes), "{name}");
    }
    assert_eq!(stub.param_definitions().len(), names(&golden["retryParamDefinitions"]));
    for (name, settings) in stub.param_definitions() {
        assert_eq!(golden["retryParamDefinitions"][name], settings_json(settings), "{name}");
    }
    let rows: Vec<_> = stub.rows().iter().map(row_json).collect();
    assert_eq!(json!(rows), golden["rows"]);
}

/// The names of a golden file's definitions, in its order, which a JSON object does not keep.
fn names_in_order(text: &str, object: &str) -> Vec<String> {
    let body = text.split_once(&format!("\"{object}\": {{")).unwrap().1;
    let body = body.split_once("\n   }").unwrap().0;
    body.lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once('"'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

#[test]
fn asset_is_what_the_java_client_holds() {
    let Some(shared) = shared() else { return };
    let text =
        std::fs::read_to_string(shared.join("retry-tables/expected/google.cloud.asset.v1.json")).unwrap();
    let golden: Value = serde_json::from_str(&text).unwrap();
    let path = "retry-tables/corpus/google/cloud/asset/v1/cloudasset_grpc_service_config.json";
    let table = RetryTable::reader().dialect(Dialect::GaxJava).read_path(shared.join(path)).unwrap();
    let stubs = table.stub_tables(&services(&golden));
    assert_eq!(stubs.len(), 1);
    assert_eq!(stubs[0].rows().len(), 27);
    assert_same(&stubs[0], &golden["services"][0]);
    let names: Vec<_> = stubs[0].code_definitions().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, names_in_order(&text, "retryCodeDefinitions"));
    let names: Vec<_> = stubs[0].param_definitions().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, names_in_order(&text, "retryParamDefinitions"));
}

#[test]
fn three_names_of_assets_table_are_in_no_proto() {
    let Some(shared) = shared() else { return };
    let text =
        std::fs::read_to_string(shared.join("retry-tables/expected/google.cloud.asset.v1.json")).unwrap();
    let services = services(&serde_json::from_str(&text).unwrap());
    let path = "retry-tables/corpus/google/cloud/asset/v1/cloudasset_grpc_service_config.json";
    let table = RetryTable::from_path(shared.join(path)).unwrap();
    let unknown: Vec<_> =
        table.unknown_names(&services).iter().map(|finding| finding.message().to_owned()).collect();
    let service = "the service google.cloud.asset.v1.AssetService has no method";
    assert_eq!(
        unknown,
        ["QueryAssetTypes", "TraverseGraph", "IngestAsset"].map(|name| format!("{service} {name:?}"))
    );
}

#[cfg(feature = "yaml")]
#[test]
fn redis_is_what_the_java_client_holds_with_its_polling() {
    let Some(shared) = shared() else { return };
    let tables = shared.join("retry-tables");
    let text = std::fs::read_to_string(tables.join("expected/google.cloud.redis.v1.json")).unwrap();
    let golden: Value = serde_json::from_str(&text).unwrap();
    let inputs = tables.join("inputs/google.cloud.redis.v1");
    let files = ["redis_grpc_service_config.json", "redis_gapic.yaml"]
        .map(|name| RetryTable::reader().dialect(Dialect::GaxJava).read_path(inputs.join(name)).unwrap());
    let stubs = RetryTable::merged(files).unwrap().stub_tables(&services(&golden));
    assert_eq!(stubs[0].rows().len(), 29);
    assert_same(&stubs[0], &golden["services"][0]);
}

#[cfg(feature = "yaml")]
#[test]
fn asset_of_schema_1_is_what_the_java_client_held() {
    let Some(shared) = shared() else { return };
    let tables = shared.join("retry-tables");
    let name = "expected/google.cloud.asset.v1.from-gapic-yaml-v1.json";
    let text = std::fs::read_to_string(tables.join(name)).unwrap();
    let golden: Value = serde_json::from_str(&text).unwrap();
    let yaml = tables.join("gapic-yaml-v1/google/cloud/asset/v1/cloudasset_gapic.yaml");
    let table = RetryTable::reader().dialect(Dialect::GaxJava).read_path(yaml).unwrap();
    assert_same(&table.stub_tables(&services(&golden))[0], &golden["services"][0]);
}
