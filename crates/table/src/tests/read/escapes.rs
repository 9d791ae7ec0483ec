use crate::{Dialect, RetryTable};
use gax_text::is_unprintable;

/// A title for the terminal, a CSI of C1, and an override of the direction of writing.
const EVIL: &str = "\u{1b}]0;PWNED\u{7}\u{9b}2J\u{202e}\u{2067}";
const WRITTEN: &str = r"\u001b]0;PWNED\u0007\u009b2J\u202e\u2067";

#[test]
fn errors_print_what_the_file_says_escaped_and_keep_it() {
    let text = format!(r#"{{"methodConfig": [{{"timeout": "{EVIL}"}}]}}"#).replace(['\u{1b}', '\u{7}'], "");
    let error = RetryTable::reader().file_name(EVIL).read(text.as_bytes()).unwrap_err();
    let printed = r#"\u{1b}]0;PWNED\u{7}\u{9b}2J\u{202e}\u{2067}:1:31: "]0;PWNED\u{9b}2J\u{202e}\u{2067}" is not a duration; write seconds followed by s, such as "0.1s""#;
    assert_eq!(error.to_string(), printed);
    assert_eq!(error.text(), Some("\"]0;PWNED\u{9b}2J\u{202e}\u{2067}\""));
    assert_eq!(error.origin().unwrap().file(), Some(EVIL));
    assert!(!format!("{error:?}").lines().any(|line| line.contains(is_unprintable)));
}

#[test]
fn findings_print_what_the_file_says_escaped_and_keep_it() {
    let text = format!(
        r#"{{"methodConfig": [{{"name": [{{"service": "a.B{WRITTEN}"}}], "timeout": "5s", "retrie{raw}": 1}}]}}"#,
        raw = "\u{9b}\u{202e}"
    );
    let table = RetryTable::parse(&text).unwrap();
    let [unknown] = table.findings() else { panic!("{:?}", table.findings()) };
    assert!(unknown.to_string().contains(r#""retrie\u{9b}\u{202e}" is not a field"#), "{unknown}");
    assert!(unknown.message().contains("\"retrie\u{9b}\u{202e}\""));
    assert_eq!(table.names().next().unwrap().service(), format!("a.B{EVIL}"));
    let read = |dialect| RetryTable::reader().dialect(dialect).read(text.as_bytes());
    for dialect in Dialect::ALL {
        match read(*dialect) {
            Ok(table) => assert!(table.findings().iter().all(|f| !f.to_string().contains(is_unprintable))),
            Err(error) => assert!(!error.to_string().contains(is_unprintable), "{error:?}"),
        }
    }
}

#[cfg(all(feature = "toml", feature = "yaml"))]
#[test]
fn what_is_written_has_escapes_that_read_back() {
    let text = format!(
        r#"{{"methodConfig": [{{"name": [{{"service": "a.B{WRITTEN}", "method": "C"}}], "timeout": "5s"}}]}}"#
    );
    let table = RetryTable::parse(&text).unwrap();
    for target in crate::ConversionTarget::ALL {
        let written = table.convert(*target);
        let is_evil = |c| is_unprintable(c) && c != '\n';
        assert!(!written.text().contains(is_evil), "{target}: {}", written.text());
        if let crate::ConversionTarget::Table(format) = target {
            let again = RetryTable::reader().format(*format).read(written.text().as_bytes()).unwrap();
            assert_eq!(again.names().next().unwrap().service(), format!("a.B{EVIL}"), "{target}");
        }
    }
}

#[test]
fn an_excerpt_of_several_lines_is_printed_in_one() {
    let error = RetryTable::parse("{\"methodConfig\": [{\"timeout\": {\n    \"a\": 1\n  }}]}").unwrap_err();
    assert!(error.to_string().starts_with(r#"line 1, column 31: { "a": 1 } is an object, but"#), "{error}");
    assert_eq!(error.text(), Some("{\n    \"a\": 1\n  }"));
}
