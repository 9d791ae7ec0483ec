//! The same under the HTTP layer: five requests, each of which costs the connection three times, beside forty others on it.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::closed_connections::{Bystanders, Hostile, POISON, codes_of, is_proven, is_unknown};
use gax_http::{HttpRetryLayer, HttpRetryService, HttpService, OperationOptions, ReplayBody, ReqwestService};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::task::JoinSet;
use tonic_gax::{Code, Note, OperationReport, RetrySettingsBuilder};
use tonic_gax_tests::{delays, http2_client, ms};

/// `GOAWAY` with an error, which says that no request was processed.
const GOAWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

fn client<S: Clone>(service: S, settings: RetrySettingsBuilder) -> HttpRetryService<S> {
    let settings = settings.total_timeout(ms(20_000)).build().unwrap();
    HttpRetryLayer::new(&settings, [Code::Unavailable, Code::Internal])
        .options(OperationOptions::new().reports(true))
        .layer(service)
}

/// Puts the content. The report, and whether it has failed.
async fn put<S>(client: HttpRetryService<S>, url: String, content: &'static str) -> (OperationReport, bool)
where
    S: HttpService<ReplayBody>,
{
    let request = http::Request::put(url).body(ReplayBody::from_bytes(content)).unwrap();
    match client.send(request).await {
        Ok(response) => (OperationReport::of(response.extensions()).unwrap().clone(), false),
        Err(error) => (error.report().clone(), true),
    }
}

/// Runs forty requests beside five culprits one after the other, each of which has three attempts and ends as `is_end` allows.
async fn beside_culprits<S>(service: S, url: &str, is_end: impl Fn(&OperationReport) -> bool) -> Bystanders
where
    S: HttpService<ReplayBody, Future: Send, ResponseBody: Send> + Send + 'static,
{
    let innocent = client(service.clone(), delays(100, 1.0).jittered(true));
    let mut calls = JoinSet::new();
    for _ in 0..40 {
        calls.spawn(put(innocent.clone(), url.to_owned(), ""));
    }
    tokio::time::sleep(ms(10)).await;
    let culprit = client(service, delays(100, 1.0).max_attempts(3));
    for _ in 0..5 {
        let (report, has_failed) = put(culprit.clone(), url.to_owned(), "culprit").await;
        assert!(has_failed && is_end(&report), "{report}");
    }
    let mut found = Bystanders::default();
    while let Some(result) = calls.join_next().await {
        let (report, has_failed) = result.unwrap();
        found.add(&report, has_failed);
    }
    found
}

const URL: &str = "http://server/thing";

/// Nobody knows whose response it was, or the server has closed the connection itself.
fn is_blameless(report: &OperationReport) -> bool {
    codes_of(report) == [Code::Unavailable; 3] && !report.notes().contains(&Note::UNREADABLE_RESPONSE)
}

type IsEnd = fn(&OperationReport) -> bool;

/// The ends of a connection, and the end of a culprit over a pool that doesn't say who shares it.
const ENDS: [(&[u8], IsEnd); 3] = [(&POISON, is_unknown), (b"", is_blameless), (&GOAWAY, is_blameless)];

#[tokio::test(start_paused = true)]
async fn over_a_pool_no_request_beside_culprits_fails_and_none_is_blamed() {
    for (poison, is_end) in ENDS {
        let hostile = Hostile::with(poison);
        let found = beside_culprits(http2_client(hostile.in_memory()), URL, is_end).await;
        assert_eq!((found.hit, found.failed, found.blamed), (40, 0, 0), "{poison:?}");
        assert!(hostile.poisoned() >= 15, "a culprit costs a connection with each attempt");
    }
}

/// A connection of our own sends those that were hit one by one.
#[tokio::test(start_paused = true)]
async fn over_a_connection_the_culprits_are_found() {
    let hostile = Hostile::with(&POISON);
    let found = beside_culprits(hostile.connection(), URL, is_proven).await;
    assert_eq!((found.hit, found.failed, found.blamed, hostile.poisoned()), (40, 0, 0, 10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_sockets_the_clients_that_programs_use_blame_nobody() {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let hyper = Client::builder(TokioExecutor::new()).http2_only(true).build(connector);
    let reqwest = ReqwestService::without_redirects(reqwest::Client::builder().http2_prior_knowledge());
    let [one, other] = [Hostile::with(&POISON), Hostile::with(&POISON)];
    let [one, other] = [one.on_socket().await, other.on_socket().await];
    let (over_hyper, over_reqwest) = tokio::join!(
        beside_culprits(hyper, &one, is_unknown),
        beside_culprits(reqwest.unwrap(), &other, is_unknown)
    );
    for found in [over_hyper, over_reqwest] {
        assert!(found.hit > 0 && found.failed * 10 < found.hit && found.blamed == 0, "{found:?}");
    }
}
