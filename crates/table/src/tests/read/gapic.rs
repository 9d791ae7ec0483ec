use super::{read, rules, shared};
use crate::{Dialect, MethodDescription, PolicyField, RetryTable, RowKind, ServiceDescription};
use gax_retry::{Code, CodeSet, LimitExceeded, MethodKind};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

const SCHEMA_1: &str = "\
type: com.google.api.codegen.ConfigProto
config_schema_version: 1.0.0
interfaces:
- name: a.B
  retry_codes_def:
  - name: idempotent
    retry_codes: [DEADLINE_EXCEEDED, UNAVAILABLE]
  - name: non_idempotent
    retry_codes: []
  retry_params_def:
  - name: default
    initial_retry_delay_millis: 100
    retry_delay_multiplier: 1.25
    max_retry_delay_millis: 60000
    initial_rpc_timeout_millis: 20000
    rpc_timeout_multiplier: 1.5
    max_rpc_timeout_millis: 30000
    total_timeout_millis: 600000
  methods:
  - name: C
    retry_codes_name: idempotent
    retry_params_name: default
    timeout_millis: 60000
    page_streaming: {request: {}}
";

/// Schema 2 with one method that has these further lines.
fn schema_2(lines: &str) -> String {
    format!("config_schema_version: 2.0.0\ninterfaces:\n- name: a.B\n  methods:\n  - name: C\n{lines}")
}

const POLLING: &str = "    long_running:
      initial_poll_delay_millis: 60000
      poll_delay_multiplier: 1.25
      max_poll_delay_millis: 360000
      total_poll_timeout_millis: 7200000
";

const BATCHING: &str = "    batching:
      thresholds:
        element_count_threshold: 100
        request_byte_threshold: 1048576
        delay_threshold_millis: 10
        flow_control_element_limit: 7
        flow_control_limit_exceeded_behavior: BLOCK
      batch_descriptor: {batched_field: messages}
";

fn parse(text: &str) -> RetryTable {
    read(Dialect::AsWritten, text)
}

fn error(text: &str) -> String {
    RetryTable::parse(text).unwrap_err().to_string()
}

#[test]
fn a_name_that_no_service_has_is_found_where_it_stands() {
    let service = |name: &str, method: &str| {
        ServiceDescription::new(name).with_method(MethodDescription::new(method, MethodKind::Unary))
    };
    let unknown = |text: &str, service| -> Vec<String> {
        parse(text).unknown_names(&[service]).iter().map(ToString::to_string).collect()
    };
    let method = r#"warning[unknown-method]: the service a.B has no method "C"; remove the name, or correct it: it has no effect"#;
    let other = r#"warning[unknown-service]: there is no service "a.B"; remove the name, or correct it: it has no effect"#;
    for (text, service_line, method_place) in [
        (SCHEMA_1.to_owned(), 4, "line 20, column 11"),
        (schema_2(POLLING), 3, "line 5, column 11"),
        (schema_2(BATCHING), 3, "line 5, column 11"),
    ] {
        assert_eq!(unknown(&text, service("a.B", "Get")), [format!("{method_place}: {method}")]);
        let of_service = [format!("line {service_line}, column 9: {other}")];
        assert_eq!(unknown(&text, service("x.Y", "C")), of_service);
        assert_eq!(unknown(&text, service("a.B", "C")), [""; 0]);
    }
    // Without a word about retries, polling or batches there is nothing that could have an effect.
    assert_eq!(unknown(&schema_2("    surface_treatments: []\n"), service("a.B", "Get")), [""; 0]);
}

#[test]
fn schema_1_has_separate_timeouts_and_its_own_names() {
    let table = parse(SCHEMA_1);
    let policy = table.lookup("a.B", "C").unwrap();
    let settings = policy.settings();
    assert_eq!(settings.initial_retry_delay(), Some(100 * MS));
    assert_eq!(settings.retry_delay_multiplier(), Some(1.25));
    assert_eq!(settings.max_retry_delay(), Some(60_000 * MS));
    assert_eq!(settings.initial_rpc_timeout(), Some(20_000 * MS));
    assert_eq!(settings.rpc_timeout_multiplier().to_string(), "1.5");
    assert_eq!(settings.max_rpc_timeout(), Some(30_000 * MS));
    assert_eq!(settings.total_timeout(), Some(600_000 * MS), "timeout_millis is for other calls");
    assert_eq!(settings.max_attempts(), None);
    assert_eq!(policy.codes(), CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]));
    assert_eq!((policy.codes_key(), policy.params_key()), ("idempotent", "default"));
    assert_eq!(policy.origin().unwrap().line(), 20);
    assert_eq!(policy.origin_of(PolicyField::TotalTimeout).unwrap().to_string(), "line 18, column 27");
    assert_eq!(table.findings(), []);
}

