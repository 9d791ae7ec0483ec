use crate::{RetryTable, TableFormat};

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
fn yaml_holds_gapic_and_service_configs() {
    assert!(RetryTable::parse("# a comment\ninterfaces: []\n").is_ok());
    let table = RetryTable::parse("methodConfig:\n- name:\n  - service: a.B\n  timeout: 5s\n").unwrap();
    assert!(table.lookup("a.B", "C").is_some());
    let as_gapic = RetryTable::reader().format(TableFormat::GapicYaml).read(b"{\"interfaces\": []}");
    assert!(as_gapic.is_ok());
}

#[cfg(not(feature = "yaml"))]
#[test]
fn yaml_that_is_not_built_in_says_so() {
    assert_eq!(
        error("interfaces: []"),
        "line 1, column 1: the file looks like YAML, which this build does not read; \
         enable the feature \"yaml\" of gax-retry"
    );
    assert!(RetryTable::reader().format(TableFormat::GapicYaml).read(b"{\"interfaces\": []}").is_err());
}

#[cfg(not(feature = "toml"))]
#[test]
fn toml_that_is_not_built_in_says_so() {
    for text in ["[[entry]]\nfor = []", "# a comment\nretry = 1", "[codes]  # a comment"] {
        assert!(error(text).contains("the file looks like TOML"), "{text}");
    }
}
