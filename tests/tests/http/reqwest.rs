//! The HTTP layer under requests that are made as with reqwest, over real sockets.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpCallOptions, HttpRetryLayer, HttpRetryService, IdempotencyStrategy, ReplayBody, ReqwestService, note,
};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use reqwest::multipart::{Form, Part};
use std::error::Error as _;
use tonic_gax::{Code, Note, OperationReport, RetrySettings, StopReason};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, ms};

const NOBODY: &str = "http://127.0.0.1:1/";

/// Three attempts a millisecond apart; every request is retried.
fn layer() -> HttpRetryLayer {
    let settings = RetrySettings::builder().jittered(false).initial_retry_delay(ms(1)).max_attempts(3);
    HttpRetryLayer::new(&settings.build().unwrap(), [Code::Unavailable]).strategy(IdempotencyStrategy::Always)
}

fn client() -> HttpRetryService<ReqwestService> {
    layer().layer(ReqwestService::without_redirects(reqwest::Client::builder()).unwrap())
}

async fn serving(acts: Vec<HttpAct>) -> (FaultServer, String) {
    FaultServer::on_socket(HttpScript::new(acts)).await
}

fn bodies(server: &FaultServer) -> Vec<Bytes> {
    server.arrivals().iter().map(|arrival| arrival.body.clone()).collect()
}

#[tokio::test]
async fn a_request_of_reqwests_own_is_executed_as_often_as_it_takes() {
    let (server, url) = serving(vec![HttpAct::status(503), HttpAct::Reset]).await;
    let request =
        reqwest::Client::new().post(format!("{url}/things?a=b")).bearer_auth("token").json(&["a", "b"]);
    let response = client().execute(request.build().unwrap()).await.unwrap();
    assert_eq!(response.url().as_str(), format!("{url}/things?a=b"));
    assert_eq!((response.status().as_u16(), response.content_length()), (200, Some(14)));
    assert_eq!(OperationReport::of(response.extensions()).unwrap().attempt_count(), 3);
    assert_eq!(OperationReport::of(response.extensions()).unwrap().method(), "POST /things");
    let reply: std::collections::HashMap<String, u16> = response.json().await.unwrap();
    assert_eq!(reply["status"], 200);
    assert_eq!(bodies(&server), [r#"["a","b"]"#; 3]);
    for arrival in server.arrivals() {
        assert_eq!(arrival.header("authorization"), Some("Bearer token"));
        assert_eq!(arrival.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn the_builder_has_what_reqwests_has() {
    let (server, url) = serving(vec![HttpAct::status(503)]).await;
    let response = client()
        .put(&url)
        .header("x-one", "1")
        .headers([("x-two".parse().unwrap(), "2".parse().unwrap())].into_iter().collect())
        .basic_auth("me", Some("secret"))
        .version(http::Version::HTTP_11)
        .query(&[("page", 7)])
        .form(&[("name", "a b")])
        .configure(|request| request.header("x-three", "3"))
        .timeout(ms(60_000))
        .attempt_timeout(ms(30_000))
        .extension(HttpCallOptions::new().max_response_buffer(1000))
        .send()
        .await
        .unwrap();
    assert_eq!(response.text().await.unwrap(), r#"{"status":200}"#);
    assert_eq!(bodies(&server), ["name=a+b"; 2]);
    for arrival in server.arrivals() {
        let header = |name| arrival.header(name).unwrap().to_owned();
        assert_eq!((arrival.method.as_str(), arrival.target.as_str()), ("PUT", "/?page=7"));
        assert_eq!(["x-one", "x-two", "x-three"].map(header), ["1", "2", "3"]);
        assert_eq!(header("authorization"), "Basic bWU6c2VjcmV0");
    }
    for (request, method) in [
        (client().get(&url), "GET"),
        (client().head(&url), "HEAD"),
        (client().post(&url), "POST"),
        (client().patch(&url), "PATCH"),
        (client().delete(&url), "DELETE"),
        (client().request(http::Method::OPTIONS, &url), "OPTIONS"),
    ] {
        assert_eq!(request.send().await.unwrap().status(), 200);
        assert_eq!(server.arrivals().last().unwrap().method, method);
    }
}

#[tokio::test]
async fn a_form_in_memory_is_sent_again_and_one_from_a_stream_is_not() {
    let form = || Form::new().text("name", "photo").part("file", Part::bytes(b"content".to_vec()));
    let (server, url) = serving(vec![HttpAct::status(503)]).await;
    let response = client().post(&url).multipart(form()).send().await.unwrap();
    assert_eq!((response.status().as_u16(), server.arrivals().len()), (200, 2));
    let [first, second] = bodies(&server).try_into().unwrap();
    assert_eq!(first, second);
    assert!(first.windows(7).any(|bytes| bytes == b"content"));

    // The part's length is not known.
    let (server, url) = serving(vec![HttpAct::status(503)]).await;
    let frames = tokio_stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from("stream")))]);
    let streamed = form().part("more", Part::stream(reqwest::Body::wrap(StreamBody::new(frames))));
    let response = client().post(&url).multipart(streamed).send().await.unwrap();
    assert_eq!((response.status().as_u16(), server.arrivals().len()), (503, 1));
    assert_eq!(OperationReport::of(response.extensions()).unwrap().notes(), [Note::REQUEST_IS_A_STREAM]);
    assert!(bodies(&server)[0].windows(6).any(|bytes| bytes == b"stream"));
}

#[tokio::test]
async fn a_body_that_can_be_opened_again_is() {
    let (server, url) = serving(vec![HttpAct::status(503)]).await;
    let body = ReplayBody::from_fn(|| Full::new(Bytes::from_static(b"opened anew")));
    let response = client().post(&url).replay_body(body).send().await.unwrap();
    assert_eq!((response.status().as_u16(), bodies(&server)), (200, vec![Bytes::from("opened anew"); 2]));
}

#[tokio::test]
async fn a_request_that_cannot_be_built_is_an_error_without_attempts() {
    let error = client().get(NOBODY).header("x-bad", "\n").send().await.unwrap_err();
    assert_eq!((error.report().attempts().len(), error.code()), (0, Code::Unknown));
    assert_eq!((error.stop_reason(), error.failure()), (Some(StopReason::NonRetryable), None));
    assert!(error.source().unwrap().is::<reqwest::Error>());
    let error = client().get("no url").send().await.unwrap_err();
    assert_eq!(error.report().method(), "GET");
}

/// Redirects the first request to somewhere else on the same server.
async fn redirecting(status: u16) -> (FaultServer, String) {
    serving(vec![HttpAct::status(status).with_header("location", "/there")]).await
}

#[tokio::test]
async fn a_client_that_follows_redirects_takes_bytes_along() {
    let client = layer().layer(ReqwestService::new(reqwest::Client::new()));
    for status in [307, 308] {
        let (server, url) = redirecting(status).await;
        let response = client.post(&url).body("content").send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.url().path()), (200, "/there"));
        assert_eq!(bodies(&server), ["content", "content"]);
        // It is one attempt, and not one request.
        let report = OperationReport::of(response.extensions()).unwrap();
        assert_eq!((report.attempt_count(), report.notes()), (1, [note::FOLLOWED_REDIRECTS].as_slice()));
        let plain = client.get(&url).send().await.unwrap();
        assert!(OperationReport::of(plain.extensions()).is_none_or(|report| report.notes().is_empty()));
        // Without reqwest's own types.
        let (server, url) = redirecting(status).await;
        let response =
            client.send(http::Request::post(&url).body(String::from("content")).unwrap()).await.unwrap();
        assert_eq!((response.status().as_u16(), bodies(&server).len()), (200, 2));
    }
}

