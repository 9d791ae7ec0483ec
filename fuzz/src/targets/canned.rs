//! An HTTP service in memory whose replies a function makes, and the time that calls to it take.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::Instant;
use tonic_gax::RetrySettings;
use tower_service::Service;

/// The longest that a call may take.
pub(super) const TOTAL: Duration = Duration::from_secs(100);

/// Up to five attempts, of which each failure can be retried at once or almost at once.
pub(super) fn settings() -> RetrySettings {
    let settings = RetrySettings::builder().initial_retry_delay(Duration::from_millis(1));
    settings.max_attempts(5).total_timeout(TOTAL).build().unwrap()
}

/// Runs it in virtual time, and measures how long it takes there.
#[expect(clippy::disallowed_methods, reason = "the paused clock")]
pub(super) fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let start = Instant::now();
        let result = work.await;
        (result, start.elapsed())
    })
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Respond = dyn FnMut(&Parts, &[u8]) -> Response<Pieces> + Send;

/// An HTTP service whose replies a function makes of the requests.
#[derive(Clone)]
pub(super) struct Canned(Arc<Mutex<Respond>>);

impl Canned {
    pub(super) fn new(respond: impl FnMut(&Parts, &[u8]) -> Response<Pieces> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(respond)))
    }
}

impl<B> Service<Request<B>> for Canned
where
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Pieces>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Pieces>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let respond = Arc::clone(&self.0);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            Ok((respond.lock().unwrap())(&parts, &body))
        })
    }
}

/// The body of a response, in pieces.
pub(super) struct Pieces {
    data: VecDeque<Bytes>,
    is_broken: bool,
    trailers: Option<HeaderMap>,
}

impl Pieces {
    /// The bytes in one piece.
    pub(super) fn new(bytes: impl Into<Bytes>) -> Self {
        Self { data: [bytes.into()].into(), is_broken: false, trailers: None }
    }

    /// The bytes in pieces of that length.
    pub(super) fn cut(bytes: &[u8], length: usize) -> Self {
        let data = bytes.chunks(length.max(1)).map(Bytes::copy_from_slice).collect();
        Self { data, is_broken: false, trailers: None }
    }

    /// The bytes, and trailers behind them.
    pub(super) fn with_trailers(bytes: &'static [u8], trailers: HeaderMap) -> Self {
        Self { trailers: Some(trailers), ..Self::new(bytes) }
    }

    /// As many of the bytes, if it is less than all: then the body breaks off.
    pub(super) fn broken_at(bytes: &[u8], place: Option<usize>) -> Self {
        let cut = place.and_then(|place| bytes.get(..place));
        Self { is_broken: cut.is_some(), ..Self::new(Bytes::copy_from_slice(cut.unwrap_or(bytes))) }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(match self.data.pop_front() {
            Some(piece) => Some(Ok(Frame::data(piece))),
            None if std::mem::take(&mut self.is_broken) => Some(Err(io::ErrorKind::ConnectionReset.into())),
            None => self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))),
        })
    }
}
