//! The request of a call: its messages, buffered for as long as another attempt may need them.

use crate::limits::{Limits, ReplayMemory, Reserved};
use bytes::Bytes;
use gax_driver::Note;
use gax_driver::protocol::Replayable;
use grpc::client::SendOptions;
use std::collections::VecDeque;

/// The messages of a request, in the order in which the caller sent them.
pub(crate) struct Request {
    messages: VecDeque<(Bytes, SendOptions)>,
    /// How many messages were let go of, since no other attempt can need them.
    dropped: u64,
    /// How many of the messages some attempt has sent.
    sent: u64,
    /// Whether it is more than the one message of a unary or server-streaming RPC, or may be.
    is_stream: bool,
    has_ended: bool,
    /// The memory for a stream that can be replayed.
    memory: Option<Reserved>,
    /// Why it is sent once only.
    note: Option<Note>,
    /// The first message that is not buffered: the attempt that sends it is committed.
    limit: Option<u64>,
    /// The attempt that the operation belongs to.
    committed: Option<u32>,
    /// Whether that attempt takes no further messages.
    is_refused: bool,
    /// Why a message can't be encoded.
    error: Option<String>,
    max_replay_bytes: usize,
}

impl Request {
    /// A request of which nothing has come. One that is no stream is a single message.
    pub(crate) fn new(is_stream: bool, memory: Option<&ReplayMemory>, limits: &Limits) -> Self {
        let memory = memory.filter(|_| is_stream).map(|memory| Reserved::new(memory.clone(), limits));
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
            max_replay_bytes: limits.max_replay_bytes,
        }
    }

    /// Takes the caller's next message. Returns its place.
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
                    && let Err(note) = memory.take(data.len())
                {
                    (self.note, self.limit) = (Some(note), Some(place));
                }
                self.messages.push_back((data, options));
            }
            Err(error) => self.error = Some(error),
        }
        place
    }

    /// The caller sends no more.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
    }

    /// The message at that place, if it has come.
    pub(crate) fn message(&self, place: u64) -> Option<&(Bytes, SendOptions)> {
        self.messages.get(usize::try_from(place.checked_sub(self.dropped)?).ok()?)
    }

    /// Whether it ends before that place.
    pub(crate) fn ends_before(&self, place: u64) -> bool {
        self.has_ended && place >= self.dropped + self.messages.len() as u64
    }

    /// That attempt has sent the messages before that place. Returns why it is committed, if that is so.
    pub(crate) fn was_sent(&mut self, attempt: u32, place: u64) -> Option<Note> {
        self.sent = self.sent.max(place);
        let is_over = self.committed.is_none() && self.limit.is_some_and(|limit| place > limit);
        if is_over {
            self.commit(attempt);
        }
        if self.committed == Some(attempt) {
            self.let_go();
        }
        self.note.filter(|_| is_over)
    }

    /// The operation belongs to that attempt: no other needs what was sent.
    pub(crate) fn commit(&mut self, attempt: u32) {
        self.committed = Some(attempt);
        self.memory = None;
    }

    /// Lets go of what was sent.
    fn let_go(&mut self) {
        while self.dropped < self.sent && self.messages.pop_front().is_some() {
            self.dropped += 1;
        }
    }

    /// That attempt takes no further messages.
    pub(crate) fn refuse(&mut self, attempt: u32) {
        self.is_refused |= self.committed == Some(attempt);
    }

    /// How many messages some attempt has sent, and whether no more are taken.
    pub(crate) fn progress(&self) -> (u64, bool) {
        (self.sent, self.is_refused)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Whether there is anything of it that could have been sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.dropped == 0 && self.messages.is_empty()
    }

    /// Why it is sent once only.
    pub(crate) fn note(&self) -> Option<Note> {
        self.note
    }

    /// Whether it can be sent again, after that attempt.
    pub(crate) fn replayable(&self, attempt: u32) -> Replayable {
        match self.limit {
            Some(_) if self.committed == Some(attempt) => Replayable::OverLimit,
            _ => self.note.is_none().into(),
        }
    }

    /// Why a message can't be encoded.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}
