//! Times of zero, and times that are not there.

use super::{one_policy, read};
use crate::lint::Linter;
use crate::{Dialect, MethodPolicy, RetryTable, TableFormat};
use gax_retry::{AttemptPlan, Code, Compatibility, NoJitter, Policy, Response, RetrySettings};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const SHORT: &str = r#"{"methodConfig": [{"name": [{"service": "a.B", "method": "C"}], "timeout": "60s",
    "retryPolicy": {"retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;

fn policy(table: &RetryTable) -> MethodPolicy<'_> {
    table.lookup("a.B", "C").unwrap()
}

/// The first delays of a server that refuses everything.
fn waited(settings: &RetrySettings, compatibility: Compatibility) -> Vec<u128> {
    let policy = Policy::with_compatibility(settings, Code::Unavailable, compatibility);
    let refusals = vec![Response::after(Duration::ZERO, Code::Unavailable); 3];
    let plan = AttemptPlan::new(&policy, &refusals, &mut NoJitter);
    plan.attempts().iter().skip(1).map(|attempt| attempt.delay().as_millis()).collect()
}

#[cfg(feature = "toml")]
fn toml(lines: &str) -> String {
    format!("[[entry]]\nfor = [\"a.B/C\"]\ncodes = [\"UNAVAILABLE\"]\n{lines}\n")
}

fn findings(table: &RetryTable, format: TableFormat) -> (String, Vec<String>) {
    let conversion = table.convert(format);
    let findings = conversion.findings().iter().map(|finding| finding.message().to_owned()).collect();
    (conversion.text().split_whitespace().collect(), findings)
}

