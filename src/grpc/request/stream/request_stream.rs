//! A stream of requests, buffered as it is sent.

use crate::grpc::request::stream::attempt_body::{AttemptBody, SharedStream, with};
use crate::grpc::request::stream::shared::Shared;
use gax_driver::__private::{Locked, ReplayMemory, Reserved};
use gax_driver::Note;
use gax_driver::ReplayOptions;
use gax_wire::note::committed_by;
use std::sync::Arc;
use std::task::Waker;
use tonic::Status;
use tonic::body::Body;

/// A stream of requests of one operation. What is sent of it is buffered until it has a reply, or a limit is passed; each
/// attempt is sent that first, and then continues with the rest.
///
/// When it is dropped, what is buffered is released, and only an attempt that has the reply is sent the rest.
#[derive(Debug)]
pub(crate) struct RequestStream {
    shared: SharedStream,
}

impl RequestStream {
    pub(crate) fn new(live: Body, replay: &ReplayOptions, memory: &ReplayMemory) -> Self {
        let reserved = Reserved::none(memory.clone(), replay);
        Self { shared: Arc::new(Locked::new(Shared::new(live, reserved))) }
    }

    /// The stream as that attempt is sent it.
    pub(crate) fn body(&self, attempt: u32) -> Body {
        Body::new(AttemptBody::new(&self.shared, attempt))
    }

    /// Returns whether more was sent than is buffered, and why.
    pub(crate) fn over_limit(&self) -> Option<Note> {
        with(&self.shared, |shared, _| shared.over()).map(|(_, limit)| committed_by(limit))
    }

    /// Returns whether that was sent with this attempt. While nothing was, `waker` is woken when it is.
    pub(crate) fn watch(&self, attempt: u32, waker: &Waker) -> Option<Note> {
        let over = with(&self.shared, |shared, _| shared.watch(waker));
        over.filter(|(committed, _)| *committed == attempt).map(|(_, limit)| committed_by(limit))
    }

    /// The attempt that was sent more than is buffered.
    pub(crate) fn committed(&self) -> Option<u32> {
        with(&self.shared, |shared, _| shared.over()).map(|(attempt, _)| attempt)
    }

    /// That attempt has failed: it is sent no more.
    pub(crate) fn ended(&self, attempt: u32) {
        with(&self.shared, |shared, after| shared.ended(attempt, after));
    }

    /// That attempt has the reply: no other follows.
    pub(crate) fn replied(&self, attempt: u32) {
        with(&self.shared, |shared, after| shared.replied(attempt, after));
    }

    /// Why the stream can't be read to its end.
    pub(crate) fn error(&self) -> Option<Status> {
        with(&self.shared, |shared, _| shared.error().cloned())
    }
}

impl Drop for RequestStream {
    fn drop(&mut self) {
        with(&self.shared, Shared::abandoned);
    }
}
