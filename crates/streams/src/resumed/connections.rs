//! The connections of a stream, however they are opened.

use super::codec::Measured;
use crate::resumption::{Resumer, StreamResumption};
use gax_driver::protocol::AttemptContext;
use gax_retry::operation::AttemptResult;
use http::HeaderMap;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::Instant;
use tonic::Status;
use tonic_gax::__private::{AttemptParts, Failing, ResponseBody};

/// A message of a stream.
pub(super) type Message<C> = <<C as Connections>::Strategy as StreamResumption>::Response;

/// The strategy of a stream at work.
pub(crate) type StrategyOf<C> = Resumer<
    <<C as Connections>::Strategy as StreamResumption>::Request,
    Message<C>,
    <C as Connections>::Strategy,
>;

/// A response's head and its messages, one connection after the other. Where a status is the error, no other attempt can do better.
pub trait Connections {
    /// Opens them: the response is that of one attempt.
    type Base: Failing<Slot = Poll<Result<Self::Response, Status>>>;
    type Response;
    type Strategy: StreamResumption + ?Sized;
    type Connection;
    /// How the messages of a connection end.
    type End;
    /// Something for the caller.
    type Item;

    fn item(message: Message<Self>) -> Self::Item;

    /// The item for the caller where the stream was restarted, if there is one.
    fn restarted() -> Option<Self::Item> {
        None
    }

    /// Asks the strategy, or what it withholds.
    fn strategy<R>(&mut self, ask: impl FnOnce(&mut StrategyOf<Self>) -> R) -> Result<R, Status>;

    /// The messages that were withheld as the stream ended.
    fn take_withheld(&mut self) -> Vec<Message<Self>> {
        self.strategy(Resumer::drain).unwrap_or_default()
    }

    /// The response of an attempt has come. The error is its end.
    fn open(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, Self::Base>,
        response: Self::Response,
    ) -> Result<Self::Connection, AttemptResult>;

    /// The headers of a connection, for the caller.
    fn head(&mut self, base: &mut Self::Base, connection: Pin<&mut Self::Connection>) -> HeaderMap;

    /// The next message, or how they end.
    #[expect(clippy::type_complexity, reason = "a message that may take its time, and may not come")]
    fn poll_next(
        &mut self,
        connection: Pin<&mut Self::Connection>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
    ) -> Result<Poll<Result<Measured<Message<Self>>, Self::End>>, Status>;

    /// The messages of a connection have come to their end.
    fn ended(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, Self::Base>,
        connection: Pin<&mut Self::Connection>,
        end: Self::End,
    ) -> Result<Ending, Status>;

    /// An attempt has failed. The strategy says whether the stream is resumed, and `base` sends its next request.
    fn settle(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, Self::Base>,
        result: AttemptResult,
        failure: &Status,
    ) -> Result<AttemptResult, Status>;

    /// No attempt is in flight, and the next one starts at that moment.
    fn waits_until(&mut self, _moment: Instant) {}

    /// The trailers of a stream that has ended well.
    fn take_trailers(&mut self) -> Option<HeaderMap> {
        None
    }

    /// A response that is passed on as it arrives, or what is left of one: the caller gets it behind the messages so
    /// far.
    fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        None
    }
}

/// The meaning of a connection's end.
pub enum Ending {
    /// The stream is done, except for what was withheld.
    Done,
    /// The attempt has failed. The strategy sees that status; `None`: that of the failure.
    Failed(AttemptResult, Option<Status>),
    /// No other attempt can do better.
    Final(AttemptResult),
}