#[tokio::test]
async fn a_client_without_redirects_hands_them_on() {
    for status in [301, 302, 303, 307, 308] {
        let (server, url) = redirecting(status).await;
        let response = client().post(&url).body("content").send().await.unwrap();
        assert_eq!(response.status().as_u16(), status);
        assert_eq!(response.headers()["location"], "/there");
        assert_eq!(OperationReport::of(response.extensions()).unwrap().attempt_count(), 1);
        assert_eq!(server.arrivals().len(), 1);
    }
}

/// Without redirects an error speaks of the request itself. With them it may speak of a later hop, which a body that
/// reqwest has in one piece doesn't show.
#[tokio::test]
async fn a_post_without_a_connection_is_sent_again_where_there_is_one_hop_only() {
    let conditional = layer().strategy(IdempotencyStrategy::Conditional);
    let one_hop = ReqwestService::without_redirects(reqwest::Client::builder()).unwrap();
    let follows = ReqwestService::new(reqwest::Client::new());
    for (service, attempts) in [(one_hop, 3), (follows, 1)] {
        let error = conditional.layer(service).post(NOBODY).body("content").send().await.unwrap_err();
        assert_eq!(error.report().attempt_count(), attempts, "{}", error.report());
        assert_eq!(error.code(), Code::Unavailable);
    }
}

fn is_send<T: Send>(_: &T) {}

#[tokio::test]
async fn futures_can_be_spawned() {
    is_send(&client().get(NOBODY).send());
    is_send(&client().execute(reqwest::Client::new().get(NOBODY).build().unwrap()));
}