#[test]
fn a_delay_that_is_absent_or_zero_in_a_service_config_is_the_default() {
    let zero = one_policy(r#", "maxAttempts": 4"#).replace("\"0.1s\"", "\"0s\"").replace("10s", "0s");
    for (text, multiplier) in [(SHORT, None), (&zero, Some(1.3))] {
        let table = read(Dialect::AsWritten, text);
        let settings = policy(&table).settings();
        assert_eq!((settings.initial_retry_delay(), settings.max_retry_delay()), (None, None));
        assert_eq!(settings.retry_delay_multiplier(), multiplier);
        assert_eq!(waited(settings, Compatibility::Documented), [100, 130, 169]);
    }
}

#[test]
fn only_javas_rules_run_an_unset_delay_as_zero() {
    let text = one_policy(r#", "maxAttempts": 4"#).replace("\"0.1s\"", "\"0s\"");
    let table = read(Dialect::GaxJava, &text);
    let settings = policy(&table).settings();
    assert_eq!(settings.initial_retry_delay(), None);
    assert_eq!(waited(settings, Compatibility::GaxJava), [0, 0, 0]);
    assert_eq!(waited(settings, Compatibility::Documented), [100, 130, 169]);
}

#[cfg(feature = "toml")]
#[test]
fn a_delay_of_zero_in_toml_is_at_once() {
    for dialect in [Dialect::AsWritten, Dialect::GaxJava] {
        let text = toml(
            "total_timeout = \"60s\"\ninitial_retry_delay = \"0s\"\nretry_delay_multiplier = 1.5\nmax_retry_delay = \"1s\"",
        );
        let table = read(dialect, &text);
        assert_eq!(policy(&table).settings().initial_retry_delay(), Some(Duration::ZERO));
        assert_eq!(waited(policy(&table).settings(), Compatibility::Documented), [0, 0, 0]);
    }
    let capped = read(Dialect::AsWritten, &toml("total_timeout = \"60s\"\nmax_retry_delay = \"0s\""));
    assert_eq!(waited(policy(&capped).settings(), Compatibility::Documented), [0, 0, 0]);
}

#[cfg(feature = "toml")]
#[test]
fn a_timeout_of_zero_in_toml_is_an_error_with_its_place() {
    let error = |lines: &str| RetryTable::parse(&toml(lines)).unwrap_err().to_string();
    for field in ["timeout", "total_timeout", "initial_rpc_timeout", "max_rpc_timeout"] {
        let column = field.len() + 4;
        assert_eq!(
            error(&format!("{field} = \"0s\"")),
            format!(
                "line 4, column {column}: \"0s\" is a timeout of zero; \
                 write a time above zero"
            )
        );
    }
    let polling = error("polling = { total_timeout = \"0ms\" }");
    assert!(polling.contains("line 4, column 29: \"0ms\" is a timeout of zero"), "{polling}");
}

#[cfg(feature = "toml")]
#[test]
fn a_service_configs_timeout_of_zero_goes_to_toml_and_back() {
    let text = one_policy(r#", "maxAttempts": 4"#).replace("60s", "0s");
    for (dialect, total) in [(Dialect::AsWritten, None), (Dialect::Grpc, Some(Duration::ZERO))] {
        let table = read(dialect, &text);
        let written = table.convert(TableFormat::Toml);
        assert!(written.text().contains("grpc = { timeout = \"0s\" }"), "{}", written.text());
        assert_eq!(written.findings(), []);
        let back = read(dialect, written.text());
        assert_eq!(policy(&back).settings(), policy(&table).settings());
        assert_eq!(policy(&back).settings().total_timeout(), total);
        let (config, _) = findings(&back, TableFormat::ServiceConfig);
        assert!(config.contains("\"timeout\":\"0s\""), "{config}");
    }
}

#[test]
fn delays_that_nobody_set_are_written_out_for_others() {
    let table = read(Dialect::AsWritten, SHORT);
    let (config, said) = findings(&table, TableFormat::ServiceConfig);
    assert!(
        config.contains(r#""initialBackoff":"0.1s","maxBackoff":"60s","backoffMultiplier":1.3"#),
        "{config}"
    );
    assert_eq!(said, ["default delays are written out for a.B/C in a gRPC service config"]);
    let (client, said) = findings(&table, TableFormat::ClientConfig);
    assert!(
        client.contains(
            r#""initial_retry_delay_millis":100,"retry_delay_multiplier":1.3,"max_retry_delay_millis":60000"#
        ),
        "{client}"
    );
    assert_eq!(said, ["default delays are written out for a.B/C in a client config"]);
    let (gapic, _) = findings(&table, TableFormat::GapicYaml);
    assert!(
        gapic
            .contains("initial_retry_delay_millis:100retry_delay_multiplier:1.3max_retry_delay_millis:60000"),
        "{gapic}"
    );
    for format in [TableFormat::ServiceConfig, TableFormat::ClientConfig] {
        let back = read(Dialect::AsWritten, table.convert(format).text());
        assert_eq!(waited(policy(&back).settings(), Compatibility::Documented), [100, 130, 169]);
    }
}

#[test]
fn a_delay_of_zero_is_not_lost_in_silence() {
    let settings = RetrySettings::builder()
        .total_timeout(60_000 * MS)
        .initial_retry_delay(Duration::ZERO)
        .build()
        .unwrap();
    let table = RetryTable::builder().method("a.B/C", settings, Code::Unavailable).build().unwrap();
    let (config, said) = findings(&table, TableFormat::ServiceConfig);
    assert!(config.contains(r#""initialBackoff":"0.001s""#), "{config}");
    assert!(
        said.contains(&"the first delay is 1 ms for a.B/C in a gRPC service config".to_owned()),
        "{said:?}"
    );
    let (_, said) = findings(&table, TableFormat::GapicYaml);
    assert_eq!(said, ["a retry without a delay of a.B/C can't be expressed in GAPIC YAML"]);
}

#[test]
fn a_written_zero_is_a_finding_where_codes_are_retried() {
    let said = |dialect, text: &str| {
        let findings = Linter::new().run(&read(dialect, text));
        let mut zero = findings.iter().filter(|finding| finding.rule() == "zero-delay");
        zero.next().map(|finding| finding.message().to_owned())
    };
    let text = one_policy(r#", "maxAttempts": 4"#);
    let zero = text.replace("\"0.1s\"", "\"0s\"");
    assert_eq!(said(Dialect::AsWritten, &text), None);
    assert_eq!(said(Dialect::AsWritten, SHORT), None, "nothing is written");
    assert_eq!(said(Dialect::AsWritten, &zero.replace("\"UNAVAILABLE\"", "")), None, "nothing is retried");
    let unset = "a delay of zero is treated as unset: the first one is 100ms";
    assert_eq!(said(Dialect::AsWritten, &zero).as_deref(), Some(unset));
    let at_once = Some("retries follow each other at once");
    assert_eq!(said(Dialect::GaxJava, &zero).as_deref(), at_once);
    #[cfg(feature = "toml")]
    assert_eq!(
        said(Dialect::AsWritten, &toml("timeout = \"60s\"\ninitial_retry_delay = \"0s\"")).as_deref(),
        at_once
    );
}
