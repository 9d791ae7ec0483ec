//! A hand-written client: what generated ones do with messages of prost.

use bytes::{Buf, Bytes};
use grpc::StatusError;
use grpc::client::stream_util::RecvStreamValidator;
use grpc::client::{CallOptions, Invoke, RecvStream as _, ResponseStreamItem, SendOptions, SendStream as _};
use grpc::core::{RecvMessage, RequestHeaders, SendMessage, Trailers};
use prost::Message;

pub(crate) const LIST: &str = "/google.cloud.asset.v1.AssetService/ListAssets";

/// A message on its way out.
pub(crate) struct Sent<'a, M>(pub(crate) &'a M);

impl<M: Message> SendMessage for Sent<'_, M> {
    fn encode(&self) -> Result<Box<dyn Buf + Send + Sync>, String> {
        Ok(Box::new(Bytes::from(self.0.encode_to_vec())))
    }
}

/// A message that comes in.
pub(crate) struct Came<'a, M>(pub(crate) &'a mut M);

impl<M: Message> RecvMessage for Came<'_, M> {
    fn decode(&mut self, data: &mut dyn Buf) -> Result<(), String> {
        self.0.clear();
        self.0.merge(data).map_err(|error| error.to_string())
    }
}

/// A call of one message, by headers and options.
pub(crate) async fn call<M: Message + Default>(
    channel: &impl Invoke,
    headers: RequestHeaders,
    options: CallOptions,
    request: &impl Message,
) -> (Vec<M>, Trailers) {
    let (mut sender, receiver) = channel.invoke(headers, options).await;
    // Generated clients have it too: what comes in another order than gRPC's ends the call.
    let mut receiver = RecvStreamValidator::new(receiver, false);
    let _ended = sender.send(&Sent(request), SendOptions::new().with_final_msg(true)).await;
    let mut messages = Vec::new();
    loop {
        let mut message = M::default();
        match receiver.recv(&mut Came(&mut message)).await {
            ResponseStreamItem::Headers(_) => {}
            ResponseStreamItem::Message => messages.push(message),
            ResponseStreamItem::Trailers(trailers) => return (messages, trailers),
            ResponseStreamItem::StreamClosed => unreachable!("trailers come before"),
        }
    }
}

/// A unary call.
pub(crate) async fn unary<M: Message + Default>(
    channel: &impl Invoke,
    method: &str,
    request: &impl Message,
) -> Result<M, StatusError> {
    let headers = RequestHeaders::new().with_method_name(method);
    let (messages, trailers) = call(channel, headers, CallOptions::new(), request).await;
    trailers.into_status()?;
    Ok(messages.into_iter().next().unwrap_or_default())
}

/// A moment that has passed as soon as it is looked at.
#[expect(clippy::disallowed_methods, reason = "the crate's deadlines are moments of this clock")]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}
