use super::one_policy;
use crate::{Dialect, RetryTable};
use proptest::prelude::*;

fn read_all(content: &[u8]) {
    for dialect in Dialect::ALL {
        match RetryTable::reader().dialect(*dialect).read(content) {
            Ok(table) => assert!(table.findings().iter().all(|finding| !finding.to_string().is_empty())),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

const YAML: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\n  ",
    "\n- ",
    "- ",
    "a: ",
    "interfaces:",
    "methods:",
    "name: ",
    "retry_codes_def:",
    "? ",
    ": ",
    "|",
    ">",
    "|2-",
    "&x ",
    "*x",
    "!!str ",
    "%YAML 1.2",
    "@",
    "`",
    "'",
    "\"",
    "#",
    "[",
    "]",
    "{",
    "}",
    ",",
    "1.5",
    "~",
    "---",
    "...",
    "\t",
    "é",
    "\u{feff}",
    "\\",
    "\r\n",
    "\u{0}",
];

const TOML: &[&str] = &[
    "\n",
    "[[entry]]\n",
    "[params.x]\n",
    "[codes]\n",
    "for = ",
    "codes = ",
    "params = ",
    "timeout = ",
    "inherit = true\n",
    "polling = ",
    "\"a.B/C\"",
    "\"a.B\"",
    "\"5s\"",
    "\"1m5ms\"",
    "\"99999999999999h\"",
    "[",
    "]",
    "{ ",
    " }",
    " = ",
    ".",
    ", ",
    "'''",
    "\"\"\"",
    "#",
    "1_0",
    "0x1F",
    "1e400",
    "nan",
    "1979-05-27",
    "é",
    "\\u",
    "\u{0}",
];

/// Texts made of these pieces.
fn pieces(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(of), 0..40).prop_map(|pieces| pieces.concat())
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let error = RetryTable::parse(&text).unwrap_err();
        assert_eq!(error.message(), "not JSON: maximum nesting depth exceeded");
        read_all(open.repeat(1_000_000).as_bytes());
    }
}

#[test]
fn a_huge_file_is_refused_unread() {
    let text = vec![b' '; (16 << 20) + 1];
    let error = RetryTable::parse(std::str::from_utf8(&text).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1, column 1: the file has 16777217 bytes, but 16 MiB is the limit; split the file"
    );
}

#[test]
fn a_large_file_of_nothing_but_faults_has_a_readable_number_of_findings() {
    let text = format!("{{{}\"methodConfig\": []}}", "\"é\": 1,".repeat(200_000));
    let table = RetryTable::parse(&text).unwrap();
    assert_eq!(table.findings().len(), 1001);
    assert_eq!(table.findings()[999].origin().unwrap().column(), 2 + 999 * 7);
    let last = table.findings()[1000].message();
    assert_eq!(last, "199000 more findings are not listed");
}

proptest! {
    #[test]
    fn no_bytes_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_all(&content);
    }

    #[test]
    fn no_json_like_text_panics(text in r#"[\[\]{}:,"' \n/*a-z0-9.eE+-]{0,120}"#) {
        read_all(text.as_bytes());
    }

    /// A valid table with a piece cut out, doubled or replaced is read or refused.
    #[test]
    fn no_damaged_table_panics(from in 0..300_usize, length in 0..40_usize, with in r#"[\[\]{}:,"0-9a-zs.-]{0,12}|null|1e999|"-1s""#) {
        let text = one_policy(r#", "maxAttempts": 5"#);
        let start = from.min(text.len());
        let end = (start + length).min(text.len());
        let damaged = format!("{}{with}{}", &text[..start], &text[end..]);
        read_all(damaged.as_bytes());
    }

    /// Whatever a duration or number says, settings come out valid or not at all.
    #[test]
    fn no_value_makes_settings_that_the_builder_refuses(
        timeout in r"-?[0-9]{1,15}(\.[0-9]{0,12})?s",
        initial in r"[0-9]{1,13}(\.[0-9]{0,12})?s",
        multiplier in r"-?[0-9]{1,3}(\.[0-9]{1,20})?(e-?[0-9]{1,3})?",
        attempts in any::<i64>(),
    ) {
        let text = one_policy(&format!(", \"maxAttempts\": {attempts}"))
            .replace("60s", &timeout).replace("0.1s", &initial).replace("1.3", &multiplier);
        for dialect in [Dialect::AsWritten, Dialect::GaxJava] {
            if let Ok(table) = RetryTable::reader().dialect(dialect).read(text.as_bytes())
                && let Some(policy) = table.lookup("a.B", "C")
            {
                prop_assert!(policy.settings().to_builder().build().is_ok());
            }
        }
    }

    #[test]
    fn no_yaml_like_text_panics(pieces in pieces(YAML)) {
        read_all(pieces.as_bytes());
        read_all(format!("interfaces:\n{pieces}").as_bytes());
    }

    #[test]
    fn no_toml_like_text_panics(pieces in pieces(TOML)) {
        read_all(pieces.as_bytes());
        read_all(format!("[codes]\n{pieces}").as_bytes());
    }
}
