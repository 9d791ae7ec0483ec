//! The state of a connection through a fault proxy.

use super::connection_fault::Direction;
use super::frames::{ACK, Frame, HEADERS, RST_STREAM, SETTINGS};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// The state of a connection: what has come over it, and which of its faults have happened.
#[derive(Default)]
pub(super) struct LinkState {
    /// By fault, whether it has happened.
    pub(super) happened: Vec<bool>,
    pub(super) is_silent: bool,
    pub(super) stalled: Vec<(Direction, Option<Duration>)>,
    pub(super) requests: u32,
    pub(super) last_stream: u32,
    pub(super) open: BTreeSet<u32>,
    /// When each stream began, where streams are ended after a time.
    pub(super) begun: VecDeque<(Duration, u32)>,
    /// Streams that the proxy has ended.
    pub(super) ended: BTreeSet<u32>,
    pub(super) is_leaving: bool,
    pub(super) has_settings: bool,
    /// Acknowledgements of settings that the server knows nothing about.
    pub(super) acknowledgements: u32,
}

impl LinkState {
    /// A frame of the client; whether it begins a request. `None`: the server is not to get it.
    pub(super) fn receive(&mut self, frame: &Frame, now: Duration) -> Option<bool> {
        if frame.kind == SETTINGS && frame.has(ACK) && self.acknowledgements > 0 {
            self.acknowledgements -= 1;
            return None;
        }
        let is_later = frame.stream > self.last_stream;
        if is_later && self.is_leaving || self.ended.contains(&frame.stream) {
            return None;
        }
        let is_new = is_later && frame.kind == HEADERS;
        if is_new {
            self.last_stream = frame.stream;
            self.requests += 1;
            self.open.insert(frame.stream);
            self.begun.push_back((now, frame.stream));
        } else if frame.kind == RST_STREAM {
            self.open.remove(&frame.stream);
        }
        Some(is_new)
    }
}
