use super::*;
use crate::lint::Linter;

fn said(entries: &[&str], services: &[ServiceDescription]) -> Vec<&'static str> {
    rules(&findings(&table(entries), services))
}

fn names(service: &str, methods: &[&str]) -> Vec<String> {
    methods.iter().map(|method| name(service, method)).collect()
}

#[test]
fn names_that_no_proto_has() {
    let library = service("example.library.v1.Library", &["ListBooks", "MoveBook"]);
    let both = names("example.library.v1.Library", &["ListBooks"]);
    for (service, method, rule, help) in [
        ("example.library.v1.Library", "MoveBok", "near-miss-method", "did you mean \"MoveBook\"?"),
        (
            "example.library.v1.Library",
            "ListBook",
            "unknown-method",
            "remove the name, or correct it: it has no effect",
        ),
        (
            "example.library.v1.Library",
            "Burn",
            "unknown-method",
            "remove the name, or correct it: it has no effect",
        ),
        (
            "example.library.v2.Library",
            "ListBooks",
            "wrong-version-name",
            "did you mean \"example.library.v1.Library\"?",
        ),
        (
            "example.library.v1Library",
            "",
            "wrong-version-name",
            "did you mean \"example.library.v1.Library\"?",
        ),
        ("example.library.v1.Librari", "", "unknown-service", "did you mean \"example.library.v1.Library\"?"),
        (
            "example.library.v1.Museum",
            "",
            "unknown-service",
            "remove the name, or correct it: it has no effect",
        ),
        (
            "example.archive.v1.Files",
            "",
            "name-of-another-api",
            "no service here belongs to the package \"example.archive.v1\": remove the name, or correct it",
        ),
        ("example.library.v1", "", "malformed-name", "add a dot and the service's name"),
    ] {
        let mut all = both.clone();
        all.push(name(service, method));
        let findings = findings(&table(&[&timeout_only(&all, "60s")]), std::slice::from_ref(&library));
        let found: Vec<_> = findings
            .iter()
            .filter(|finding| !["read-without-retry", "method-without-entry"].contains(&finding.rule()))
            .collect();
        assert_eq!(found.len(), 1, "{findings:?}");
        assert_eq!((found[0].rule(), found[0].help()), (rule, Some(help)));
        assert!(found[0].severity() == crate::Severity::Error && found[0].origin().is_some());
    }
}

#[cfg(feature = "toml")]
#[test]
fn names_in_entries_that_say_nothing_about_retries_are_checked_too() {
    let library = service("a.v1.Library", &["ListBooks", "Reserve"]);
    for (name, word, rule, help) in [
        ("a.v1.Library/Reserv", "idempotent = true", "near-miss-method", "did you mean \"Reserve\"?"),
        (
            "a.v1.Library/Burn",
            "idempotent = false",
            "unknown-method",
            "remove the name, or correct it: it has no effect",
        ),
        (
            "a.v2.Library/Reserve",
            "polling = { initial_delay = \"1s\" }",
            "wrong-version-name",
            "did you mean \"a.v1.Library\"?",
        ),
        (
            "a.v1.Library/Reserv",
            "batching = { element_count_threshold = 9, request_byte_threshold = 99, delay_threshold = \"1s\" }",
            "near-miss-method",
            "did you mean \"Reserve\"?",
        ),
    ] {
        let text = format!(
            "[[entry]]\nfor = [\"a.v1.Library\"]\ntimeout = \"60s\"\n\n[[entry]]\nfor = [\"{name}\"]\n{word}\n"
        );
        let table = RetryTable::parse(&text).unwrap();
        let found = findings(&table, std::slice::from_ref(&library));
        let found: Vec<_> = found.iter().filter(|finding| finding.rule() != "read-without-retry").collect();
        assert_eq!(found.len(), 1, "{found:?}");
        let origin = found[0].origin().unwrap();
        assert_eq!((found[0].rule(), found[0].help(), origin.line()), (rule, Some(help), 6));
        let unknown = table.unknown_names(std::slice::from_ref(&library));
        assert_eq!(unknown.len(), 1, "{unknown:?}");
        assert_eq!((unknown[0].name(), unknown[0].origin()), (Some(name), Some(origin)));
    }
}

#[test]
fn what_is_imported_may_be_named() {
    let table = table(&[&timeout_only(&[name("a.v1.Imported", "Move"), name("a.v1.Own", "Move")], "60s")]);
    let linter = Linter::new().services([service("a.v1.Own", &["Move"])]);
    assert_eq!(rules(&linter.run(&table)), ["unknown-service"]);
    let linter = linter.imported([service("a.v1.Imported", &["Move"])]);
    assert_eq!(rules(&linter.run(&table)), [""; 0]);
}

#[test]
fn entries_without_methods() {
    let own = service("a.B", &["Move", "Turn"]);
    let dead = timeout_only(&[name("a.B", "Gone")], "50s");
    let all = timeout_only(&names("a.B", &["Move", "Turn"]), "60s");
    assert_eq!(said(&[&dead, &all], std::slice::from_ref(&own)), ["unknown-method", "dead-entry"]);
    // One for the methods that may come is no dead one.
    let default = timeout_only(&[name("a.B", "")], "50s");
    assert_eq!(said(&[&default, &all], std::slice::from_ref(&own)), [""; 0]);
    let one = timeout_only(&[name("a.B", "Move")], "60s");
    assert_eq!(said(&[&default, &one], &[own]), [""; 0]);
}

