//! OpenAPI documents, from text to rules.

use super::rules;
use crate::{RetryTable, TableFormat};
use gax_retry::http::{HostPattern, RequestFacts};

const DOCUMENT: &str = r##"{
  "openapi": "3.1.0",
  "info": {"title": "Pets", "version": "1"},
  "servers": [{"url": "https://api.pets.example/v2"}, {"url": "https://{region}.pets.example:{port}/v2/"}],
  "x-own": {"paths": 1},
  "paths": {
    "x-internal": {"get": 1},
    "/pets/{pet}": {
      "parameters": [{"$ref": "#/components/parameters/IfMatch"}, {"in": "path", "name": "pet"}],
      "summary": "A pet",
      "get": {"operationId": "getPet"},
      "patch": {"operationId": "updatePet"},
      "delete": {}
    },
    "/pets/mine": {"get": {"operationId": "getMine"}},
    "/pets": {
      "post": {
        "operationId": "createPet",
        "parameters": [{"in": "header", "name": "X-Idempotency-Key"}, {"in": "query", "name": "Idempotency-Key"}]
      },
      "get": {"operationId": "listPets"}
    },
    "/walks": {
      "servers": [{"url": "/walks-api"}],
      "post": {"operationId": "startWalk"},
      "get": {"operationId": "listWalks", "servers": [{"url": "//walks.example"}, {"url": "//walks.example/old"}]}
    },
    "/compare/{one}...{other}": {"get": {"operationId": "getPet"}}
  },
  "components": {"parameters": {"IfMatch": {"in": "header", "name": "If-Match", "schema": {"type": "string"}}}}
}"##;

/// The rules of a document, without those of the base.
fn shown(table: &RetryTable) -> Vec<String> {
    let http = table.http().unwrap();
    let own = http.rules().filter(|rule| rule.origin().is_some());
    own.map(|rule| {
        let rule = rule.rule();
        let hosts: Vec<String> = rule.hosts().iter().map(HostPattern::to_string).collect();
        format!("{}: {} {}{} {}", rule.name(), rule.method(), hosts.join(","), rule.path(), rule.class())
    })
    .collect()
}

const HOSTS: &str = "api.pets.example,*.pets.example";

#[test]
fn operations_are_rules_and_concrete_paths_come_first() {
    let table = RetryTable::parse(DOCUMENT).unwrap();
    let of_pets = |rest: &str| rest.replace("HOSTS", HOSTS);
    let expected = [
        "listWalks: GET walks.example/walks always",
        "createPet: POST HOSTS/v2/pets conditional: X-Idempotency-Key header",
        "listPets: GET HOSTS/v2/pets always",
        "startWalk: POST /walks-api/walks never",
        "listWalks (/old): GET walks.example/old/walks always",
        "getMine: GET HOSTS/v2/pets/mine always",
        "getPet: GET HOSTS/v2/pets/{pet} always",
        "updatePet: PATCH HOSTS/v2/pets/{pet} conditional: If-Match header",
        "DELETE /pets/{pet}: DELETE HOSTS/v2/pets/{pet} always",
        "GET /compare/{one}...{other}: GET HOSTS/v2/compare/* always",
    ];
    assert_eq!(shown(&table), expected.map(of_pets));
    assert_eq!(rules(&table), ["duplicate-name", "approximated"]);
    let http = table.http().unwrap();
    let places: Vec<_> = http.rules().take(2).map(|rule| rule.origin().unwrap().to_string()).collect();
    assert_eq!(places, ["line 26, column 30", "line 18, column 24"]);
    assert!(http.rules().all(|rule| rule.policy().is_none()));
    let mine = RequestFacts::new("GET", "/v2/pets/mine").with_host("eu.pets.example:8443");
    assert_eq!(http.idempotency().classify(&mine).rule(), Some("getMine"));
    assert_eq!(http.idempotency().classify(&mine.with_host("pets.example")).rule(), Some("GET"));
}

#[test]
fn an_operation_takes_no_rule_of_the_base_away() {
    let text = r#"{"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "GET"}}, "/b%20c": {"get": {"operationId": "b"}}}}"#;
    let table = RetryTable::parse(text).unwrap();
    assert_eq!(shown(&table), ["GET /a: GET /a always", "b: GET /b%20c always"]);
    assert_eq!(rules(&table), ["duplicate-name"]);
    let rule_of = |path| {
        table.idempotency().unwrap().classify(&RequestFacts::new("GET", path)).rule().map(str::to_owned)
    };
    assert_eq!(rule_of("/other").as_deref(), Some("GET"));
    assert_eq!(rule_of("/b%20c").as_deref(), Some("b"));
}

