//! Generated settings against those of the published Java clients.
//!
//! `data/` holds what the Java clients' settings are at run time, read by reflection.

#[cfg(not(google_protos))]
#[test]
fn settings_are_those_of_the_java_clients() {
    tonic_gax_optional_data::skipped(
        &"there were no protos of Google's when this was built (see TONIC_GAX_SHARED)",
    );
}

#[cfg(google_protos)]
mod with_protos {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

    use gax_client::MethodInfo;
    use serde_json::Value;
    use std::collections::HashMap;
    use std::time::Duration;
    use tonic_gax::{Code, CodeSet, RetrySettings};
    use tonic_gax_api_tests::asset::google::cloud::asset::v1::AssetServiceStubSettings;
    use tonic_gax_api_tests::published::google::cloud::asset::v1 as published;
    use tonic_gax_api_tests::redis::google::cloud::redis::v1::CloudRedisStubSettings;

    const ASSET: &str = include_str!("../../data/google.cloud.asset.v1.json");
    const REDIS: &str = include_str!("../../data/google.cloud.redis.v1.json");

    /// The codes, settings and methods of a generated `StubSettings`.
    struct Generated {
        codes: &'static [(&'static str, CodeSet)],
        params: &'static [(&'static str, RetrySettings)],
        methods: &'static [MethodInfo],
    }

    fn codes(value: &Value) -> CodeSet {
        value.as_array().unwrap().iter().map(|code| code.as_str().unwrap().parse::<Code>().unwrap()).collect()
    }

    /// A duration of which zero means none.
    fn limit(value: &Value) -> Option<Duration> {
        Some(Duration::from_millis(value.as_u64().unwrap())).filter(|duration| !duration.is_zero())
    }

    fn settings(value: &Value) -> RetrySettings {
        let attempts = u32::try_from(value["maxAttempts"].as_u64().unwrap()).unwrap();
        // Java prints zero and a multiplier of one where nobody has set a delay.
        let delay = limit(&value["initialRetryDelayMs"]);
        let multiplier = value["retryDelayMultiplier"].as_f64().unwrap();
        let builder = RetrySettings::builder()
            .total_timeout(limit(&value["totalTimeoutMs"]))
            .initial_retry_delay(delay)
            .retry_delay_multiplier(delay.map(|_| multiplier))
            .max_retry_delay(limit(&value["maxRetryDelayMs"]))
            .max_attempts(Some(attempts).filter(|attempts| *attempts > 0))
            .jittered(value["jittered"].as_bool().unwrap())
            .initial_rpc_timeout(limit(&value["initialRpcTimeoutMs"]))
            .rpc_timeout_multiplier(value["rpcTimeoutMultiplier"].as_f64().unwrap())
            .max_rpc_timeout(limit(&value["maxRpcTimeoutMs"]));
        builder.build().unwrap()
    }

    /// The rows of methods; those of the operations that they start, by kind and name.
    fn rows(service: &Value) -> (Vec<&Value>, HashMap<(&str, &str), &Value>) {
        let is_operation = |row: &&Value| row["kind"].as_str().unwrap().starts_with("operation-");
        let rows = service["rows"].as_array().unwrap().iter();
        let (operations, methods): (Vec<&Value>, Vec<&Value>) = rows.partition(is_operation);
        let operations = operations
            .into_iter()
            .map(|row| ((row["kind"].as_str().unwrap(), row["method"].as_str().unwrap()), row));
        (methods, operations.collect())
    }

    /// The names in the order of their first use, of the definitions that these rows use.
    fn names<'a>(rows: &[&'a Value], key: &str) -> Vec<&'a str> {
        let mut names = Vec::new();
        for row in rows {
            let name = row[key].as_str().unwrap();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn compare(json: &str, generated: &Generated) -> usize {
        let expected: Value = serde_json::from_str(json).unwrap();
        let service = &expected["services"][0];
        let (rows, operations) = rows(service);

        assert_eq!(
            generated.codes.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            names(&rows, "codesKey")
        );
        assert_eq!(
            generated.params.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            names(&rows, "paramsKey")
        );
        for (name, value) in generated.codes {
            assert_eq!(*value, codes(&service["retryCodeDefinitions"][name]), "{name}");
        }
        for (name, value) in generated.params {
            assert_eq!(*value, settings(&service["retryParamDefinitions"][name]), "{name}");
        }

        assert_eq!(generated.methods.len(), rows.len());
        for (method, row) in generated.methods.iter().zip(&rows) {
            let name = method.name();
            assert_eq!(name, row["method"].as_str().unwrap());
            assert_eq!(method.path(), format!("/{}", row["fullMethod"].as_str().unwrap()));
            assert_eq!(method.kind().as_str(), row["kind"].as_str().unwrap(), "{name}");
            assert_eq!(method.codes_key(), row["codesKey"].as_str().unwrap(), "{name}");
            assert_eq!(method.params_key(), row["paramsKey"].as_str().unwrap(), "{name}");
            assert_eq!(method.retryable_codes(), codes(&row["retryableCodes"]), "{name}");
            assert_eq!(*method.retry_settings(), settings(&row["retrySettings"]), "{name}");
            let initial = operations.get(&("operation-initial", name));
            let polling = operations.get(&("operation-polling", name));
            assert_eq!(
                method.polling_settings().cloned(),
                polling.map(|row| settings(&row["retrySettings"]))
            );
            assert_eq!(initial.map(|row| &row["paramsKey"]), polling.map(|_| &row["paramsKey"]), "{name}");
            assert_eq!(method.batching_settings(), None, "{name}");
        }
        rows.len() + operations.len()
    }

    #[test]
    fn the_asset_apis_settings_are_those_of_its_java_client() {
        let generated = Generated {
            codes: AssetServiceStubSettings::retryable_code_definitions(),
            params: AssetServiceStubSettings::retry_param_definitions(),
            methods: AssetServiceStubSettings::methods(),
        };
        assert_eq!(compare(ASSET, &generated), 27);
    }

    #[test]
    fn the_same_over_published_messages() {
        let generated = Generated {
            codes: published::AssetServiceStubSettings::retryable_code_definitions(),
            params: published::AssetServiceStubSettings::retry_param_definitions(),
            methods: published::AssetServiceStubSettings::methods(),
        };
        assert_eq!(compare(ASSET, &generated), 27);
    }

    #[test]
    fn the_redis_apis_settings_are_those_of_its_java_client() {
        let generated = Generated {
            codes: CloudRedisStubSettings::retryable_code_definitions(),
            params: CloudRedisStubSettings::retry_param_definitions(),
            methods: CloudRedisStubSettings::methods(),
        };
        assert_eq!(compare(REDIS, &generated), 29);
    }
}
