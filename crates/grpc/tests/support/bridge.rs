//! A transport of the `grpc` crate over a tonic channel, in the caller's task: it can be paused, drops a call by a reset, and
//! keeps the metadata of every response. (The crate's own transport does neither: see `transport.rs`.)

use bytes::{Buf as _, BufMut as _, Bytes};
use grpc::client::{CallOptions, Invoke, RecvStream, ResponseStreamItem, SendOptions, SendStream};
use grpc::core::{RecvMessage, RequestHeaders, ResponseHeaders, SendMessage, Trailers};
use grpc::metadata::{MetadataMap, MetadataValue};
use grpc::{StatusCodeError, StatusError};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};

#[derive(Clone)]
pub(crate) struct Bridge(pub(crate) Channel);

pub(crate) struct BridgeSender(Option<mpsc::Sender<Bytes>>);

pub(crate) struct BridgeReceiver {
    state: State,
    is_dropped: Arc<AtomicBool>,
}

type Opened = Result<Response<Streaming<Bytes>>, Status>;

enum State {
    Awaiting(Pin<Box<dyn Future<Output = Opened> + Send>>),
    Streaming(Box<Streaming<Bytes>>),
    Closed,
}

impl Invoke for Bridge {
    type SendStream = BridgeSender;
    type RecvStream = BridgeReceiver;

    async fn invoke(&self, headers: RequestHeaders, _: CallOptions) -> (BridgeSender, BridgeReceiver) {
        let (sender, messages) = mpsc::channel(1);
        let is_dropped = Arc::new(AtomicBool::new(false));
        // A request that ends behind its response's receiver is reset, not closed.
        let is_cancelled = Arc::clone(&is_dropped);
        let end =
            tokio_stream::once(()).filter_map(move |()| is_cancelled.load(Ordering::Relaxed).then_some(None));
        let mut request = tonic::Request::new(ReceiverStream::new(messages).map(Some).chain(end));
        *request.metadata_mut() = headers.metadata().clone().into();
        let path = headers.method_name().parse().unwrap();
        let mut grpc = Grpc::new(self.0.clone());
        let response = async move {
            grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
            grpc.streaming(request, path, Raw).await
        };
        let state = State::Awaiting(Box::pin(response));
        (BridgeSender(Some(sender)), BridgeReceiver { state, is_dropped })
    }
}

impl SendStream for BridgeSender {
    async fn send(&mut self, message: &dyn SendMessage, options: SendOptions) -> Result<(), ()> {
        let mut data = message.encode().map_err(drop)?;
        let sender = if options.final_msg { self.0.take() } else { self.0.clone() };
        sender.ok_or(())?.send(data.copy_to_bytes(data.remaining())).await.map_err(drop)
    }
}

impl RecvStream for BridgeReceiver {
    async fn recv(&mut self, message: &mut dyn RecvMessage) -> ResponseStreamItem {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Awaiting(response) => match response.await {
                Ok(response) => {
                    let (metadata, stream, _) = response.into_parts();
                    self.state = State::Streaming(Box::new(stream));
                    ResponseStreamItem::Headers(
                        ResponseHeaders::new().with_metadata(metadata.try_into().unwrap()),
                    )
                }
                // The crate's transport has no timer: to end the attempt is the interceptor's part.
                Err(status) if is_timer(&status) => std::future::pending().await,
                Err(status) => failed(&status),
            },
            State::Streaming(mut stream) => match stream.message().await {
                Ok(Some(mut data)) => {
                    message.decode(&mut data).unwrap();
                    self.state = State::Streaming(stream);
                    ResponseStreamItem::Message
                }
                Ok(None) => ResponseStreamItem::Trailers(Trailers::new(Ok(()))),
                Err(status) => failed(&status),
            },
            State::Closed => ResponseStreamItem::StreamClosed,
        }
    }
}

impl Drop for BridgeReceiver {
    fn drop(&mut self) {
        self.is_dropped.store(true, Ordering::Relaxed);
    }
}

/// Returns whether tonic's channel has ended it, by its `grpc-timeout`.
fn is_timer(status: &Status) -> bool {
    (status.code(), status.message()) == (tonic::Code::Cancelled, "Timeout expired")
}

/// The trailers of a status, with all its metadata.
fn failed(status: &Status) -> ResponseStreamItem {
    let code = StatusCodeError::from(i32::from(status.code()));
    let mut metadata: MetadataMap = status.metadata().clone().try_into().unwrap();
    if !status.details().is_empty() {
        metadata.insert_bin("grpc-status-details-bin", MetadataValue::from_bytes(status.details()));
    }
    let trailers = Trailers::new(Err(StatusError::new(code, status.message())));
    ResponseStreamItem::Trailers(trailers.with_metadata(metadata))
}

/// Messages as they are; none is a request that is given up.
struct Raw;

impl Codec for Raw {
    type Encode = Option<Bytes>;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Option<Bytes>;
    type Error = Status;

    fn encode(&mut self, item: Option<Bytes>, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(item.ok_or_else(|| Status::cancelled("dropped"))?);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}