#[test]
fn a_stub_has_all_definitions_of_schema_1_in_its_order() {
    let service = ServiceDescription::new("a.B").with_method(MethodDescription::new("C", MethodKind::Paged));
    let stub = &parse(SCHEMA_1).stub_tables(&[service])[0];
    let names: Vec<_> = stub.code_definitions().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["idempotent", "non_idempotent"]);
    assert_eq!(stub.param_definitions().len(), 1);
    assert_eq!(stub.rows()[0].params_key(), Some("default"));
}

fn unary(service: &str, methods: &[&str]) -> ServiceDescription {
    methods.iter().fold(ServiceDescription::new(service), |service, method| {
        service.with_method(MethodDescription::new(*method, MethodKind::Unary))
    })
}

/// The messages about a method whose names lead nowhere: by the finding, and by the error where the protos have it.
fn skipped(text: &str) -> (String, String) {
    let table = parse(text);
    assert!(table.lookup("a.B", "C").is_none() && table.lookup("a.B", "D").is_some());
    let [finding] = table.findings() else { panic!("{:?}", table.findings()) };
    for elsewhere in [unary("a.B", &["D"]), unary("a.C", &["C"])] {
        assert!(table.unusable_entries(&[elsewhere]).is_empty());
    }
    let errors = table.unusable_entries(&[unary("a.B", &["D", "C"])]);
    let [error] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!(error.origin(), finding.origin());
    (finding.to_string(), error.to_string())
}

#[test]
fn a_method_whose_names_lead_nowhere_is_skipped_unless_the_protos_have_it() {
    let other = "  - name: D\n    retry_codes_name: non_idempotent\n    retry_params_name: default\n";
    let text = format!("{SCHEMA_1}{other}");
    let (finding, error) =
        skipped(&text.replace("retry_codes_name: idempotent", "retry_codes_name: idempotnt"));
    assert_eq!(
        error,
        "line 21, column 23: idempotnt is not defined for the service; did you mean \"idempotent\"?"
    );
    assert_eq!(
        finding,
        "line 21, column 23: warning[skipped-entry]: idempotnt is not defined for the service, so the entry of C is \
         skipped; did you mean \"idempotent\"?"
    );
    let (_, error) = skipped(&text.replacen("retry_params_name: default", "retry_params_name: other", 1));
    assert_eq!(error, "line 22, column 24: other is not defined for the service; defined are: default");
    let (finding, error) = skipped(&text.replacen("    retry_params_name: default\n", "", 1));
    assert_eq!(error, "line 20, column 5: the method C has no retry_params_name; add retry_params_name");
    assert!(
        finding.contains("the method C has no retry_params_name, so the entry of C is skipped"),
        "{finding}"
    );
}

#[test]
fn a_method_that_is_disabled_needs_no_names() {
    let without = SCHEMA_1.replace("    retry_codes_name: idempotent\n    retry_params_name: default\n", "");
    let services = [unary("a.B", &["C"])];
    for (lines, is_disabled) in [
        ("    surface_treatments:\n    - include_languages: [go, java]\n      visibility: DISABLED\n", true),
        ("    surface_treatments:\n    - visibility: DISABLED\n", true),
        ("    visibility: DISABLED\n", true),
        ("    surface_treatments:\n    - include_languages: [go]\n      visibility: DISABLED\n", false),
        ("    surface_treatments:\n    - include_languages: [java]\n      visibility: PACKAGE\n", false),
        ("", false),
    ] {
        let table = parse(&format!("{without}{lines}"));
        assert_eq!(rules(&table), ["skipped-entry"], "{lines}");
        let severity = if is_disabled { crate::Severity::Note } else { crate::Severity::Warning };
        assert_eq!(table.findings()[0].severity(), severity, "{lines}");
        assert_eq!(table.unusable_entries(&services).is_empty(), is_disabled, "{lines}");
    }
}

