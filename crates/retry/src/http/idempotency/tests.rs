use super::{
    Idempotency, IdempotencyRule, IdempotencyStrategy, IdempotencyTable, OperationClass, Precondition,
    RequestFacts,
};
use serde_json::Value;

/// The operations of the documentation's table, as the public conformance cases send them.
const REQUESTS: &str = include_str!("../tests/data/storage_requests.json");

fn explained(method: &str, target: &str) -> String {
    IdempotencyTable::storage().classify(&RequestFacts::new(method, target)).to_string()
}

/// A recorded path or value with its placeholders filled in, as a path segment or a value.
fn filled(text: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap();
        filled.push_str(before);
        filled.push_str(if name == "object" { "dir%2Facl%2Fa%20b.txt" } else { "42" });
        rest = after;
    }
    filled + rest
}

fn query(sets: [&Value; 2]) -> String {
    let pairs = sets.into_iter().flat_map(|set| set.as_object().unwrap()).flat_map(|(name, value)| {
        let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        values.into_iter().map(move |value| format!("{name}={}", filled(value.as_str().unwrap())))
    });
    pairs.collect::<Vec<_>>().join("&")
}

fn body(case: &Value, with: Option<&Value>) -> Vec<u8> {
    match &case["body"] {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.extend(with.into_iter().flat_map(|with| with.as_object().unwrap().clone()));
            serde_json::to_vec(&fields).unwrap()
        }
        Value::String(text) => text.clone().into_bytes(),
        _ => Vec::new(),
    }
}