#[test]
fn of_keys_that_come_twice_the_last_counts() {
    let twice = r#"{"get": {"operationId": "first"}, "get": {"operationId": "second"}}"#;
    let text = format!(r#"{{"openapi": "3.1.0", "paths": {{"/a": {{"get": {{}}}}, "/a": {twice}}}}}"#);
    assert_eq!(shown(&RetryTable::parse(&text).unwrap()), ["second: GET /a always"]);
}

#[cfg(feature = "yaml")]
#[test]
fn documents_are_read_as_people_write_them() {
    let text = "\
# A document.
openapi: 3.1.0
info:
  title: Pets & more
  description: |
    *Text*: with colons, \"quotes\" and
      - lists
    # and this
servers:
  - url: https://{region}.pets.example:{port}/api/{version}
    variables: {region: {default: eu}}
  - {url: 'http://localhost:8080/'}
paths:
  /pets:
    summary: >-
      folded
      text
    get:
      operationId: listPets
      parameters:
        - $ref: '#/components/parameters/limit'
    post:
      operationId: \"createPet\"
      parameters:
        - $ref: \"#/components/parameters/Key\"
  \"/pets/{pet}\":
    parameters:
    - in: path
    get: {operationId: getPet}
components:
  parameters:
    limit: {in: query, name: limit}
    Key: {in: header, name: Idempotency-Key}
";
    let table = RetryTable::parse(text).unwrap();
    assert_eq!(rules(&table), [""; 0]);
    let expected = [
        "listPets (): GET localhost:8080/pets always",
        "createPet (): POST localhost:8080/pets conditional: Idempotency-Key header",
        "getPet (): GET localhost:8080/pets/{pet} always",
        "listPets: GET *.pets.example/api/{version}/pets always",
        "createPet: POST *.pets.example/api/{version}/pets conditional: Idempotency-Key header",
        "getPet: GET *.pets.example/api/{version}/pets/{pet} always",
    ];
    assert_eq!(shown(&table), expected);
    for (wrong, place) in [
        (text.replace("3.1.0", "'2.0'"), "line 2, column 10: '2.0' is not a supported version of OpenAPI"),
        (
            text.replace("openapi: 3.1.0", "swagger: '2.0'"),
            "line 2, column 10: '2.0' is a version of Swagger",
        ),
        (
            text.replace("operationId: listPets", "operationId: [1]"),
            "line 19, column 20: [1] is an array, but operationId is a string",
        ),
        (text.replace("get: {operationId: getPet}", "get: *pet"), "line 29, column 10: "),
        (text.replace("  /pets:", "  pets:"), "line 14, column 3: "),
    ] {
        let error = RetryTable::parse(&wrong).unwrap_err().to_string();
        assert!(error.starts_with(place), "{error}\n  not\n{place}");
    }
}

#[cfg(feature = "yaml")]
#[test]
fn yaml_is_the_same() {
    let text = "openapi: 3.0.3\npaths:\n  /pets:\n    post:\n      operationId: createPet\n      parameters:\n      - in: header\n        name: Idempotency-Key\n";
    for table in [
        RetryTable::parse(text).unwrap(),
        RetryTable::reader().format(TableFormat::OpenApi).read(text.as_bytes()).unwrap(),
    ] {
        assert_eq!(shown(&table), ["createPet: POST /pets conditional: Idempotency-Key header"]);
    }
}

#[cfg(feature = "toml")]
#[test]
fn a_table_has_settings_for_the_operations_of_documents() {
    let document = || RetryTable::parse(DOCUMENT).unwrap();
    let own = "[http]\nidempotency_key = true\ntotal_timeout = \"9s\"\nmax_attempts = 3\n\n[[http.rule]]\nname = \"createPet\"\n\
               method = \"POST\"\npath = \"/v2/pets\"\nmax_attempts = 7\n";
    let table = RetryTable::merged([document(), RetryTable::parse(own).unwrap()]).unwrap();
    let again = RetryTable::merged([RetryTable::parse(own).unwrap(), document()]).unwrap();
    assert_eq!(shown(&table), shown(&again));
    let http = table.http().unwrap();
    let attempts = |method, target: &str| {
        let classification = http.idempotency().classify(&RequestFacts::new(method, target));
        let policy = http.policy_of(classification.rule()).unwrap();
        (
            policy.settings().max_attempts(),
            classification.rule().unwrap().to_owned(),
            classification.to_string(),
        )
    };
    let key = "conditional: Idempotency-Key header missing".to_owned();
    assert_eq!(attempts("POST", "/v2/pets"), (Some(7), "createPet".to_owned(), key.clone()));
    assert_eq!(attempts("POST", "/walks-api/walks"), (Some(3), "startWalk".to_owned(), key));
    assert_eq!(attempts("GET", "/v2/pets/mine"), (Some(3), "getMine".to_owned(), "always".to_owned()));
    assert_eq!(attempts("PUT", "/v2/others"), (Some(3), "PUT".to_owned(), "always".to_owned()));
    assert_eq!(shown(&table).iter().filter(|rule| rule.starts_with("createPet:")).count(), 1);
}

#[cfg(feature = "toml")]
#[test]
fn documents_become_toml_and_nothing_becomes_a_document() {
    let table = RetryTable::parse(DOCUMENT).unwrap();
    let toml = table.convert(TableFormat::Toml);
    assert_eq!(toml.findings(), []);
    let again = RetryTable::parse(toml.text()).unwrap();
    assert_eq!(again.idempotency(), table.idempotency());
    let written = again.convert(TableFormat::OpenApi);
    assert_eq!((written.text(), written.findings().len()), ("", 1));
}

#[test]
fn documents_that_make_no_sense_are_refused_with_their_place() {
    let with = |paths: &str| format!("{{\"openapi\": \"3.1.0\",\n\"paths\": {paths}}}");
    for (text, problem) in [
        (
            "{\"swagger\": \"2.0\"}".to_owned(),
            "line 1, column 13: \"2.0\" is a version of Swagger; write it as OpenAPI 3.0",
        ),
        (
            "{\"openapi\": \"4.0\"}".to_owned(),
            "line 1, column 13: \"4.0\" is not a supported version of OpenAPI",
        ),
        ("{\"openapi\": \"3.1.0\"}".to_owned(), "line 1, column 1: the document has no paths; add the paths"),
        (with("[]"), "line 2, column 10: [] is an array, but paths is an object"),
        (with("{\"pets\": {}}"), "line 2, column 11: \"pets\" is not a path; begin it with a slash"),
        (with("{\"/a\": 1}"), "line 2, column 17: 1 is a number, but a path is an object"),
        (with("{\"/a\": {\"get\": 1}}"), "line 2, column 25: 1 is a number, but an operation is an object"),
        (
            with("{\"/a\": {\"get\": {\"operationId\": 7}}}"),
            "line 2, column 41: 7 is a number, but operationId is a string",
        ),
        (
            with("{\"/a\": {\"get\": {\"parameters\": {}}}}"),
            "line 2, column 40: {} is an object, but parameters is an array",
        ),
        (
            with("{\"/{a\": {\"get\": {}}}"),
            "line 2, column 11: \"/{a\" is not a path that can be matched; correct it: ",
        ),
        (
            with("{\"/a\": {\"servers\": [{}], \"get\": {}}}"),
            "line 2, column 30: {} has no url; add url: https://api.example.com",
        ),
    ] {
        let error = RetryTable::parse(&text).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}\n  not\n{problem}");
    }
    for (paths, rule, place) in [
        ("{\"/a\": {\"$ref\": \"other.json\"}}", "skipped-entry", "line 2, column 26"),
        (
            "{\"/a\": {\"parameters\": [{\"$ref\": \"#/none\"}], \"get\": {}}}",
            "skipped-entry",
            "line 2, column 42",
        ),
        ("{\"/a\": {\"servers\": [{\"url\": \"//x y\"}], \"get\": {}}}", "approximated", "line 2, column 38"),
    ] {
        let table = RetryTable::parse(&with(paths)).unwrap();
        let [finding] = table.findings() else { panic!("{:?}", table.findings()) };
        assert_eq!((finding.rule(), finding.origin().unwrap().to_string().as_str()), (rule, place));
    }
}
