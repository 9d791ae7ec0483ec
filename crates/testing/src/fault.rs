//! Faults at random, for staging.

use super::network::wait;
use gax_driver::__private::JitterSeeds;
use gax_retry::Code;
use gax_retry::jitter::JitterSource as _;
use http::{HeaderValue, StatusCode};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_layer::Layer;
use tower_service::Service;

/// A fault, how often it happens, and to which methods.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tonic_gax::Code;
/// use gax_testing::{Fault, FaultLayer};
///
/// // Five calls in a hundred are refused, and one in a hundred listings comes a second late.
/// let layer = FaultLayer::new(7)
///     .fault(Fault::code(Code::Unavailable).percent(5.0))
///     .fault(Fault::delay(Duration::from_secs(1)).percent(1.0).on("ListBooks"));
/// # drop(layer);
/// ```
#[derive(Debug, Clone)]
#[must_use = "a fault happens in a FaultLayer"]
pub struct Fault {
    kind: Kind,
    /// Of 2^64 requests.
    share: u64,
    method: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Code(Code),
    Http(StatusCode),
    Delay(Duration),
}

impl Fault {
    fn of(kind: Kind) -> Self {
        Self { kind, share: u64::MAX, method: None }
    }

    /// A gRPC status of that code, instead of the service's response; the service sees nothing of the request.
    pub fn code(code: Code) -> Self {
        Self::of(Kind::Code(code))
    }

    /// An empty HTTP response of that status, instead of the service's own; a number that is no status is treated as 500.
    pub fn http(status: u16) -> Self {
        Self::of(Kind::Http(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)))
    }

    /// The response comes that much later.
    pub fn delay(delay: Duration) -> Self {
        Self::of(Kind::Delay(delay))
    }

    /// How many of a hundred requests it happens to, on average; all of them unless said.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the share is between none and all"
    )]
    pub fn percent(self, percent: f64) -> Self {
        let share = (percent.clamp(0.0, 100.0) / 100.0 * u64::MAX as f64) as u64;
        Self { share, ..self }
    }

    /// It happens to requests of that method only: `pkg.Service/Method`, or just `Method`.
    pub fn on(self, method: &str) -> Self {
        Self { method: Some(method.trim_start_matches('/').to_owned()), ..self }
    }

    fn is_for(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        self.method.as_ref().is_none_or(|method| path == method || path.rsplit('/').next() == Some(method))
    }
}

/// Makes some requests fail, at random, but in the same way for the same seed: for staging, between a client's retries and its
/// channel. The n-th request is drawn from the sequence of the seed plus n.
#[derive(Debug, Clone)]
pub struct FaultLayer {
    faults: Arc<[Fault]>,
    seeds: JitterSeeds,
}

impl FaultLayer {
    /// Without faults so far.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { faults: Arc::new([]), seeds: JitterSeeds::from(seed) }
    }

    /// Adds a fault. Of several that happen to a request the delays add up, and the first other counts.
    #[must_use]
    pub fn fault(self, fault: Fault) -> Self {
        let faults = self.faults.iter().cloned().chain([fault]).collect();
        Self { faults, ..self }
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = FaultService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        FaultService { inner, layer: self.clone() }
    }
}

/// The service of [`FaultLayer`]. Clones draw from the same sequence.
#[derive(Debug, Clone)]
pub struct FaultService<S> {
    inner: S,
    layer: FaultLayer,
}

impl<S, B, R> Service<http::Request<B>> for FaultService<S>
where
    S: Service<http::Request<B>, Response = http::Response<R>, Future: Send + 'static>,
{
    type Response = http::Response<FaultBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let mut draws = self.layer.seeds.next();
        let (mut delay, mut refusal) = (Duration::ZERO, None);
        for fault in &*self.layer.faults {
            // Each draws, so that one more fault leaves the others as they are.
            if draws.next_u64() > fault.share || !fault.is_for(request.uri().path()) {
                continue;
            }
            match fault.kind {
                Kind::Delay(more) => delay = delay.saturating_add(more),
                kind => drop(refusal.get_or_insert(kind)),
            }
        }
        let response = refusal.map_or_else(|| Ok(self.inner.call(request)), Err);
        Box::pin(async move {
            wait(delay).await;
            match response {
                Ok(response) => Ok(response.await?.map(|body| FaultBody { body: Some(body) })),
                Err(refusal) => Ok(refused(refusal)),
            }
        })
    }
}

fn refused<R>(kind: Kind) -> http::Response<FaultBody<R>> {
    let mut response = http::Response::new(FaultBody { body: None });
    match kind {
        Kind::Http(status) => *response.status_mut() = status,
        Kind::Code(code) => {
            let headers = response.headers_mut();
            headers.insert("content-type", HeaderValue::from_static("application/grpc"));
            headers.insert("grpc-status", HeaderValue::from(code.number()));
            headers.insert("grpc-message", HeaderValue::from_static("injected"));
        }
        Kind::Delay(_) => {}
    }
    response
}

pin_project! {
    /// The body of a response that has come through a [`FaultService`]: the service's own, or nothing.
    #[derive(Debug)]
    pub struct FaultBody<B> {
        #[pin]
        body: Option<B>,
    }
}

impl<B: Body> Body for FaultBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.as_pin_mut().map_or(Poll::Ready(None), |body| body.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
