//! Bodies of replies, with faults at their places.

use super::StorageCall;
use super::fault::Action;
use super::faults::ArmedFaults;
use super::shared::Shared;
use super::wire::Reply;
use bytes::Bytes;
use gax_driver::__private::{Clock, Timer};
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;

/// The connection is to break, or the stream to be reset.
#[derive(Debug)]
pub(crate) struct Broken;

gax_text::error_text! { Broken {}, "the connection breaks because of a fault of the emulator" }

/// The body of a reply.
pub(crate) struct ReplyBody {
    shared: Arc<Shared>,
    index: usize,
    armed: ArmedFaults,
    content: Bytes,
    /// The place of the content's first byte in the object.
    place: u64,
    /// `true` if its length is sent before it.
    is_sized: bool,
    is_stalled: bool,
    /// How many bytes come before the connection breaks.
    cut: Option<u64>,
    /// How many turns other tasks get before it does.
    turns: u16,
    pause: Option<Instant>,
    timer: Timer,
}

impl ReplyBody {
    /// The longest piece.
    const PIECE: u64 = 64 * 1024;
    /// A body that fails takes with it whatever the connection has buffered: it gets the time to send that first.
    const TURNS: u16 = 1000;

    pub(crate) fn new(
        shared: Arc<Shared>,
        index: usize,
        call: StorageCall,
        armed: ArmedFaults,
        reply: Reply,
    ) -> Self {
        // Places in an upload are those of its request, and an error has no part of an object.
        let is_elsewhere = call.is_upload() || (call == StorageCall::Download && reply.status >= 300);
        let armed = if is_elsewhere { ArmedFaults::default() } else { armed };
        let end = reply.place + length(&reply.body);
        let is_truncated = shared.state.change(|state| state.faults.will_truncate(&armed, reply.place, end));
        Self {
            shared,
            index,
            armed,
            content: reply.body,
            place: reply.place,
            is_sized: reply.is_sized && !is_truncated,
            is_stalled: false,
            cut: None,
            turns: Self::TURNS,
            pause: None,
            timer: Timer::default(),
        }
    }

    /// Breaks the connection after so many bytes.
    pub(crate) fn cut_after(self, bytes: u64) -> Self {
        Self { cut: Some(bytes), ..self }
    }

    /// The next piece, up to the next fault; `None`: that is all.
    fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        if self.cut == Some(0) {
            return Err(Broken);
        }
        let most = self.cut.unwrap_or(u64::MAX).min(Self::PIECE).min(length(&self.content));
        let end = self.place + most;
        let reached = self.shared.state.change(|state| state.faults.reach(&mut self.armed, self.place, end));
        let Some((at, fault)) = reached else {
            return Ok((most > 0).then(|| self.take(most)));
        };
        if let Action::Corrupt = fault.action {
            // Up to the byte before, so that the one to corrupt is the first of what is left.
            return Ok(Some(self.corrupted(at - self.place)));
        }
        let before = self.take(at - self.place);
        match fault.action {
            Action::Reset => self.cut = Some(0),
            Action::Truncate => self.content.clear(),
            Action::Delay(time) => self.pause = Clock::start().at(time),
            Action::Stall => {
                self.is_stalled = true;
                self.shared.stalls.add_permits(1);
            }
            _ => {}
        }
        Ok(Some(before))
    }

    fn take(&mut self, bytes: u64) -> Bytes {
        let piece =
            self.content.split_to(usize::try_from(bytes).unwrap_or(usize::MAX).min(self.content.len()));
        let taken = length(&piece);
        self.place += taken;
        self.cut = self.cut.map(|cut| cut.saturating_sub(taken));
        let is_whole = self.content.is_empty() && self.cut.is_none();
        self.shared.note(self.index, |arrival| {
            arrival.sent += taken;
            arrival.is_whole = is_whole;
        });
        piece
    }

    /// The bytes before one that is corrupted, and that one.
    fn corrupted(&mut self, before: u64) -> Bytes {
        let mut piece = self.take(before + 1).to_vec();
        if let Some(byte) = piece.last_mut() {
            *byte = !*byte;
        }
        piece.into()
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            if self.is_stalled {
                return Poll::Pending;
            }
            if let Some(until) = self.pause {
                ready!(self.timer.poll_at(Some(until), cx));
                self.pause = None;
            }
            match self.next() {
                // Only a fault came.
                Ok(Some(piece)) if piece.is_empty() => {}
                Ok(Some(piece)) => return Poll::Ready(Some(Ok(Frame::data(piece)))),
                Ok(None) => return Poll::Ready(None),
                Err(_) if self.turns > 0 => {
                    self.turns -= 1;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Err(broken) => return Poll::Ready(Some(Err(broken))),
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_sized { SizeHint::with_exact(length(&self.content)) } else { SizeHint::new() }
    }
}

pub(crate) fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
