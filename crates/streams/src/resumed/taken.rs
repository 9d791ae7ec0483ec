//! Calls that are taken over from the layer.

use super::{
    BytesCodec, GrpcConnections, IdleTimeout, ResumedBody, StreamCall, StreamProtocol, StreamReport,
};
use crate::resumption::{Resumer, Resumption};
use bytes::Bytes;
use gax_retry::MethodKind;
use std::time::Duration;
use tonic::Status;
use tonic_gax::__private::{BoxService, CapturedRequest, GrpcProtocol, OwnService, ReadExtent, ResponseBody};
use tonic_gax::take_over::{BoxCall, CallView, TakeOver, Taken, TakenCall};

/// Keeps the timeouts of streams of responses, without resuming these: for [`RetryLayer::streams`](tonic_gax::RetryLayer::streams).
///
/// A method has such timeouts by its settings: the longest that the caller waits for a message (`wait_timeout` of a table in TOML), and the
/// longest that it may leave the stream alone (`idle_timeout`).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tonic_gax::{Code, MethodPolicies, MethodSettings, RetryLayer, RetrySettings};
/// use gax_streams::Streams;
///
/// let settings = MethodSettings::new(RetrySettings::builder().max_attempts(3).build()?, [Code::Aborted]);
/// let settings = settings.stream_timeouts(Duration::from_secs(60), None);
/// let layer = RetryLayer::new(MethodPolicies::new().service("feed.v1.Feed", settings)).streams(Streams);
/// # drop(layer);
/// # Ok::<(), tonic_gax::SettingsError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "nothing can be set")]
pub struct Streams;

impl TakeOver for Streams {
    fn take(&self, call: &CallView<'_>) -> Result<Option<Taken>, Status> {
        let is_stream = call.kind == Some(MethodKind::ServerStreaming) && !call.timeouts.is_empty();
        Ok(is_stream.then(|| run(Resumer::new(None, None), false)))
    }
}

/// Nothing is taken over if the request is not a message that the resumption is for, or if the response is known to be no stream.
impl TakeOver for Resumption {
    fn take(&self, call: &CallView<'_>) -> Result<Option<Taken>, Status> {
        let is_other = call.kind.is_some_and(|kind| kind != MethodKind::ServerStreaming);
        let message = call.message.filter(|_| !is_other).and_then(BytesCodec::decoded);
        let strategy = message.and_then(|message| self.over_bytes(&message));
        Ok(strategy.map(|strategy| run(Resumer::new(Some(strategy), Some(self)), self.is_endless)))
    }
}

fn run(resumer: Resumer<Bytes, Bytes>, is_endless: bool) -> Taken {
    Box::new(move |call| {
        let TakenCall { service, config, request, bound } = call;
        let config = config.of_long_stream(is_endless, bound);
        let timeouts = config.stream;
        let base = GrpcProtocol::new(OwnService(service), request, ReadExtent::Nothing);
        let protocol = StreamProtocol::new(base, GrpcConnections::new(BytesCodec, resumer), timeouts.wait);
        response(StreamCall::new(protocol, config), timeouts.idle)
    })
}

/// The response of such a call: a body of the messages of all its connections.
fn response(
    call: StreamCall<GrpcConnections<OwnService<BoxService>, CapturedRequest, BytesCodec>>,
    idle_timeout: Option<Duration>,
) -> BoxCall {
    Box::pin(async move {
        let mut source = call.await?;
        if let Some(passed) = source.take_passed() {
            return Ok(passed);
        }
        let mut response = http::Response::new(ResponseBody::default());
        *response.headers_mut() = source.head();
        if let Some(timeout) = idle_timeout {
            source = Box::new(IdleTimeout::new(source, timeout));
        }
        let report = StreamReport::default();
        response.extensions_mut().insert(report.clone());
        *response.body_mut() = ResponseBody::resumed(ResumedBody::new(source, report));
        Ok(response)
    })
}
