use super::session;
use insta::assert_snapshot;
use std::path::{Path, PathBuf};
use tonic_gax_optional_data::shared_with;

const LIBRARY: &str = "library_grpc_service_config.json";

#[test]
fn methods_come_with_lines_and_attempts() {
    let lines = [
        format!("table show {LIBRARY}"),
        format!("table show {LIBRARY} --method ListBooks --dialect gax-java"),
        "table show --proto-path table --proto messy.proto table/messy_grpc_service_config.json".to_owned(),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn methods_for_programs() {
    assert_snapshot!(session(&format!("table show {LIBRARY} --method DeleteBook --format json --load")));
}

/// It takes a hundred drawn outages for each policy.
#[test]
fn load_is_estimated_where_it_is_asked_for() {
    let load = |flag: &str| -> serde_json::Value {
        let line = format!("table show {LIBRARY} --method ListBooks --format json{flag}");
        let shown: serde_json::Value = serde_json::from_str(&super::stdout(&line)).unwrap();
        shown["methods"][0]["load"].clone()
    };
    assert_eq!(load(""), serde_json::Value::Null);
    assert!(load(" --load").as_f64().is_some_and(|load| load > 1.0));
    assert_snapshot!(session(&format!("table show {LIBRARY} --load")));
}

#[test]
fn programs_see_all_that_a_table_says() {
    let folder = super::folder("show_all");
    let config = folder.join("config.json");
    let text = r#"{
        "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
        "loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": "a"},
        "methodConfig": [{
            "name": [{"service": "a.B", "method": "C"}], "timeout": "5s", "waitForReady": true,
            "maxRequestMessageBytes": 1024, "maxResponseMessageBytes": "2048",
            "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0.5s", "nonFatalStatusCodes": ["UNAVAILABLE"]}
        }]
    }"#;
    std::fs::write(&config, text).unwrap();
    let json = |line: &str| -> serde_json::Value {
        serde_json::from_str(&super::stdout(&format!("table show --format json {line}"))).unwrap()
    };
    let shown = json(&config.display().to_string());
    assert_eq!(shown["retry_throttling"].to_string(), r#"{"max_tokens":10.0,"token_ratio":0.1}"#);
    assert_eq!(
        shown["other_fields"].to_string(),
        r#"{"healthCheckConfig":{"serviceName":"a"},"loadBalancingConfig":[{"round_robin":{}}]}"#
    );
    let method = &shown["methods"][0];
    assert_eq!(method["wait_for_ready"], true);
    assert_eq!(
        (&method["max_request_message_bytes"], &method["max_response_message_bytes"]),
        (&1024.into(), &2048.into())
    );
    assert_eq!(
        method["hedging"].to_string(),
        r#"{"delay_ms":500,"delay_percentile":null,"max_attempts":3,"non_fatal_codes":["UNAVAILABLE"]}"#
    );
    assert!(method["polling"].is_null() && method["batching"].is_null());
    let toml = folder.join("table.toml");
    let text = "[[entry]]\nfor = [\"a.B/C\"]\ntimeout = \"5s\"\nwait_timeout = \"30s\"\n\
                idle_timeout = \"1500ms\"\npolling = { initial_delay = \"1s\", delay_multiplier = 2, \
                max_delay = \"9s\", total_timeout = \"1h\" }\nbatching = { element_count_threshold = 7, \
                request_byte_threshold = 8, delay_threshold = \"10ms\" }\nallow = [{ rule = \"no-codes\", reason = \"so\" }]\n\
                [http]\nbase = \"http-methods\"\n";
    std::fs::write(&toml, text).unwrap();
    let shown = json(&toml.display().to_string());
    let method = &shown["methods"][0];
    assert_eq!(
        method["polling"].to_string(),
        r#"{"delay_multiplier":2.0,"initial_delay_ms":1000,"max_delay_ms":9000,"total_timeout_ms":3600000}"#
    );
    assert_eq!(
        method["batching"].to_string(),
        r#"{"delay_threshold_ms":10,"element_count_threshold":7,"limit_exceeded":"Ignore","max_outstanding_bytes":null,"max_outstanding_elements":null,"request_byte_threshold":8}"#
    );
    assert_eq!(method["hedging"], serde_json::Value::Null);
    assert_eq!((&method["wait_timeout_ms"], &method["idle_timeout_ms"]), (&30_000.into(), &1500.into()));
    assert_eq!(shown["allow"].to_string(), r#"[{"reason":"so","rule":"no-codes"}]"#);
    assert_eq!(shown["http"]["rules"][0]["method"], "GET");
    let text = super::stdout(&format!("table show {}", toml.display()));
    for line in ["  wait timeout  | 30 s", "  idle timeout  | 1.5 s"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let text = super::stdout(&format!("table show {}", config.display()));
    for line in [
        "  hedging        | up to 3 attempts, 500 ms apart; non-fatal codes: UNAVAILABLE | config.json:7",
        "  wait for ready | yes",
        "  message sizes  | requests up to 1 KiB, responses up to 2 KiB",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn stub_tables_have_every_method() {
    assert_snapshot!(session(
        "table show --format stub-tables --dialect gax-java --proto-path table --proto messy.proto table/messy_grpc_service_config.json"
    ));
}

/// As Java's generator names the class of `IAMCredentials`; the service keeps its name.
#[test]
fn stub_tables_are_named_and_ordered_as_java_has_them() {
    let folder = super::folder("show_java");
    let proto = r#"
        syntax = "proto3";
        package a.v1;
        option java_package = "com.a.v1";
        message M {}
        service IAMCredentials {
            rpc Talk(stream M) returns (stream M);
            rpc Get(M) returns (M);
            rpc Append(stream M) returns (M);
        }
        service IAMPolicy { rpc Get(M) returns (M); }
        service Empty {}
    "#;
    std::fs::write(folder.join("iam.proto"), proto).unwrap();
    let folder = folder.display();
    let line =
        format!("table show --format stub-tables --dialect gax-java --proto-path {folder} --proto iam.proto");
    let shown: serde_json::Value = serde_json::from_str(&super::stdout(&line)).unwrap();
    let services = shown["services"].as_array().unwrap();
    let names: Vec<_> =
        services.iter().map(|service| (&service["service"], &service["stubSettingsClass"])).collect();
    assert_eq!(
        serde_json::to_string(&names).unwrap(),
        r#"[["a.v1.IAMCredentials","com.a.v1.stub.IamCredentialsStubSettings"],["a.v1.IAMPolicy","com.a.v1.stub.IAMPolicyStubSettings"]]"#
    );
    let rows: Vec<_> = services[0]["rows"].as_array().unwrap().iter().map(|row| &row["method"]).collect();
    assert_eq!(serde_json::to_string(&rows).unwrap(), r#"["Get","Append","Talk"]"#);
}

/// For an API without a table Google's generator is run without one: nothing is retried.
#[test]
fn gax_java_needs_no_table() {
    let protos = "--proto-path table --proto messy.proto";
    let shown = session(&format!("table show --dialect gax-java {protos}"));
    assert!(
        shown.starts_with(&format!(
            "$ gax table show --dialect gax-java {protos}\nexample.messy.v1.Shelves/GetShelf\n"
        )),
        "{shown}"
    );
    assert!(
        shown.ends_with("calls pass through unchanged, without a deadline\n\n--- exit status 0\n"),
        "{shown}"
    );
    let stub = super::stdout(&format!("table show --dialect gax-java {protos} --format stub-tables"));
    assert!(stub.contains(r#""codesKey":"no_retry_codes""#), "{stub}");
    let refused = "error: no table is given; name the file of a retry table\n";
    for line in [format!("table show {protos}"), "table show --dialect gax-java".to_owned()] {
        assert!(session(&line).contains(refused), "{line}");
    }
}

#[test]
fn what_can_t_be_shown_is_refused() {
    let lines = [
        format!("table show {LIBRARY} --method GetBok"),
        format!("table show {LIBRARY} --method GetBook"),
        format!("table show {LIBRARY} --method example.music.v1.Player/Play"),
        format!("table show {LIBRARY} --format stub-tables"),
        format!("table show {LIBRARY} --format stub-tables --method ListBooks"),
        "table show table/broken_grpc_service_config.json".to_owned(),
        "table show table/messy_grpc_service_config.json --dialect grpc".to_owned(),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

pub(crate) fn shared() -> Option<PathBuf> {
    shared_with("retry-tables/expected")
}

/// The names of definitions, in the order in which a document defines them.
fn definitions(json: &str) -> Vec<&str> {
    let keys = json.split('"').collect::<Vec<_>>();
    let is_key = |at: usize| keys.get(at + 1).is_some_and(|next| next.trim_start().starts_with(':'));
    let names = keys.iter().enumerate().filter(|(at, name)| name.contains("retry_") && is_key(*at));
    names.map(|(_, name)| *name).collect()
}

/// Compares `services` of that command line with the published Java client.
fn compare(api: &str, flags: &[&str], table: &str) {
    let Some(shared) = shared() else { return };
    let inputs = shared.join("retry-tables/inputs").join(api);
    let path = |name: &str| inputs.join(name).display().to_string();
    let protos = shared.join("protos").display().to_string();
    let mut args =
        vec!["table".to_owned(), "show".into(), "--format".into(), "stub-tables".into(), "--dialect".into()];
    args.extend(["gax-java".to_owned(), "--proto-path".into(), protos]);
    for flag in flags {
        let is_input = Path::new(flag).extension().is_some_and(|extension| extension == "yaml");
        args.push(if is_input { path(flag) } else { (*flag).to_owned() });
    }
    args.push(path(table));
    let output = super::gax(args.iter().map(String::as_str));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = shared.join(format!("retry-tables/expected/{api}.json"));
    let text = std::fs::read_to_string(expected).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let schema = serde_json::Value::from("stub-tables/1");
    assert_eq!(printed.get("schema"), Some(&schema));
    assert_eq!(printed.get("api"), expected.get("api"));
    assert_eq!(printed.get("services"), expected.get("services"));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(definitions(&printed), definitions(&text), "the order of definitions");
}

#[test]
fn assets_stub_table_is_the_java_clients() {
    let protos =
        ["--proto", "google/cloud/asset/v1/asset_service.proto", "--service-yaml", "cloudasset_v1.yaml"];
    compare("google.cloud.asset.v1", &protos, "cloudasset_grpc_service_config.json");
}

#[test]
fn memorystores_stub_table_is_the_java_clients() {
    let flags = [
        "--proto",
        "google/cloud/redis/v1/cloud_redis.proto",
        "google/cloud/location/locations.proto",
        "--gapic-yaml",
        "redis_gapic.yaml",
        "--service-yaml",
        "redis_v1.yaml",
    ];
    compare("google.cloud.redis.v1", &flags, "redis_grpc_service_config.json");
}

/// pubsub's and longrunning's tables of 2019 each have one: the rest of the table counts.
#[test]
fn a_method_without_definitions_is_skipped_unless_the_protos_have_it() {
    let folder = super::folder("show_skipped");
    let gapic = folder.join("gapic.yaml");
    let text = "config_schema_version: 1.0.0\ninterfaces:\n- name: example.messy.v1.Rooms\n  retry_codes_def:\n  - name: some\n    \
                retry_codes: [UNAVAILABLE]\n  retry_params_def:\n  - name: some\n    total_timeout_millis: 5000\n  methods:\n  - \
                name: GetRoom\n    retry_codes_name: some\n    retry_params_name: some\n  - name: GetRoof\n";
    std::fs::write(&gapic, text).unwrap();
    let show = |protos: &str| {
        session(&format!("table show {protos}{}", gapic.display()))
            .replace(&folder.display().to_string(), "FOLDER")
    };
    let protos = "--proto-path table --proto messy.proto -- ";
    let finding = "FOLDER/gapic.yaml:14:5: warning[skipped-entry]: the method GetRoof has no retry_codes_name, so the \
                   entry of GetRoof is skipped; add retry_codes_name\n";
    for protos in ["", protos] {
        let shown = show(protos);
        assert!(shown.contains("example.messy.v1.Rooms/GetRoom\n  some at gapic.yaml:11\n"), "{shown}");
        assert!(shown.contains(finding), "{shown}");
    }
    std::fs::write(&gapic, text.replace("name: GetRoom\n    retry_codes_name: some\n", "name: GetRoom\n"))
        .unwrap();
    let refused =
        "error: FOLDER/gapic.yaml:11:5: the method GetRoom has no retry_codes_name; add retry_codes_name\n";
    assert!(show(protos).contains(refused), "{}", show(protos));
    assert!(show("").ends_with("--- exit status 0\n"), "{}", show(""));
    let lint = session(&format!("table lint {protos}{}", gapic.display()));
    assert!(lint.contains("error[skipped-entry]: the method GetRoom has no retry_codes_name"), "{lint}");
}

#[test]
fn presets_come_with_their_rules() {
    assert_snapshot!(session("table show --preset storage"));
    assert_snapshot!(session("table show --preset memorystore --format json"));
    let lines = [
        "table show --preset storagee".to_owned(),
        "table show --preset storage --format stub-tables".to_owned(),
        format!("table show --preset storage {LIBRARY}"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}