#[test]
fn every_recorded_operation_is_classified_from_its_request() {
    let table = IdempotencyTable::storage();
    let cases: Value = serde_json::from_str(REQUESTS).unwrap();
    let cases = cases.as_object().unwrap();
    assert_eq!(cases.len(), 47);
    for (name, case) in cases {
        let (verb, path) = (case["verb"].as_str().unwrap(), filled(case["path"].as_str().unwrap()));
        let none = Value::Object(serde_json::Map::new());
        let bare_target = format!("{path}?{}", query([&case["query"], &none]));
        let safe_target = format!("{path}?{}", query([&case["query"], &case["precondition_query"]]));
        let (bare_body, safe_body) = (body(case, None), body(case, Some(&case["precondition_body"])));
        let bare = table.classify(&RequestFacts::new(verb, &bare_target).with_body(&bare_body));
        let safe = table.classify(&RequestFacts::new(verb, &safe_target).with_body(&safe_body));
        assert_eq!((bare.rule(), safe.rule()), (Some(&**name), Some(&**name)));
        match case["class"].as_str().unwrap() {
            "always" => assert_eq!(
                (bare.idempotency(), safe.idempotency()),
                (&Idempotency::Always, &Idempotency::Always)
            ),
            "never" => assert_eq!(
                (bare.idempotency(), safe.idempotency()),
                (&Idempotency::Never, &Idempotency::Never)
            ),
            _ => {
                assert!(matches!(bare.idempotency(), Idempotency::ConditionNotMet(_)), "{name}: {bare}");
                let parameters = case["precondition_query"].as_object().unwrap().keys().cloned();
                let fields = case["precondition_body"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .map(|field| format!("{field} in the body"));
                let given: Vec<String> = parameters.chain(fields).collect();
                assert_eq!(
                    [safe.to_string()[..].to_owned()],
                    given.iter().map(|given| format!("conditional: {given}")).collect::<Vec<_>>()[..],
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn the_rows_of_the_document_that_the_cases_do_not_send() {
    for (method, target, expected) in [
        ("DELETE", "/storage/v1/b/b1/o/x?generation=7", "conditional: generation"),
        ("DELETE", "/storage/v1/b/b1/o/x", "conditional: ifGenerationMatch or generation missing"),
        ("POST", "/storage/v1/b/b1/o/x/restore?generation=7", "conditional: generation"),
        ("POST", "/storage/v1/b/b1/o/x/moveTo/o/y?ifGenerationMatch=0", "conditional: ifGenerationMatch"),
        (
            "POST",
            "/storage/v1/b/b1/o/x/moveTo/o/y?ifSourceGenerationMatch=1",
            "conditional: ifGenerationMatch or generation missing",
        ),
        ("POST", "/storage/v1/b/b1/o/x/rewriteTo/b/b2/o/y", "conditional: ifGenerationMatch missing"),
        (
            "PATCH",
            "/storage/v1/b/b1/o/x?ifGenerationMatch=1",
            "conditional: ifMetagenerationMatch or If-Match header or etag in the body missing",
        ),
        ("GET", "/download/storage/v1/b/b1/o/x?alt=media", "always"),
        ("GET", "/storage/v1/b/b1/o/x?alt=media", "always"),
        ("GET", "/storage/v1/b/b1/managedFolders", "always"),
        ("HEAD", "/storage/v1/b/b1/o/x", "always"),
        (
            "POST",
            "/upload/storage/v1/b/b1/o?uploadType=resumable&name=x",
            "conditional: ifGenerationMatch missing",
        ),
        (
            "POST",
            "/resumable/upload/storage/v1/b/b1/o?uploadType=resumable&ifGenerationMatch=0",
            "conditional: ifGenerationMatch",
        ),
        ("PUT", "/upload/storage/v1/b/b1/o?uploadType=resumable&upload_id=abc", "conditional: upload_id"),
        ("POST", "/b/b1/o/x/compose?ifGenerationMatch=3", "conditional: ifGenerationMatch"),
        ("POST", "/batch/storage/v1", "unknown: no rule for this request"),
        ("POST", "/storage/v1/b/b1/o/x", "unknown: no rule for this request"),
        ("DELETE", "/storage/v1/b/b1/o/not/encoded", "unknown: no rule for this request"),
        ("delete", "/storage/v1/b/b1", "unknown: no rule for this request"),
        ("POST", "/storage/v1beta/b", "unknown: no rule for this request"),
    ] {
        assert_eq!(explained(method, target), expected, "{method} {target}");
    }
}

#[test]
fn a_parameter_counts_with_a_value_only_and_by_its_exact_name() {
    let target = |query: &str| format!("/storage/v1/b/b1/o/x/compose?{query}");
    for query in
        ["ifGenerationMatch=0", "a=b&ifGenerationMatch=1", "%69fGenerationMatch=1", "x&ifGenerationMatch=1#f"]
    {
        assert_eq!(explained("POST", &target(query)), "conditional: ifGenerationMatch", "{query}");
    }
    for query in
        ["", "ifGenerationMatch", "ifGenerationMatch=", "ifgenerationmatch=1", "a=ifGenerationMatch=1"]
    {
        assert_eq!(explained("POST", &target(query)), "conditional: ifGenerationMatch missing", "{query}");
    }
}

#[test]
fn an_etag_counts_as_header_and_in_the_body() {
    let table = IdempotencyTable::storage();
    for target in ["/storage/v1/projects/p/hmacKeys/GOOG1", "/storage/v1/b/b1/iam"] {
        let with = |headers: &[(&str, &str)], body: &str| {
            let headers: &[(&str, &str)] = headers;
            let request = RequestFacts::new("PUT", target);
            table.classify(&request.with_headers(&headers).with_body(body.as_bytes())).to_string()
        };
        let missing = "conditional: If-Match header or etag in the body missing";
        assert_eq!(with(&[("if-match", "\"CAE=\"")], ""), "conditional: If-Match header");
        assert_eq!(with(&[("If-Match", " * ")], ""), missing);
        assert_eq!(with(&[("If-None-Match", "x")], r#"{"etag":"x"}"#), "conditional: etag in the body");
        assert_eq!(with(&[], r#"{"etag":"x""#), missing);
    }
}

#[test]
fn rows_are_overridden_by_name_and_new_rules_come_first() {
    let delete = RequestFacts::new("DELETE", "/storage/v1/b/b1/o/x");
    let changed =
        IdempotencyTable::storage().with_class("storage.objects.delete", OperationClass::Always).unwrap();
    assert_eq!(changed.classify(&delete).idempotency(), &Idempotency::Always);
    assert_eq!(
        explained("DELETE", "/storage/v1/b/b1/o/x"),
        "conditional: ifGenerationMatch or generation missing"
    );
    let error = IdempotencyTable::storage().with_class("objects.delete", OperationClass::Never).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no rule of the idempotency table is called \"objects.delete\"; its rules() lists the names"
    );
    let own = IdempotencyRule::new(
        "batch",
        "POST",
        "/batch/storage/v1",
        OperationClass::conditional([
            Precondition::header("Idempotency-Key"),
            Precondition::body_field("a.b"),
        ]),
    )
    .unwrap();
    let table = IdempotencyTable::storage().with_rule(own.clone());
    let batch = RequestFacts::new("POST", "/batch/storage/v1").with_body(br#"{"a":{"b":1}}"#);
    assert_eq!(table.classify(&batch).to_string(), "conditional: a.b in the body");
    assert_eq!(table.rules()[0], own);
    let twice = table.with_rule(own).rules().len();
    assert_eq!(twice, IdempotencyTable::storage().rules().len() + 1);
}

#[test]
fn strategies_heed_the_table_or_not() {
    let met = Idempotency::ConditionMet(Precondition::query("generation"));
    let missing = Idempotency::ConditionNotMet([Precondition::query("generation")].into());
    let all = [Idempotency::Always, met, missing, Idempotency::Never, Idempotency::Unknown];
    let permitted =
        |strategy: IdempotencyStrategy| all.each_ref().map(|idempotency| strategy.permits(idempotency));
    assert_eq!(permitted(IdempotencyStrategy::Conditional), [true, true, false, false, false]);
    assert_eq!(permitted(IdempotencyStrategy::Always), [true; 5]);
    assert_eq!(permitted(IdempotencyStrategy::Never), [false; 5]);
}

#[test]
fn methods_are_classified_by_http_itself() {
    let table = IdempotencyTable::http_methods();
    for (method, expected) in
        [("GET", "always"), ("PUT", "always"), ("DELETE", "always"), ("POST", "never"), ("PATCH", "never")]
    {
        assert_eq!(table.classify(&RequestFacts::new(method, "/v1/projects/p")).to_string(), expected);
    }
    assert_eq!(table.classify(&RequestFacts::new("BREW", "/pot")).idempotency(), &Idempotency::Unknown);
}

#[test]
fn every_row_has_a_name_of_its_own() {
    let table = IdempotencyTable::storage();
    let mut names: Vec<&str> = table.rules().iter().map(IdempotencyRule::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), table.rules().len());
    let row = table.rules().iter().find(|rule| rule.name() == "storage.objects.update").unwrap();
    assert_eq!(
        row.class().to_string(),
        "conditional: ifMetagenerationMatch or If-Match header or etag in the body"
    );
}

#[test]
fn a_path_of_cloud_storage_at_a_host_that_was_not_named() {
    let table = IdempotencyTable::storage().with_host("localhost:9000");
    for (host, path, expected) in [
        ("localhost:9000", "/storage/v1/b/x", false),
        ("storage.googleapis.com", "/storage/v1/b/x", false),
        ("localhost:9001", "/storage/v1/b/x", true),
        ("localhost:9001", "/upload/storage/v1/b/x/o", true),
        ("localhost:9001", "/v1/things", false),
    ] {
        let request = RequestFacts::new("DELETE", path).with_host(host);
        assert_eq!(table.classify(&request).is_at_other_host(), expected, "{host}{path}");
        assert!(!IdempotencyTable::http_methods().classify(&request).is_at_other_host());
    }
}