#[test]
fn another_table_may_have_the_entry() {
    let without = parse(&SCHEMA_1.replace("    retry_codes_name: idempotent\n", ""));
    let services = [unary("a.B", &["C"])];
    assert_eq!(without.unusable_entries(&services).len(), 1);
    let config =
        read(Dialect::AsWritten, r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "5s"}]}"#);
    assert_eq!(RetryTable::merged([config, without]).unwrap().unusable_entries(&services).len(), 0);
}

#[test]
fn the_linter_makes_an_error_of_it_where_the_protos_have_the_method() {
    let text = SCHEMA_1.replace("    retry_codes_name: idempotent\n", "");
    let linter = crate::lint::Linter::new();
    let found = |linter: &crate::lint::Linter, text: &str| {
        let findings =
            linter.run(&parse(text)).into_iter().filter(|finding| finding.rule() == "skipped-entry");
        findings.map(|finding| finding.severity()).collect::<Vec<_>>()
    };
    assert_eq!(found(&linter, &text), [crate::Severity::Warning]);
    let linter = linter.services([unary("a.B", &["C"])]);
    assert_eq!(found(&linter, &text), [crate::Severity::Error]);
    assert_eq!(found(&linter, &format!("{text}    visibility: DISABLED\n")), [crate::Severity::Note]);
}

#[test]
fn values_of_schema_1_are_checked() {
    let broken = |from: &str, to: &str| error(&SCHEMA_1.replace(from, to));
    assert_eq!(
        broken("multiplier: 1.25", "multiplier: '1.25'"),
        "line 13, column 29: '1.25' is a string, but retry_delay_multiplier is a number; write a number"
    );
    assert!(broken("multiplier: 1.25", "multiplier: 0.9").contains("retry_delay_multiplier is 0.9"));
    assert!(broken("millis: 100\n", "millis: -1\n").contains("-1 is no time for initial_retry_delay_millis"));
    assert!(broken("millis: 100\n", "millis: 1e300\n").contains("is no time for"));
    assert!(broken("UNAVAILABLE", "UNAVAILABEL").contains("did you mean UNAVAILABLE?"));
    let table = parse(&SCHEMA_1.replace("    timeout_millis", "    timeoutmillis"));
    assert_eq!(rules(&table), ["unknown-field"]);
}

#[test]
fn schema_2_adds_polling_and_batching_and_no_policies() {
    let table = parse(&schema_2(&format!("{POLLING}{BATCHING}    retry_codes_name: x\n")));
    assert!(table.lookup("a.B", "C").is_none());
    let polling = table.polling("a.B", "C").unwrap();
    assert_eq!(polling.initial_retry_delay(), Some(60_000 * MS));
    assert_eq!(polling.retry_delay_multiplier(), Some(1.25));
    assert_eq!(polling.max_retry_delay(), Some(360_000 * MS));
    assert_eq!(polling.total_timeout(), Some(7_200_000 * MS));
    assert_eq!(polling.initial_rpc_timeout(), None);
    let batching = table.batching("a.B", "C").unwrap();
    assert_eq!(batching.element_count_threshold(), 100);
    assert_eq!(batching.request_byte_threshold(), 1_048_576);
    assert_eq!(batching.delay_threshold(), 10 * MS);
    assert_eq!(batching.max_outstanding_elements(), Some(7));
    assert_eq!(batching.max_outstanding_bytes(), None);
    assert_eq!(batching.limit_exceeded(), LimitExceeded::Block);
    assert_eq!(table.findings(), []);
    let descriptor = table.batch_descriptor("a.B", "C").unwrap();
    assert_eq!((descriptor.batched_field(), descriptor.discriminator_fields().count()), ("messages", 0));
    assert_eq!((descriptor.subresponse_field(), table.batch_descriptor("a.B", "D")), (None, None));
    let fields = "messages, discriminator_fields: [topic, labels], subresponse_field: ids}";
    let table = parse(&schema_2(&BATCHING.replace("messages}", fields)));
    let descriptor = table.batch_descriptor("a.B", "C").unwrap();
    assert_eq!(descriptor.discriminator_fields().collect::<Vec<_>>(), ["topic", "labels"]);
    assert_eq!(descriptor.subresponse_field(), Some("ids"));

    let java = read(Dialect::GaxJava, &schema_2(POLLING));
    assert_eq!(java.polling("a.B", "C").unwrap().retry_delay_multiplier(), Some(1.3));
}

