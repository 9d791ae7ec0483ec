//! The HTTP layer by a table: each request by the settings of the rule that it matches, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{HttpRetryLayer, HttpRetryService};
use gax_retry::Environment;
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use http_body_util::Full;
use tonic_gax::{CallOptions, OperationOptions, OperationReport, StopReason};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, MemoryConnector, ms};

const TABLE: &str = r#"
[params.slow]
initial_retry_delay = "2s"
retry_delay_multiplier = 1.0

[http]
total_timeout = "30s"
max_attempts = 3
initial_retry_delay = "100ms"
retry_delay_multiplier = 2
jittered = false

[[http.rule]]
name = "search"
method = "POST"
path = "/v1/{index}/_search"
class = "always"
max_attempts = 5

[[http.rule]]
name = "pay"
method = "POST"
path = "/v1/payments"
if_any = [{ header = "Idempotency-Key" }]
params = "slow"
statuses = [503]

[[http.rule]]
name = "report"
method = "GET"
path = "/v1/reports/{report}"
total_timeout = "20s"
hedging = { max_attempts = 3, delay = "500ms" }

[[http.rule]]
name = "feed"
method = "GET"
path = "/v1/feed"
retry_after = false

[[http.rule]]
name = "quota"
method = "GET"
path = "/v1/quota"
only_with_server_delay = ["RESOURCE_EXHAUSTED"]

[[http.rule]]
name = "ours"
method = "*"
hosts = ["*.example.com"]
path = "/**"
max_attempts = 2

[[http.rule]]
name = "login"
method = "GET"
path = "/v1/login"
statuses = []
failures = []
"#;

type Client = hyper_util::client::legacy::Client<MemoryConnector, Full<Bytes>>;

fn table() -> RetryTable {
    let table = RetryTable::parse(TABLE).unwrap();
    assert_eq!(table.findings(), []);
    table
}

fn request(method: &str, uri: &str) -> http::request::Builder {
    http::Request::builder().method(method).uri(uri)
}

fn served(layer: &HttpRetryLayer, script: HttpScript) -> (HttpRetryService<Client>, FaultServer) {
    let (server, connector) = FaultServer::in_memory(script);
    (layer.layer(FaultServer::full_client(connector)), server)
}

/// The times at which a server that always does that got a request, and why no other followed.
async fn sent(
    layer: &HttpRetryLayer,
    act: HttpAct,
    request: http::request::Builder,
) -> (Vec<u128>, Option<StopReason>) {
    let (client, server) = served(layer, HttpScript::always(act));
    let reason = match client.send(request.body(Full::default()).unwrap()).await {
        Ok(response) => OperationReport::of(response.extensions()).and_then(OperationReport::stop_reason),
        Err(error) => error.report().stop_reason(),
    };
    (server.times(), reason)
}

const SECOND: &str = "http://server/v1";

