use super::{read, rules};
use crate::{Dialect, RetryTable};
use gax_retry::http::{IdempotencyRule, IdempotencyTable, RequestFacts};

const TABLE: &str = r#"
[http]
base = "storage"
prefixes = ["/v1", "/v2"]

[[http.rule]]
name = "things.sync"
method = "POST"
path = "/things/{id}:sync"
class = "always"
hedgeable = true

[[http.rule]]
name = "any thing"
method = "*"
path = "/things/**"
if_any = [{ query = "ifMatch" }, { header = "If-Match" }, { body = "thing.etag" }]

[[http.rule]]
name = "storage.buckets.delete"
method = "DELETE"
path = "/b/{bucket}"
class = "never"

[[entry]]
for = ["a.B"]
timeout = "5s"
"#;

fn said(table: &IdempotencyTable, request: &RequestFacts<'_>) -> String {
    table.classify(request).to_string()
}

#[test]
fn rules_of_a_file_decide_in_their_order_before_those_they_are_based_on() {
    let table = read(Dialect::AsWritten, TABLE);
    assert_eq!(rules(&table), [""; 0]);
    assert!(table.lookup("a.B", "C").is_some());
    let http = table.idempotency().unwrap();
    for (method, target, expected) in [
        ("POST", "/v1/things/7:sync", "always"),
        ("POST", "/v2/things/7:sync", "always"),
        ("POST", "/things/7", "conditional: ifMatch or If-Match header or thing.etag in the body missing"),
        ("PUT", "/v1/things/7?ifMatch=3", "conditional: ifMatch"),
        ("DELETE", "/storage/v1/b/photos", "never"),
        ("GET", "/storage/v1/b/photos", "always"),
        ("POST", "/v1/others", "unknown: no rule for this request"),
    ] {
        assert_eq!(said(http, &RequestFacts::new(method, target)), expected, "{method} {target}");
    }
    let body = RequestFacts::new("PATCH", "/things/7").with_body(br#"{"thing":{"etag":"x"}}"#);
    assert_eq!(said(http, &body), "conditional: thing.etag in the body");
    let headers: &[(&str, &str)] = &[("if-match", "x")];
    let hedgeable: Vec<_> = http.rules()[..3].iter().map(IdempotencyRule::is_hedgeable).collect();
    assert_eq!(hedgeable, [Some(true), None, None]);
    let headed = RequestFacts::new("PATCH", "/things/7").with_headers(&headers);
    assert_eq!(said(http, &headed), "conditional: If-Match header");
}

#[test]
fn an_idempotency_key_counts_where_a_file_says_so() {
    let key: &[(&str, &str)] = &[("Idempotency-Key", "7")];
    for (word, expected) in
        [("", "never"), ("false", "never"), ("true", "conditional: Idempotency-Key header")]
    {
        let line = if word.is_empty() { String::new() } else { format!("idempotency_key = {word}\n") };
        let table = RetryTable::parse(&format!("[http]\nbase = \"http-methods\"\n{line}")).unwrap();
        let request = RequestFacts::new("POST", "/payments").with_headers(&key);
        assert_eq!(said(table.idempotency().unwrap(), &request), expected, "{word}");
        let again = RetryTable::parse(table.convert(crate::TableFormat::Toml).text()).unwrap();
        assert_eq!(again.idempotency(), table.idempotency());
    }
}

#[test]
fn of_several_tables_the_last_that_has_rules_counts() {
    let parse = |text: &str| RetryTable::parse(text).unwrap();
    let entry = "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"5s\"\n";
    let merged =
        RetryTable::merged([parse(TABLE), parse("[http]\nbase = \"http-methods\"\n"), parse(entry)]).unwrap();
    assert_eq!(merged.idempotency(), Some(&IdempotencyTable::http_methods()));
    assert_eq!(parse(entry).idempotency(), None);
}

#[test]
fn what_is_no_rule_is_refused_with_its_place() {
    let rule = |rest: &str| format!("[[http.rule]]\nname = \"n\"\nmethod = \"GET\"\npath = \"/p\"\n{rest}\n");
    for (text, problem) in [
        ("[http]\nbase = \"s3\"".to_owned(), "line 2, column 8: \"s3\" is not a table of rules"),
        (
            "[http]\nprefixes = \"/v1\"".to_owned(),
            "line 2, column 12: \"/v1\" is a string, but prefixes is an array",
        ),
        (
            "[http]\nprefixes = [\"v1/\"]".to_owned(),
            "line 2, column 13: \"v1/\" is not the start of a path; write \"/v1\"",
        ),
        (
            "[http]\nprefixes = [\"/\"]".to_owned(),
            "line 2, column 13: \"/\" is not the start of a path; leave it out",
        ),
        (rule("if_any = []"), "line 5, column 10: [] has no condition; write what makes the request safe"),
        (
            rule("").replace("/p", "/p?q=1"),
            "line 4, column 8: \"/p?q=1\" is not a pattern for paths; a path ends before ?",
        ),
        (rule("hosts = [\"a:\"]"), "line 5, column 10: \"a:\" is not a pattern for hosts; a port"),
        ("[[http.rule]]\nname = \"n\"".to_owned(), "line 1, column 1: [[http.rule]] is not a complete rule"),
        (rule("class = \"always\"\nif_any = []"), "line 6, column 10: [] can't be combined with class"),
        (
            rule("").replace("GET", "get"),
            "line 3, column 10: \"get\" is not a method: upper and lower case differ",
        ),
        (rule("").replace("GET", "GE T"), "line 3, column 10: \"GE T\" is not a method; write one such as"),
        (
            rule("hosts = [\"https://a.example\"]"),
            "line 5, column 10: \"https://a.example\" is not a pattern for hosts; it is a URL",
        ),
        (
            rule("") + &rule(""),
            "line 7, column 8: \"n\" is also the name of an earlier rule (at line 2, column 8); give each rule",
        ),
        (
            rule("class = \"always\"\nhedgeable = 1"),
            "line 6, column 13: 1 is a number, but hedgeable is true or false",
        ),
        (rule("class = \"sometimes\""), "line 5, column 9: \"sometimes\" is not a class"),
        (rule("if_any = [{ cookie = \"x\" }]"), "line 5, column 11: { cookie = \"x\" } is not a condition"),
        (
            rule("if_any = [{ query = \"x\", header = \"y\" }]"),
            "line 5, column 11: { query = \"x\", header = \"y\" } is not a condition",
        ),
        (rule("class = \"always\"").replace("/p", "p"), "line 4, column 8: \"p\" is not a pattern for paths"),
    ] {
        let error = RetryTable::parse(&text).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}\n  not\n{problem}");
    }
    for (text, expected) in [
        ("[http]\nhosts = [\"localhost:9000\"]", &["no-effect"][..]),
        ("[http]\nbase = \"storage\"\nhosts = [\"localhost:9000\"]", &[]),
    ] {
        assert_eq!(rules(&RetryTable::parse(text).unwrap()), expected, "{text}");
    }
    let odd = RetryTable::parse("[http]\nbasis = \"storage\"").unwrap();
    assert_eq!(rules(&odd), ["unknown-field"]);
}

#[test]
fn rules_survive_toml_and_are_missed_elsewhere() {
    let table = read(Dialect::AsWritten, TABLE);
    let toml = table.convert(crate::TableFormat::Toml);
    assert_eq!(toml.findings(), []);
    let again = RetryTable::parse(toml.text()).unwrap();
    assert_eq!(rules(&again), [""; 0]);
    assert_eq!(again.idempotency(), table.idempotency());
    let json = table.convert(crate::TableFormat::ServiceConfig);
    let [finding] = json.findings() else { panic!("{:?}", json.findings()) };
    assert_eq!(finding.message(), "http of the file can't be expressed there");
}
