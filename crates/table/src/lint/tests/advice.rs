//! The rules' advice can be followed: no finding comes of it.

use super::*;
use crate::IdempotencyLevel;

fn unary(name: &str) -> MethodDescription {
    MethodDescription::new(name, MethodKind::Unary)
}

/// Methods that start long-running operations, as Google's protos have them, besides some that read.
fn assets() -> ServiceDescription {
    [
        unary("ListAssets").with_http_verb("GET"),
        unary("AnalyzeAssets"),
        unary("SearchAssets"),
        unary("ExportAssets").with_http_verb("POST").long_running(),
        unary("ExportInstance").long_running(),
        unary("ImportInstance").returning_operation(),
        unary("AnalyzeIamPolicyLongrunning").with_http_verb("POST").long_running(),
        // Without the proto's annotations, these names alone tell.
        unary("ExportEverything"),
        unary("ImportEverything"),
        unary("AnalyzeEverythingLongrunning"),
        unary("GetReport").returning_operation(),
        unary("ListReports").with_idempotency(IdempotencyLevel::NoSideEffects).long_running(),
        unary("GetSnapshots").returning_operation(),
        unary("ListSnapshotses"),
        unary("CreateAsset"),
    ]
    .into_iter()
    .fold(ServiceDescription::new("a.Assets"), ServiceDescription::with_method)
}

/// The method that a finding of that rule is about, by the message.
fn advised<'a>(findings: &'a [Finding], rule: &str) -> Vec<&'a str> {
    let of_rule = findings.iter().filter(|finding| finding.rule() == rule);
    let name = |finding: &'a Finding| {
        finding.message().split([' ', ',']).find_map(|word| word.strip_prefix("a.Assets/"))
    };
    of_rule.filter_map(name).collect()
}

#[test]
fn what_starts_an_operation_exports_or_imports_is_no_read() {
    let all: Vec<String> = assets().methods().iter().map(|method| name("a.Assets", method.name())).collect();
    let found = findings(&table(&[&timeout_only(&all, "60s")]), &[assets()]);
    let reads = ["ListAssets", "AnalyzeAssets", "SearchAssets", "ListSnapshotses"];
    assert_eq!(advised(&found, "read-without-retry"), reads);
}

#[test]
fn an_operation_that_is_started_is_retried_whatever_its_annotations() {
    let started = |method: MethodDescription| {
        let entry = sound(&[name("a.Assets", method.name())]);
        rules(&findings(&table(&[&entry]), &[ServiceDescription::new("a.Assets").with_method(method)]))
    };
    assert_eq!(started(unary("Reindex").long_running()), ["retry-on-lro-start"]);
    assert_eq!(started(unary("Reindex").returning_operation()), ["retry-on-lro-start"]);
    assert_eq!(started(unary("GetReport").returning_operation()), ["retry-on-lro-start"]);
    // Such as google.longrunning.Operations/GetOperation: what it returns has been started before.
    assert_eq!(started(unary("GetOperation").returning_operation().with_http_verb("GET")), [""; 0]);
}

#[test]
fn to_follow_the_advice_ends_it() {
    let service = assets();
    let mut left_out = vec!["CreateAsset", "ExportEverything", "ExportInstance", "SearchAssets"];
    let mut retried: Vec<String> = Vec::new();
    let mut bounded: Vec<String> = service
        .methods()
        .iter()
        .map(|method| method.name().to_owned())
        .filter(|name| !left_out.contains(&name.as_str()))
        .collect();
    let look = |retried: &[String], bounded: &[String]| {
        let names =
            |methods: &[String]| methods.iter().map(|method| name("a.Assets", method)).collect::<Vec<_>>();
        let entries = [
            (!retried.is_empty()).then(|| sound(&names(retried))),
            Some(timeout_only(&names(bounded), "60s")),
        ];
        let entries: Vec<String> = entries.into_iter().flatten().collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        findings(&table(&entries), std::slice::from_ref(&service))
    };
    let found = look(&retried, &bounded);
    for finding in found.iter().filter(|finding| finding.rule() == "method-without-entry") {
        let name =
            *left_out.iter().find(|name| finding.message().contains(&format!("a.Assets/{name},"))).unwrap();
        left_out.retain(|left| *left != name);
        match finding.help().unwrap() {
            "add its name to an entry, or its calls are neither retried nor bounded in time" => {
                retried.push(name.to_owned());
            }
            "add its name to an entry without a retry policy, or its calls are not bounded in time"
            | "add its name to an entry, without a retry policy unless it may be called twice (neither its name nor an annotation \
               tells), or its calls are not bounded in time" => {
                bounded.push(name.to_owned());
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!((left_out.len(), retried.as_slice()), (0, ["SearchAssets".to_owned()].as_slice()));
    for name in advised(&found, "read-without-retry") {
        bounded.retain(|bounded| bounded != name);
        retried.push(name.to_owned());
    }
    assert_eq!(rules(&look(&retried, &bounded)), [""; 0]);
}
