//! The request of a call: its messages, buffered for as long as another attempt may need them.

use bytes::Bytes;
use gax_driver::__private::{PREFIX, ReplayMemory, Reserved};
use gax_driver::Note;
use gax_driver::ReplayOptions;
use gax_driver::protocol::Replayable;
use gax_wire::note::committed_by;
use grpc::client::SendOptions;
use std::collections::VecDeque;

/// The messages of a request, in the order in which the caller sent them.
pub(crate) struct RequestBuffer {
    messages: VecDeque<(Bytes, SendOptions)>,
    /// How many messages were dropped, since no other attempt can need them.
    dropped: u64,
    /// How many of the messages some attempt has sent.
    sent: u64,
    /// `true` if it can be more than the one message of a unary or server-streaming RPC.
    is_stream: bool,
    has_ended: bool,
    /// The memory for a stream that can be replayed.
    memory: Option<Reserved>,
    /// The reason why it is sent only once.
    note: Option<Note>,
    /// The first message that is not buffered: the attempt that sends it is committed.
    limit: Option<u64>,
    /// The attempt that the operation is committed to.
    committed: Option<u32>,
    /// `true` if that attempt accepts no more messages.
    is_refused: bool,
    /// The reason why a message can't be encoded.
    error: Option<String>,
    max_replay_bytes: usize,
}

impl RequestBuffer {
    /// A request without messages so far. Unless it is a stream it gets a single one.
    pub(crate) fn new(is_stream: bool, memory: Option<&ReplayMemory>, replay: &ReplayOptions) -> Self {
        let memory = memory.filter(|_| is_stream).map(|memory| Reserved::none(memory.clone(), replay));
        Self {
            messages: VecDeque::new(),
            dropped: 0,
            sent: 0,
            note: (is_stream && memory.is_none()).then_some(Note::REQUEST_IS_A_STREAM),
            is_stream,
            has_ended: false,
            memory,
            limit: None,
            committed: None,
            is_refused: false,
            error: None,
            max_replay_bytes: replay.max_replay_bytes,
        }
    }

    /// Adds the caller's next message. Returns its place.
    pub(crate) fn push(&mut self, message: Result<Bytes, String>, options: SendOptions) -> u64 {
        let place = self.dropped + self.messages.len() as u64;
        self.has_ended |= options.final_msg;
        match message {
            Ok(data) => {
                if !self.is_stream && data.len().max(1) > self.max_replay_bytes {
                    self.note = Some(Note::REQUEST_TOO_LARGE_TO_REPLAY);
                }
                if self.committed.is_none()
                    && self.limit.is_none()
                    && let Some(memory) = &mut self.memory
                    && let Err(limit) = memory.take(buffered(data.len()))
                {
                    (self.note, self.limit) = (Some(committed_by(limit)), Some(place));
                }
                self.messages.push_back((data, options));
            }
            Err(error) => self.error = Some(error),
        }
        place
    }

    /// Ends the request.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
    }

    /// The message at that place, if the caller has sent it.
    pub(crate) fn message(&self, place: u64) -> Option<&(Bytes, SendOptions)> {
        self.messages.get(usize::try_from(place.checked_sub(self.dropped)?).ok()?)
    }

    /// Returns whether it ends before that place.
    pub(crate) fn ends_before(&self, place: u64) -> bool {
        self.has_ended && place >= self.dropped + self.messages.len() as u64
    }

    /// Records that an attempt has sent the messages before that place. Returns the reason if that has committed the operation.
    pub(crate) fn was_sent(&mut self, attempt: u32, place: u64) -> Option<Note> {
        self.sent = self.sent.max(place);
        let is_over = self.committed.is_none() && self.limit.is_some_and(|limit| place > limit);
        if is_over {
            self.commit(attempt);
        }
        if self.committed == Some(attempt) {
            self.drop_sent();
        }
        self.note.filter(|_| is_over)
    }

    /// Commits to an attempt: no other one needs the messages that were sent.
    pub(crate) fn commit(&mut self, attempt: u32) {
        self.committed = Some(attempt);
        self.memory = None;
    }

    /// Drops the messages that were sent.
    fn drop_sent(&mut self) {
        while self.dropped < self.sent && self.messages.pop_front().is_some() {
            self.dropped += 1;
        }
    }

    /// Records that an attempt accepts no more messages.
    pub(crate) fn refuse(&mut self, attempt: u32) {
        self.is_refused |= self.committed == Some(attempt);
    }

    /// How many messages some attempt has sent, and whether no more are accepted.
    pub(crate) fn progress(&self) -> (u64, bool) {
        (self.sent, self.is_refused)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns whether the caller has sent no message.
    pub(crate) fn is_empty(&self) -> bool {
        self.dropped == 0 && self.messages.is_empty()
    }

    /// The reason why it is sent only once.
    pub(crate) fn note(&self) -> Option<Note> {
        self.note
    }

    /// Returns whether it can be sent again after that attempt.
    pub(crate) fn replayable(&self, attempt: u32) -> Replayable {
        match self.limit {
            Some(_) if self.committed == Some(attempt) => Replayable::OverLimit,
            _ => self.note.is_none().into(),
        }
    }

    /// The reason why a message can't be encoded.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

/// The bytes that a message of that length takes of a limit. A short one counts as 32 bytes.
fn buffered(message: usize) -> usize {
    message.saturating_add(PREFIX).max(32)
}
