//! A stream of responses that somebody observes, until its end.

use crate::body::FrameBuffer;
use crate::operation::{MessageCounter, Observed};
use gax_retry::Code;
use std::fmt;

/// What is told of a response that was handed to the caller before its end. Dropped before that end, its operation was
/// cancelled.
pub(crate) struct ObservedStream {
    /// Until the end is told.
    observed: Option<Box<Observed>>,
    /// `None`: the response is one message, which is no stream.
    messages: Option<MessageCounter>,
}

impl ObservedStream {
    pub(crate) fn new(observed: Box<Observed>, is_stream: bool) -> Self {
        Self { observed: Some(observed), messages: is_stream.then(MessageCounter::default) }
    }

    /// The caller is about to get these bytes.
    pub(super) fn data(&mut self, data: &[u8]) {
        if let (Some(observed), Some(messages)) = (&self.observed, &mut self.messages) {
            messages.count(data, |_| observed.response_received());
        }
    }

    /// These bytes have come in, and the caller is about to get them.
    pub(super) fn arrived(&mut self, data: &[u8]) {
        if let Some(observed) = &mut self.observed {
            observed.stream_received(data);
        }
        self.data(data);
    }

    /// The stream has ended with that code.
    pub(super) fn ended(&mut self, code: Code) {
        if let Some(observed) = self.observed.take() {
            observed.stream_ended(code);
        }
    }

    /// A response of which everything is there.
    pub(crate) fn whole(observed: Box<Observed>, frames: &FrameBuffer, is_stream: bool) {
        let mut stream = Self::new(observed, is_stream);
        frames.pieces().for_each(|piece| stream.data(piece));
        if let Some(observed) = stream.observed.take() {
            observed.succeeded();
        }
    }
}

impl fmt::Debug for ObservedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedStream").finish_non_exhaustive()
    }
}
