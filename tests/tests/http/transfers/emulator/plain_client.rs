//! A client that sends plain requests.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use bytes::Bytes;
use gax_testing::{Pipes, StorageEmulator};
use http::{HeaderMap, Method};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// The response to a plain request.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether the body came to its end.
    pub(super) is_whole: bool,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Sends plain requests.
#[derive(Debug, Clone)]
pub(super) struct PlainClient {
    client: Client<Pipes, Full<Bytes>>,
}

impl PlainClient {
    /// Clients of HTTP/1.1 and of HTTP/2.
    pub(super) fn both(storage: &StorageEmulator) -> [Self; 2] {
        [false, true].map(|http2_only| {
            let client =
                Client::builder(TokioExecutor::new()).http2_only(http2_only).build(storage.connector());
            Self { client }
        })
    }

    pub(super) fn new(storage: &StorageEmulator) -> Self {
        let [client, _] = Self::both(storage);
        client
    }

    /// `None`: no response came.
    pub(super) async fn try_send(
        &self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Option<Received> {
        let uri =
            if target.starts_with('/') { format!("http://storage.test{target}") } else { target.to_owned() };
        let mut request = http::Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.client.request(request.body(Full::new(body.into())).unwrap()).await.ok()?;
        let (head, mut body) = response.into_parts();
        let (mut bytes, mut is_whole) = (Vec::new(), true);
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                is_whole = false;
                break;
            };
            bytes.extend_from_slice(frame.data_ref().unwrap());
        }
        Some(Received { status: head.status.as_u16(), headers: head.headers, body: bytes.into(), is_whole })
    }

    pub(super) async fn send(
        &self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Received {
        self.try_send(method, target, headers, body).await.unwrap()
    }

    pub(super) async fn get(&self, target: &str, headers: &[(&str, &str)]) -> Received {
        self.send(Method::GET, target, headers, "").await
    }

    /// Starts an upload by Cloud Storage's protocol; its URI.
    pub(super) async fn start(&self, query: &str, headers: &[(&str, &str)]) -> String {
        let target = format!("/upload/storage/v1/b/b/o?uploadType=resumable&{query}");
        let started = self.send(Method::POST, &target, headers, "").await;
        assert_eq!((started.status, &*started.body), (200, &b""[..]));
        started.header("location").unwrap().to_owned()
    }

    /// Sends bytes to an upload.
    pub(super) async fn put(&self, session: &str, range: &str, body: &[u8]) -> Received {
        self.send(Method::PUT, session, &[("content-range", range)], body.to_vec()).await
    }

    /// Status and range of the status query.
    pub(super) async fn status(&self, session: &str) -> (u16, Option<String>) {
        let status = self.put(session, "bytes */*", b"").await;
        (status.status, status.header("range").map(str::to_owned))
    }
}

/// So many bytes that differ from their neighbours.
pub(super) fn content(length: usize) -> Vec<u8> {
    (0..length).map(|index| u8::try_from((index * 31 + 7) % 251).unwrap()).collect()
}