#[test]
fn methods_without_entries() {
    let services = [service("a.B", &["Move", "Turn"]), service("a.C", &["Move"])];
    let one = timeout_only(&[name("a.B", "Move")], "60s");
    let found = findings(&table(&[&one]), &services);
    assert_eq!(rules(&found), ["method-without-entry", "service-without-entry"]);
    assert_eq!((found[0].origin().unwrap().column(), found[1].origin()), (41, None));
    assert_eq!(
        found[0].message(),
        "the table has no entry for a.B/Turn, though it names others of its service"
    );
    let everything = timeout_only(&["{}".to_owned()], "60s");
    assert_eq!(said(&[&everything], &services), ["catch-all-name"]);
}

#[test]
fn methods_of_mixins_need_no_entry() {
    let get = MethodDescription::new("GetLocation", MethodKind::Unary);
    let own = service("a.B", &["Move"]).with_method(get.mixed_in_from("google.cloud.location.Locations"));
    assert_eq!(said(&[&timeout_only(&[name("a.B", "Move")], "60s")], &[own]), [""; 0]);
}

#[test]
fn methods_that_may_be_mixed_in_may_be_named() {
    let entries =
        [timeout_only(&[name("a.B", "Move")], "60s"), timeout_only(&[name("a.B", "SetIamPolicy")], "50s")];
    assert_eq!(said(&[&entries[0], &entries[1]], &[service("a.B", &["Move"])]), [""; 0]);
}

#[test]
fn what_creates_is_not_retried() {
    let retried = |method: MethodDescription, codes: &str| {
        let entry = policy(&[name("a.B", method.name())], "60s", "1s", "10s", 1.3, codes);
        said(&[&entry], &[ServiceDescription::new("a.B").with_method(method)])
    };
    let method = |name: &str| MethodDescription::new(name, MethodKind::Unary);
    let unavailable = r#""UNAVAILABLE""#;
    assert_eq!(retried(method("CreateBook"), unavailable), ["retry-on-create"]);
    assert_eq!(retried(method("CreateBook").with_http_verb("PUT"), unavailable), [""; 0]);
    assert_eq!(retried(method("MoveBook"), unavailable), [""; 0]);
    assert_eq!(retried(method("MoveBook"), r#""ABORTED""#), ["ambiguous-code-on-write"]);
    assert_eq!(retried(method("DeleteBook"), r#""ABORTED""#), [""; 0]);
    assert_eq!(retried(method("Publish"), r#""ABORTED""#), ["retry-on-create", "ambiguous-code-on-write"]);
    assert_eq!(retried(method("Reindex").long_running(), unavailable), ["retry-on-lro-start"]);
}

#[test]
fn streams_of_requests_are_not_retried() {
    for (kind, rule) in [
        (MethodKind::ClientStreaming, Some("policy-on-client-stream")),
        (MethodKind::BidiStreaming, Some("policy-on-client-stream")),
        (MethodKind::ServerStreaming, None),
    ] {
        let own = ServiceDescription::new("a.B").with_method(MethodDescription::new("CreateAll", kind));
        let found = said(&[&sound(&[name("a.B", "CreateAll")])], &[own]);
        assert_eq!(found.first().copied(), rule.or(Some("retry-on-create")), "{kind}");
        assert_eq!(found.len(), 1);
        // By gRPC's rules streams are buffered.
        let text = format!("{{\"methodConfig\": [{{{}}}]}}", sound(&[name("a.B", "CreateAll")]));
        let reader = RetryTable::reader().dialect(crate::Dialect::Grpc);
        let own = ServiceDescription::new("a.B").with_method(MethodDescription::new("CreateAll", kind));
        let found = findings(&reader.read(text.as_bytes()).unwrap(), &[own]);
        assert!(!rules(&found).contains(&"policy-on-client-stream"), "{kind}");
    }
}

#[test]
fn reads_are_retried_and_pairs_alike() {
    let own = service("a.B", &["GetBook", "ListBooks", "GetEntry", "ListEntries"]);
    let retried = sound(&names("a.B", &["GetBook", "ListBooks", "ListEntries"]));
    let not_retried = timeout_only(&[name("a.B", "GetEntry")], "30s");
    let found = findings(&table(&[&retried, &not_retried]), &[own]);
    assert_eq!(rules(&found), ["read-without-retry", "get-list-mismatch"]);
    assert_eq!(
        found[1].message(),
        "GetEntry is not retried, but ListEntries is, and both read the same things"
    );
    assert_eq!(found[1].origin().unwrap().line(), 3);
}

#[test]
fn an_hour_is_fine_for_a_stream() {
    let stream = MethodDescription::new("Move", MethodKind::ServerStreaming);
    let own = ServiceDescription::new("a.B").with_method(stream);
    let long = timeout_only(&[name("a.B", "Move")], "7200s");
    assert_eq!(said(&[&long], &[own]), [""; 0]);
    assert_eq!(said(&[&long], &[service("a.B", &["Move"])]), ["long-unary-timeout"]);
}