#[tokio::test(start_paused = true)]
async fn each_request_is_retried_by_the_settings_of_its_rule() {
    let layer = HttpRetryLayer::from_policies(table());
    let exhausted = Some(StopReason::MaxAttempts);
    let final_ = Some(StopReason::NonRetryable);
    let keyed = || request("POST", "http://server/v1/payments").header("idempotency-key", "7");
    for (status, request, times, reason) in [
        // No rule of its own: the settings of [http], and HTTP's own word on its method.
        (503, request("GET", "http://server/v1/things/7"), vec![0, 100, 300], exhausted),
        (429, request("DELETE", "http://server/v1/things/7"), vec![0, 100, 300], exhausted),
        (503, request("POST", "http://server/v1/things"), vec![0], final_),
        (404, request("GET", "http://server/v1/things/7"), vec![0], final_),
        (503, request("POST", "http://server/v1/books/_search"), vec![0, 100, 300, 700, 1500], exhausted),
        (503, keyed(), vec![0, 2000, 4000], exhausted),
        (502, keyed(), vec![0], final_),
        (503, request("POST", "http://server/v1/payments"), vec![0], final_),
        (503, request("GET", "http://eu.example.com/v1/things/7"), vec![0, 100], exhausted),
        (503, request("POST", "http://eu.example.com/v1/things"), vec![0], final_),
        (503, request("GET", "http://server/v1/login"), vec![0], final_),
    ] {
        let shown = format!("{status} {:?}", request.uri_ref());
        assert_eq!(sent(&layer, HttpAct::status(status), request).await, (times, reason), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn failures_below_http_are_retried_as_the_rule_says() {
    let layer = HttpRetryLayer::from_policies(table());
    let (times, _) = sent(&layer, HttpAct::Reset, request("GET", "http://server/v1/things/7")).await;
    assert_eq!(times, [0, 100, 300]);
    let (times, reason) = sent(&layer, HttpAct::Reset, request("GET", "http://server/v1/login")).await;
    assert_eq!((times, reason), (vec![0], Some(StopReason::NonRetryable)));
}

#[tokio::test(start_paused = true)]
async fn retry_after_counts_as_far_as_the_rule_says() {
    let layer = HttpRetryLayer::from_policies(table());
    let asked = |status| HttpAct::status(status).with_header("retry-after", "3");
    for (act, path, times) in [
        // Without jitter the back-off comes on top.
        (asked(503), "things/7", vec![0, 3100, 6300]),
        (asked(503), "feed", vec![0, 100, 300]),
        (asked(429), "quota", vec![0, 3100, 6300]),
        (HttpAct::status(429), "quota", vec![0]),
        (HttpAct::status(503), "quota", vec![0, 100, 300]),
    ] {
        let shown = format!("{path} {act:?}");
        assert_eq!(sent(&layer, act, request("GET", &format!("{SECOND}/{path}"))).await.0, times, "{shown}");
    }
}

const TWICE: &str = "[http]\nmax_attempts = 2\ninitial_retry_delay = \"100ms\"\njittered = false\n";

#[tokio::test(start_paused = true)]
async fn a_rule_says_how_long_a_server_may_ask_for() {
    let rule =
        "[[http.rule]]\nname = \"now\"\nmethod = \"GET\"\npath = \"/v1/now\"\nmax_server_delay = \"2s\"\n";
    let layer = HttpRetryLayer::from_policies(RetryTable::parse(&format!("{TWICE}{rule}")).unwrap());
    for (path, delay, times, reason) in [
        ("now", "2", vec![0, 2100], StopReason::MaxAttempts),
        ("now", "3", vec![0], StopReason::ServerDelayExceedsTotalTimeout),
        // Without a word of the table it is a minute.
        ("later", "60", vec![0, 60_100], StopReason::MaxAttempts),
        ("later", "61", vec![0], StopReason::ServerDelayExceedsTotalTimeout),
    ] {
        let act = HttpAct::status(503).with_header("retry-after", delay);
        let found = sent(&layer, act, request("GET", &format!("{SECOND}/{path}"))).await;
        assert_eq!(found, (times, Some(reason)), "{path} {delay}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_for_its_hosts_and_paths_however_they_are_written() {
    let rule = "[[http.rule]]\nname = \"ours\"\nmethod = \"POST\"\nhosts = [\"Api.example.com:8080\"]\n\
                path = \"/v1/a%20b/{id}\"\nclass = \"always\"\n";
    let layer = HttpRetryLayer::from_policies(RetryTable::parse(&format!("{TWICE}{rule}")).unwrap());
    for (uri, count) in [
        ("http://API.example.COM:8080/v1/a%20b/7", 2),
        ("http://api.example.com:8080/v1/%61%20b/%2f?x=1", 2),
        ("http://api.example.com:8081/v1/a%20b/7", 1),
        ("http://api.example.com/v1/a%20b/7", 1),
        ("http://api.example.com:8080/v1/a%20b/7/", 1),
        ("http://api.example.com:8080/v1/a%20b//7", 1),
        ("http://api.example.com:8080/v1/A%20b/7", 1),
    ] {
        let (times, _) = sent(&layer, HttpAct::status(503), request("POST", uri)).await;
        assert_eq!(times.len(), count, "{uri}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_with_hedging_is_hedged_and_others_are_not() {
    let layer = HttpRetryLayer::from_policies(table());
    let (client, server) =
        served(&layer, HttpScript::new([HttpAct::Stall, HttpAct::Stall, HttpAct::status(200)]));
    let get = request("GET", "http://server/v1/reports/7").body(Full::default()).unwrap();
    assert_eq!(client.send(get).await.unwrap().status(), 200);
    assert_eq!(server.times(), [0, 501, 1001]);
    // A status that is retried doesn't end it, any other does.
    let (times, _) = sent(&layer, HttpAct::status(503), request("GET", "http://server/v1/reports/7")).await;
    assert_eq!(times.len(), 3);
    let (times, _) = sent(&layer, HttpAct::status(400), request("GET", "http://server/v1/reports/7")).await;
    assert_eq!(times, [0]);
}

#[tokio::test(start_paused = true)]
async fn what_a_request_brings_along_changes_the_settings_of_its_rule() {
    let layer = HttpRetryLayer::from_policies(table());
    let search = || request("POST", "http://server/v1/books/_search");
    let fewer = search().extension(CallOptions::new().max_attempts(2));
    assert_eq!(sent(&layer, HttpAct::status(503), fewer).await.0, [0, 100]);
    let sooner = search().extension(CallOptions::new().timeout(ms(500)));
    let (times, reason) = sent(&layer, HttpAct::status(503), sooner).await;
    assert_eq!((times, reason), (vec![0, 100, 300], Some(StopReason::TotalTimeout)));
}

#[tokio::test(start_paused = true)]
async fn the_program_and_its_operators_go_before_the_table() {
    let search = || request("POST", "http://server/v1/books/_search");
    let by_table = HttpRetryLayer::from_policies(table());
    let times = async |layer: HttpRetryLayer| sent(&layer, HttpAct::status(503), search()).await.0;
    assert_eq!(times(by_table.clone().retryable_statuses([500])).await, [0]);
    assert_eq!(times(by_table.clone().options(OperationOptions::new().retries_enabled(false))).await, [0]);
    let two = |name: &str| (name == "GAX_MAX_ATTEMPTS").then(|| "2".into());
    let capped = OperationOptions::new().environment(Environment::from_variables(two).unwrap());
    assert_eq!(times(by_table.options(capped)).await, [0, 100]);
}

#[tokio::test(start_paused = true)]
async fn all_requests_draw_on_the_budget_of_the_table() {
    let text = format!("[retry_throttling]\nmax_tokens = 4\ntoken_ratio = 0.1\n{TABLE}");
    let layer = HttpRetryLayer::from_policies(RetryTable::parse(&text).unwrap());
    let (client, server) = served(&layer, HttpScript::always(HttpAct::status(503)));
    for uri in ["http://server/v1/books/_search", "http://server/v1/others/_search"] {
        let search = request("POST", uri).body(Full::default()).unwrap();
        client.send(search).await.unwrap();
    }
    let get = request("GET", "http://server/v1/things/7").body(Full::default()).unwrap();
    let response = client.send(get).await.unwrap();
    assert_eq!(
        OperationReport::of(response.extensions()).and_then(OperationReport::stop_reason),
        Some(StopReason::Throttled)
    );
    // Two failures leave half of the four tokens, by which nothing is retried.
    assert_eq!(server.times(), [0, 100, 100, 100]);
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_replaced_changes_the_settings_of_its_rules() {
    let handle = SettingsHandle::new(table());
    let layer = HttpRetryLayer::live(&handle, "things");
    let search = || request("POST", "http://server/v1/books/_search");
    assert_eq!(sent(&layer, HttpAct::status(503), search()).await.0.len(), 5);
    let text = TABLE.replace("max_attempts = 5", "max_attempts = 4");
    handle.replace(RetryTable::parse(&text).unwrap()).unwrap();
    assert_eq!(sent(&layer, HttpAct::status(503), search()).await.0, [0, 100, 300, 700]);
}

#[tokio::test(start_paused = true)]
async fn a_table_without_settings_for_requests_has_them_in_its_entries() {
    let rules = "[[http.rule]]\nname = \"put\"\nmethod = \"PUT\"\npath = \"/v1/things\"\nclass = \"never\"\n";
    let entry = |name: &str| {
        format!(
            "[[entry]]\nfor = [\"{name}\"]\ncodes = [\"UNAVAILABLE\"]\ntimeout = \"9s\"\nmax_attempts = 2\njittered = false\n"
        )
    };
    let times = async |table: &str, method, service: Option<&str>| {
        let table = RetryTable::parse(table).unwrap();
        let layer = match service {
            Some(service) => HttpRetryLayer::live(SettingsHandle::new(table), service),
            None => HttpRetryLayer::from_policies(&table),
        };
        sent(&layer, HttpAct::status(503), request(method, "http://server/v1/things")).await.0
    };
    assert_eq!(times(&format!("{rules}{}", entry("*")), "GET", None).await, [0, 100]);
    assert_eq!(times(&format!("{rules}{}", entry("*")), "PUT", None).await, [0]);
    assert_eq!(times(&format!("{rules}{}", entry("things")), "GET", None).await, [0]);
    assert_eq!(times(&format!("{rules}{}", entry("things")), "GET", Some("things")).await, [0, 100]);
    assert_eq!(times(rules, "GET", None).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn operations_of_an_openapi_document_are_retried_by_the_settings_of_a_table() {
    let document = r#"{"openapi": "3.1.0", "servers": [{"url": "https://server/v1"}], "paths": {"/pets": {"post": {
        "operationId": "createPet", "parameters": [{"in": "header", "name": "Idempotency-Key"}]}}}}"#;
    let document = RetryTable::parse(document).unwrap();
    let layer = HttpRetryLayer::from_policies(RetryTable::merged([table(), document]).unwrap());
    let create = || request("POST", "http://server/v1/pets");
    let keyed = create().header("idempotency-key", "7");
    assert_eq!(sent(&layer, HttpAct::status(503), create()).await.0, [0]);
    assert_eq!(sent(&layer, HttpAct::status(503), keyed).await.0, [0, 100, 300]);
}
