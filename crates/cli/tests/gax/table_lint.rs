use super::{session, stdout};
use insta::assert_snapshot;
use std::path::Path;

const MESSY: &str = "table/messy_grpc_service_config.json";
const PROTOS: &str = "--proto-path table --proto messy.proto";

#[test]
fn findings_show_their_line() {
    assert_snapshot!(session(&format!("table lint {MESSY}")));
}

#[test]
fn protos_tell_more() {
    assert_snapshot!(session(&format!("table lint {PROTOS} {MESSY} --allow note")));
}

#[test]
fn findings_for_programs() {
    let lines = [
        format!("table lint {MESSY} --format json"),
        format!("table lint {MESSY} --format github"),
        format!("table lint {MESSY} --format sarif --allow note --allow malformed-name"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn sarif_is_what_its_schema_says() {
    let folder = super::folder("lint sarif ü");
    let messy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures").join(MESSY);
    let table = folder.join("a #1 100%.json");
    std::fs::copy(messy, &table).unwrap();
    let log = |path: &Path| -> serde_json::Value {
        let path = path.to_str().unwrap();
        let args =
            ["table", "lint", "--format", "sarif", path, "--proto-path", "table", "--proto", "messy.proto"];
        let output = super::gax(args);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let log = log(&table);
    assert_eq!(super::sarif_shape::faults(&log), [""; 0]);
    let run = &log["runs"][0];
    let uri =
        run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
    assert!(
        uri.starts_with("file:///") && uri.ends_with("/lint%20sarif%20%C3%BC/a%20%231%20100%25.json"),
        "{uri}"
    );
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "cap-equals-timeout").unwrap();
    let page = "https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/reference/lint-numbers.md#cap-equals-timeout";
    assert_eq!(rule["helpUri"], page);
    assert_eq!(rule["help"]["text"], format!("Write a maxBackoff below the timeout. See {page}"));
}

#[test]
fn what_is_denied_fails_and_what_is_allowed_does_not() {
    let status = |flags: &str| {
        let session = session(&format!("table lint library_grpc_service_config.json {flags} --format json"));
        session.rsplit_once("--- exit status ").map(|(_, status)| status.trim().to_owned()).unwrap()
    };
    assert_eq!(status(""), "0");
    assert_eq!(status("--deny multiplier-precision"), "1");
    assert_eq!(status("--deny note"), "1");
    assert_eq!(status("--deny warning"), "0");
    assert_eq!(status("--deny note --allow multiplier-precision"), "0");
}

#[test]
fn versions_that_drift_apart_are_reported() {
    let json = stdout(
        "table lint table/eager_grpc_service_config.json table/eager_v2_grpc_service_config.json --format json",
    );
    assert!(json.contains("example.library.v2.Library/GetBook has different settings from example.library.v1.Library/GetBook: total timeout 9s, not 20s"), "{json}");
}

#[test]
fn what_is_no_table_is_a_finding_and_what_can_t_be_used_is_refused() {
    let lines = [
        "table lint table/broken_grpc_service_config.json".to_owned(),
        "table lint no_such_table.json".to_owned(),
        "table lint".to_owned(),
        format!("table lint {MESSY} --deny no-max-atempts"),
        format!("table lint {MESSY} --allow nothing"),
        format!("table lint {MESSY} --proto-path table"),
        format!("table lint {MESSY} --proto-path table --proto no_such.proto"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

/// Two APIs of Google's whose tables don't retry what starts an operation.
#[test]
fn nobody_is_advised_to_retry_the_start_of_an_operation() {
    let Some(shared) = super::table_show::shared() else { return };
    for (api, proto, table) in [
        (
            "google.cloud.asset.v1",
            "google/cloud/asset/v1/asset_service.proto",
            "cloudasset_grpc_service_config.json",
        ),
        (
            "google.cloud.redis.v1",
            "google/cloud/redis/v1/cloud_redis.proto",
            "redis_grpc_service_config.json",
        ),
    ] {
        let (protos, inputs) = (shared.join("protos"), shared.join("retry-tables/inputs").join(api));
        let lint = |table: &Path| {
            // Some names of these tables are errors.
            stdout(&format!(
                "table lint --allow error --format json --proto-path {} --proto {proto} -- {}",
                protos.display(),
                table.display()
            ))
        };
        let table = inputs.join(table);
        let found = lint(&table);
        assert!(!found.contains("retry-on-lro-start"), "{found}");
        // The advice to retry, taken: the table with a retry policy for these methods.
        let mut config: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&table).unwrap()).unwrap();
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        let is_advice = |finding: &&serde_json::Value| finding["rule"] == "read-without-retry";
        let advised = found["findings"].as_array().unwrap().iter().filter(is_advice);
        let names = advised.map(|finding| {
            let name = finding["message"].as_str().unwrap().split(' ').next().unwrap();
            let (service, method) = name.split_once('/').unwrap();
            serde_json::json!({ "service": service, "method": method })
        });
        let names: Vec<serde_json::Value> = names.collect();
        let entries = config["methodConfig"].as_array_mut().unwrap();
        for entry in entries.iter_mut() {
            entry["name"].as_array_mut().unwrap().retain(|name| !names.contains(name));
        }
        entries.retain(|entry| !entry["name"].as_array().unwrap().is_empty());
        if !names.is_empty() {
            entries.push(serde_json::json!({ "name": names, "timeout": "60s", "retryPolicy": {
                "maxAttempts": 5, "initialBackoff": "1s", "maxBackoff": "10s", "backoffMultiplier": 1.3,
                "retryableStatusCodes": ["UNAVAILABLE"],
            } }));
        }
        let followed = super::folder("lint_advice").join("followed.json");
        std::fs::write(&followed, config.to_string()).unwrap();
        let found = lint(&followed);
        assert!(!found.contains("read-without-retry") && !found.contains("retry-on-lro-start"), "{found}");
    }
}

#[test]
fn every_rule_has_a_section_in_the_book() {
    let headings: Vec<(&str, String)> = super::lint_page::PAGES
        .iter()
        .flat_map(|page| {
            super::lint_page::rules(&super::lint_page::read(page)).into_iter().map(|rule| (*page, rule))
        })
        .collect();
    let mut rules: Vec<(&str, String)> =
        gax_table::lint::rules().map(|rule| (gax_table::lint::page(rule), rule.id().to_owned())).collect();
    let mut named = headings.clone();
    rules.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, rules, "links lead to the section of a rule");
}

#[test]
fn of_a_long_line_the_part_around_the_place_is_shown() {
    let folder = super::folder("lint_long_line");
    let names: Vec<String> = (10..40).map(|n| format!(r#"{{"service":"a.B","method":"Get{n}"}}"#)).collect();
    for rest in ["", "          "] {
        let names = names.join(",");
        let text =
            format!(r#"{{"methodConfig":[{{"name":[{names}],"timeout":"2s"}},{{"name":[{names}]}}]}}{rest}"#);
        let table = folder.join("table.json");
        std::fs::write(&table, text).unwrap();
        let shown = stdout(&format!("table lint {} --allow duplicate-name", table.display()));
        let mut lines = shown.lines().skip_while(|line| !line.starts_with("note[short-timeout]")).skip(3);
        let (line, carets) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(line.starts_with("1 | ..") && line.ends_with(".."), "{line}");
        assert_eq!(line.chars().count(), "1 | ".len() + 160 + 2 * "..".len());
        assert_eq!((carets.find('^'), carets.matches('^').count()), (line.find("\"2s\""), 4), "{shown}");
    }
}
