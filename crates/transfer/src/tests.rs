//! A service in memory that replies as a test says.

use crate::TransferService;
use bytes::Bytes;
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, presets};
use gax_wire::__house::BoxError;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

/// The body of a response, which may break off.
pub(crate) struct Content {
    bytes: Option<Bytes>,
    breaks_off: bool,
}

impl Content {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: Some(bytes.into()), breaks_off: false }
    }

    /// So many bytes come, and then the connection breaks.
    pub(crate) fn cut(bytes: &Bytes, length: usize) -> Self {
        Self { bytes: Some(bytes.slice(..length.min(bytes.len()))), breaks_off: true }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        Poll::Ready(std::mem::take(&mut self.breaks_off).then(|| Err("the connection broke".into())))
    }
}

/// A client, with the storage preset and three attempts, of a server that replies so to a request and its content.
pub(crate) fn client_of(
    reply: impl Fn(&Request<Bytes>) -> Result<Response<Content>, BoxError> + Clone + Send + Sync + 'static,
) -> HttpRetryService<impl TransferService> {
    let service = tower::service_fn(move |request: Request<ReplayBody>| {
        let reply = reply.clone();
        async move {
            let (head, body) = request.into_parts();
            let content = body.collect().await?.to_bytes();
            reply(&Request::from_parts(head, content))
        }
    });
    let preset = presets::storage().with_host("storage.test").with_max_attempts(3);
    HttpRetryLayer::preset(&preset).layer(service)
}

/// A folder that is removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gax-transfer-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of what is in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
