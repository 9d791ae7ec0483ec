//! A service in memory that replies as a test says.

use crate::TransferService;
use bytes::Bytes;
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, presets};
use gax_wire::__private::BoxError;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

/// The body of a response, which may break off, or never end.
pub(crate) struct Content {
    pieces: VecDeque<Bytes>,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Broken,
    Stalled,
}

impl Content {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { pieces: [bytes.into()].into(), end: End::Whole }
    }

    /// So many bytes come, and then the connection breaks.
    pub(crate) fn cut(bytes: &Bytes, length: usize) -> Self {
        Self { pieces: [bytes.slice(..length.min(bytes.len()))].into(), end: End::Broken }
    }

    /// The bytes come in three pieces that end at these places, and nothing comes behind them.
    pub(crate) fn stalled(bytes: &Bytes, [one, two, three]: [usize; 3]) -> Self {
        let pieces = [bytes.slice(..one), bytes.slice(one..two), bytes.slice(two..three)];
        Self { pieces: pieces.into(), end: End::Stalled }
    }

    /// The same, of which the end never comes.
    pub(crate) fn endless(self) -> Self {
        Self { end: End::Stalled, ..self }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match (self.pieces.pop_front(), self.end) {
            (Some(bytes), _) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            (None, End::Whole) => Poll::Ready(None),
            (None, End::Broken) => Poll::Ready(Some(Err("the connection broke".into()))),
            (None, End::Stalled) => Poll::Pending,
        }
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