#[test]
fn incomplete_blocks_do_not_count_or_stop_the_generator() {
    let table = parse(&schema_2(&POLLING.replace("      poll_delay_multiplier: 1.25\n", "")));
    assert_eq!(table.polling("a.B", "C"), None);
    assert_eq!(rules(&table), ["incomplete-long-running"]);
    assert!(error(&schema_2(&POLLING.replace("1.25", "'1.25'"))).contains("is a string"));
    let no_descriptor = BATCHING.replace("      batch_descriptor: {batched_field: messages}\n", "");
    assert_eq!(
        error(&schema_2(&no_descriptor)).split_once(": ").unwrap().1,
        "batching has no batch_descriptor, which stops Google's generators; add batch_descriptor"
    );
    let no_bytes = BATCHING.replace("        request_byte_threshold: 1048576\n", "");
    assert!(error(&schema_2(&no_bytes)).contains("batching has no request_byte_threshold"));
    let table = parse(&schema_2("    batching: {batch_descriptor: {}}\n"));
    assert_eq!(table.batching("a.B", "C"), None);
}

#[test]
fn polling_and_batching_join_a_service_config() {
    let policies = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "5s"}]}"#;
    let tables = [
        read(Dialect::GaxJava, policies),
        read(Dialect::GaxJava, &schema_2(&format!("{POLLING}{BATCHING}"))),
    ];
    let table = RetryTable::merged(tables).unwrap();
    let method = MethodDescription::new("C", MethodKind::Paged).long_running();
    let other = MethodDescription::new("D", MethodKind::Unary).long_running();
    let service = ServiceDescription::new("a.B").with_method(method).with_method(other);
    let stub = &table.stub_tables(&[service])[0];
    let kinds: Vec<_> = stub.rows().iter().map(|row| (row.method(), row.kind())).collect();
    assert_eq!(
        kinds,
        [
            ("C", RowKind::Batching),
            ("D", RowKind::Unary),
            ("C", RowKind::OperationInitial),
            ("C", RowKind::OperationPolling),
            ("D", RowKind::OperationInitial),
            ("D", RowKind::OperationPolling),
        ]
    );
    assert_eq!(stub.rows()[0].batching().unwrap().element_count_threshold(), 100);
    assert_eq!(stub.rows()[1].batching(), None);
    let total = |row: usize| stub.rows()[row].settings().unwrap().total_timeout();
    assert_eq!((total(3), total(5)), (Some(7_200_000 * MS), Some(300_000 * MS)));
    assert_eq!(stub.rows()[3].codes_key(), None);
    assert_eq!(stub.rows()[2].codes_key(), Some("no_retry_0_codes"));
}

fn yaml_files(folder: &std::path::Path, into: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            yaml_files(&path, into);
        } else if path.to_string_lossy().ends_with("_gapic.yaml") {
            into.push(path);
        }
    }
}

#[test]
fn published_files_are_read() {
    let Some(shared) = shared() else { return };
    let mut paths = Vec::new();
    yaml_files(&shared.join("retry-tables/gapic-yaml-v1"), &mut paths);
    yaml_files(&shared.join("retry-tables/inputs"), &mut paths);
    let (mut entries, mut skipped) = (0, Vec::new());
    paths.sort();
    for path in &paths {
        let table = RetryTable::from_path(path).unwrap_or_else(|error| panic!("{error}"));
        entries += table.entry_count();
        skipped.extend(table.findings().iter().map(|finding| (finding.rule(), finding.message().to_owned())));
    }
    let without_names = |method: &str| {
        let message = format!(
            "the method {method} has no retry_codes_name, so the entry of {method} is skipped: the method is disabled"
        );
        ("skipped-entry", message)
    };
    assert_eq!((paths.len(), entries), (31, 432));
    assert_eq!(skipped, ["WaitOperation", "GetSnapshot", "ListTopicSnapshots"].map(without_names));
}
