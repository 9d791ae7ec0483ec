use crate::{Dialect, RetryTable};
use std::time::Duration;

fn error(text: &str) -> String {
    RetryTable::parse(text).unwrap_err().to_string()
}

#[test]
fn the_content_tells_the_format() {
    assert_eq!(
        error("nonsense"),
        "line 1, column 1: nonsense is neither JSON nor YAML nor TOML; a retry table begins with { or a key"
    );
    assert!(error("[1]").contains("an array"));
    assert!(RetryTable::parse("// a comment\n{}").is_ok());
    assert!(RetryTable::parse(r#"{"interfaces": {}}"#).is_ok());
}

#[cfg(feature = "yaml")]
#[test]
fn yaml_holds_gapic_and_nothing_else() {
    assert!(RetryTable::parse("# a comment\ninterfaces: []\n").is_ok());
    let as_gapic = RetryTable::reader().format(crate::TableFormat::GapicYaml).read(b"{\"interfaces\": []}");
    assert!(as_gapic.is_ok());
    let config = "methodConfig:\n- name:\n  - service: a.B\n  timeout: 5s\n";
    for dialect in Dialect::ALL {
        let reader = RetryTable::reader().dialect(*dialect);
        for text in [config, "interfaces:\n  a.B: {}\n", "a: 1\n", "- methodConfig: []\n"] {
            assert_eq!(
                reader.read(text.as_bytes()).unwrap_err().to_string(),
                "line 1, column 1: the file is YAML, but neither GAPIC YAML nor an OpenAPI document; write a service config as JSON, or GAPIC YAML \
                 with interfaces",
                "{text}"
            );
        }
        for format in [crate::TableFormat::ServiceConfig, crate::TableFormat::ClientConfig] {
            let what = match format {
                crate::TableFormat::ClientConfig => "client config",
                _ => "service config",
            };
            let read = reader.clone().format(format).read(config.as_bytes());
            assert_eq!(
                read.unwrap_err().to_string(),
                format!(
                    "line 1, column 1: the file is YAML, but a {what} is JSON; write it as JSON, or name the format that \
                     it has"
                )
            );
        }
    }
}

#[cfg(not(feature = "yaml"))]
#[test]
fn yaml_that_is_not_built_in_says_so() {
    assert_eq!(
        error("interfaces: []"),
        "line 1, column 1: the file looks like YAML, which this build does not read; \
         enable the feature \"yaml\" of gax-table, in a build script that of tonic-gax-build"
    );
    assert!(
        RetryTable::reader().format(crate::TableFormat::GapicYaml).read(b"{\"interfaces\": []}").is_err()
    );
}

#[cfg(not(feature = "toml"))]
#[test]
fn toml_that_is_not_built_in_says_so() {
    for text in ["[[entry]]\nfor = []", "# a comment\nretry = 1", "[codes]  # a comment"] {
        assert!(error(text).contains("the file looks like TOML"), "{text}");
    }
}

const CHOICES: &str = r#"grpc_config=[
  {"clientLanguage": ["go", "java"], "serviceConfig": {"methodConfig": [{"name": [{}], "timeout": "1s"}]}},
  {"clientHostname": ["here"], "serviceConfig": {"methodConfig": [{"name": [{}], "timeout": "2s"}]}},
  {"percentage": 0, "serviceConfig": {"methodConfig": [{"name": [{}], "timeout": "3s"}]}},
  {"clientLanguage": ["Rust"], "percentage": 50, "serviceConfig": {"methodConfig": [{"name": [{}], "timeout": "4s"}]}},
  {"serviceConfig": {"methodConfig": [{"name": [{}], "timeout": "5s"}]}}
]"#;

#[test]
fn of_a_list_in_dns_the_first_for_this_client_counts() {
    for dialect in [Dialect::AsWritten, Dialect::Grpc] {
        let table = super::read(dialect, CHOICES);
        let policy = table.lookup("a.B", "C").unwrap();
        assert_eq!(policy.settings().total_timeout(), Some(Duration::from_secs(4)));
        assert_eq!(policy.origin().unwrap().line(), 5);
        assert_eq!(
            table.findings()[0].to_string(),
            "line 5, column 3: note[service-config-choice]: of 5 service configs number 4 is read, which 50 % of \
             the clients take; the others are for other languages or hosts, or come later"
        );
    }
    assert_eq!(
        error(r#"[{"clientLanguage": ["go"], "serviceConfig": {}}]"#),
        r#"line 1, column 1: [{"clientLanguage": ["go"], "serviceConfig": {}}] has no choice for a client in Rust on any host; add a choice without clientLanguage and clientHostName"#
    );
    assert_eq!(
        error(r#"[{"percentage": 10}, {"serviceConfig": {}}]"#),
        r#"line 1, column 2: {"percentage": 10} is a choice without a serviceConfig; add serviceConfig"#
    );
}
