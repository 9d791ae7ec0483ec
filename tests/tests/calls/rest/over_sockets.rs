//! Real HTTP clients under a REST client, over sockets.

use gax_driver::report::Delivery;
use gax_http::ReqwestService;
use gax_rest::{RestHttpService, RestOptions, RestTransport};
use gax_wire::ConnectProblem;
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tonic::{Code, Request};
use tonic_gax::{CallOptions, OperationError, OperationReport, RequestExt as _, StopReason};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::{
    GetByUserRequest, GetRevisionRequest, Message,
};

type Requests = Arc<Mutex<Vec<String>>>;

/// A server that closes its first connection without a reply and sends each later one a stream in chunks; its address.
async fn serve() -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        for number in 0.. {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut packet = vec![0; 8192];
            let length = connection.read(&mut packet).await.unwrap();
            seen.lock().unwrap().push(String::from_utf8(packet[..length].to_vec()).unwrap());
            if number > 0 {
                let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
                let chunks = ["[{\"text\":\"a", "\"},", "{\"text\":\"b\"}", "]"];
                let chunks = chunks.map(|text| format!("{:x}\r\n{text}\r\n", text.len())).concat();
                connection.write_all(format!("{head}{chunks}0\r\n\r\n").as_bytes()).await.unwrap();
            }
        }
    });
    (address, requests)
}

fn client<S: RestHttpService>(http: S, origin: &str) -> MessagingClient<RestTransport<S>> {
    let options = RestOptions::new().origin(origin.parse().unwrap());
    MessagingClient::rest_with_options(http, MessagingSettings::default(), options).unwrap()
}

fn hyper() -> Hyper<HttpConnector, tonic::body::Body> {
    Hyper::builder(TokioExecutor::new()).build(HttpConnector::new())
}

async fn watched<S: RestHttpService>(http: S) {
    let (origin, requests) = serve().await;
    let request = Request::new(GetByUserRequest { user_id: "me".to_owned(), message_id: String::new() });
    let response = client(http, &origin).watch(request).await.unwrap();
    assert_eq!(OperationReport::of(response.extensions()).unwrap().attempt_count(), 2);
    let mut stream = response.into_inner();
    let mut texts = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        texts.push(message.text);
    }
    assert_eq!(texts, ["a", "b"]);
    let requests = requests.lock().unwrap();
    assert!(
        requests.len() == 2
            && requests.iter().all(|request| {
                request.starts_with("GET /v1/users/me/messages:watch HTTP/1.1\r\n")
                    && request.contains("accept-encoding: gzip\r\n")
            }),
        "{requests:?}"
    );
}

#[tokio::test]
async fn streams_come_by_hyper() {
    watched(hyper()).await;
}

#[tokio::test]
async fn streams_come_by_reqwest() {
    watched(ReqwestService::without_redirects(reqwest::Client::builder()).unwrap()).await;
}

/// The request that a call of an RPC without a body makes, as a server gets it.
async fn touched<S: RestHttpService>(http: S) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut packet = vec![0; 8192];
        let length = connection.read(&mut packet).await.unwrap();
        let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        connection.write_all(reply).await.unwrap();
        String::from_utf8(packet[..length].to_vec()).unwrap()
    });
    let request = GetRevisionRequest { message_id: "5".to_owned(), ..GetRevisionRequest::default() };
    client(http, &origin).touch(request).await.unwrap();
    server.await.unwrap()
}

#[tokio::test]
async fn a_post_without_a_body_has_a_length() {
    // Google's servers reply 411 to others.
    let reqwest = ReqwestService::without_redirects(reqwest::Client::builder()).unwrap();
    for request in [touched(hyper()).await, touched(reqwest).await] {
        assert!(request.starts_with("POST /v1/messages/5:touch HTTP/1.1\r\n"), "{request}");
        assert_eq!(request.matches("content-length: 0\r\n").count(), 1, "{request}");
        assert!(!request.contains("transfer-encoding") && request.ends_with("\r\n\r\n"), "{request}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let message = Message { message_id: "1".to_owned(), ..Message::default() };
    let request = Request::new(message).with_call_options(CallOptions::new().max_attempts(2));
    let status = client(hyper(), &origin).update_all(request).await.unwrap_err();
    let report = OperationError::of(&status).unwrap().report().clone();
    assert_eq!((status.code(), report.attempt_count()), (Code::Unavailable, 2), "{status:?}");
    assert_eq!(report.delivery(), Delivery::NotSent);
    assert!(status.message().contains("tcp connect error"), "{status:?}");
}

#[tokio::test]
async fn a_scheme_that_the_client_does_not_speak_is_final() {
    let message = Message { message_id: "1".to_owned(), ..Message::default() };
    let status = client(hyper(), "https://127.0.0.1:1").update_all(message).await.unwrap_err();
    let report = OperationError::of(&status).unwrap().report();
    assert_eq!((status.code(), report.attempt_count()), (Code::Unavailable, 1), "{status:?}");
    assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
    assert!(ConnectProblem::of(report).is_some(), "{report:?}");
}
