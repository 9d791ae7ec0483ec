//! The word for idempotency, which only one form has.

use super::super::read;
use crate::{ConversionTarget, Dialect, RetryTable, TableFormat};

const TABLE: &str = r#"[[entry]]
for = ["a.B"]
timeout = "5s"
idempotent = true

[[entry]]
for = ["a.B/Pay"]
timeout = "5s"
idempotent = false

[[entry]]
for = ["a.B/Reserve", "x.Y"]
idempotent = true
"#;

fn table() -> RetryTable {
    read(Dialect::AsWritten, TABLE)
}

#[test]
fn toml_says_it_as_it_was_said() {
    let conversion = table().convert(ConversionTarget::Table(TableFormat::Toml));
    assert_eq!((conversion.text(), conversion.findings()), (TABLE, &[][..]));
    // Of several files, and of code.
    let extra = read(Dialect::AsWritten, "[[entry]]\nfor = [\"a.B/Pay\"]\nidempotent = true\n");
    let merged = RetryTable::merged([table(), extra]).unwrap();
    let again = read(Dialect::AsWritten, merged.convert(ConversionTarget::Table(TableFormat::Toml)).text());
    let made = gax_retry::RetrySettings::logical_timeout(std::time::Duration::from_secs(5));
    let made = RetryTable::builder().service("a.B", made, gax_retry::CodeSet::EMPTY).idempotent(true);
    let made = made.build().unwrap().convert(ConversionTarget::Table(TableFormat::Toml));
    assert_eq!(
        made.text(),
        "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"5s\"\ncodes = []\nmax_attempts = 1\nidempotent = true\n"
    );
    for (service, method) in [("a.B", "Get"), ("a.B", "Pay"), ("a.B", "Reserve"), ("x.Y", "Z"), ("x.Z", "Z")]
    {
        assert_eq!(
            again.idempotent(service, method),
            merged.idempotent(service, method),
            "{service}/{method}"
        );
    }
    assert_eq!(again.idempotent("a.B", "Pay"), Some(true));
}

#[test]
fn other_forms_tell_that_it_is_lost() {
    let lost = |target| {
        let conversion = table().convert(target);
        let messages = conversion.findings().iter().map(ToString::to_string);
        messages.filter(|message| message.contains("idempotent")).collect::<Vec<_>>()
    };
    let at = |line: u32, whom: &str, form: &str, help: &str| {
        format!(
            "line {line}, column 8: warning[not-expressible]: idempotent of {whom} can't be expressed in {form}; {help}"
        )
    };
    let (service, pay, beside) = ((2, "a.B"), (7, "a.B/Pay"), (12, "a.B/Reserve and 1 more"));
    let keep = "keep it in TOML";
    for (target, form, expected) in [
        (
            TableFormat::ServiceConfig.into(),
            "a gRPC service config",
            vec![
                (service, "keep it in TOML next to the file"),
                (pay, "keep it in TOML next to the file"),
                (beside, "keep it in TOML next to the file"),
            ],
        ),
        // Without protos the service's entry is lost as a whole.
        (TableFormat::GapicYaml.into(), "GAPIC YAML", vec![(pay, keep), (beside, keep)]),
        (TableFormat::ClientConfig.into(), "a client config", vec![(pay, keep), (beside, keep)]),
        (
            ConversionTarget::Envoy,
            "Envoy",
            vec![
                (beside, keep),
                (pay, "keep it in TOML for the clients"),
                (service, "keep it in TOML for the clients"),
            ],
        ),
        (
            ConversionTarget::Istio,
            "Istio",
            vec![
                (beside, keep),
                (pay, "keep it in TOML for the clients"),
                (service, "keep it in TOML for the clients"),
            ],
        ),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|((line, whom), help)| at(line, whom, form, help)).collect();
        assert_eq!(lost(target), expected);
    }
}

#[test]
fn a_percentile_is_lost_where_there_is_none() {
    let table = read(
        Dialect::AsWritten,
        "[[entry]]\nfor = [\"a.B/C\"]\nhedging = { max_attempts = 2, delay = \"1s\", percentile = 0.9 }\n",
    );
    let lost = |target| {
        let conversion = table.convert(target);
        let messages = conversion.findings().iter().map(|finding| finding.message().to_owned());
        messages.filter(|message| message.contains("percentile")).collect::<Vec<_>>()
    };
    let message = |form| vec![format!("hedging.percentile of a.B/C can't be expressed in {form}")];
    assert_eq!(lost(ConversionTarget::Table(TableFormat::ServiceConfig)), message("a gRPC service config"));
    assert_eq!(lost(ConversionTarget::Envoy), message("Envoy"));
    assert_eq!(lost(ConversionTarget::Table(TableFormat::Toml)), [""; 0]);
}
