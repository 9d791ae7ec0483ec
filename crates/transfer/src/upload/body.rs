//! The body of one request of an upload.

use crate::activity::Activity;
use crate::error::{Failure, TransferErrorKind};
use crate::upload::reading::SharedSource;
use bytes::Bytes;
use gax_wire::__private::BoxError;
use http_body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

/// Pieces in memory, and what is read of the source behind them as the connection takes it.
pub(super) struct UploadBody {
    pieces: VecDeque<Bytes>,
    /// The source, and the lease by which this body may read it.
    source: Option<(SharedSource, u64)>,
    left: u64,
    activity: Arc<Activity>,
    /// The bytes of the body before those of the object.
    before: u64,
    /// The place of the object's next byte in the source.
    place: u64,
    /// The place behind the last one.
    end: u64,
    /// The place behind the last byte that any connection has taken.
    sent: Arc<AtomicU64>,
}

impl UploadBody {
    /// A body of these pieces.
    pub(super) fn of(pieces: VecDeque<Bytes>, activity: &Arc<Activity>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        let (activity, sent) = (Arc::clone(activity), Arc::default());
        Self { pieces, source: None, left, activity, before: left, place: 0, end: 0, sent }
    }

    /// A body of so many bytes of a source that stands where they begin.
    pub(super) fn streamed(source: &SharedSource, bytes: u64, activity: &Arc<Activity>) -> Self {
        let lease = source.lock().lend();
        Self { source: Some((source.clone(), lease)), left: bytes, ..Self::of(VecDeque::new(), activity) }
    }

    /// The body, which has the source from one place up to another behind so many other bytes, and says how much of it was taken.
    pub(super) fn carrying(self, before: u64, (place, end): (u64, u64), sent: &Arc<AtomicU64>) -> Self {
        Self { before, place, end, sent: Arc::clone(sent), ..self }
    }

    /// A connection takes so many bytes of the body.
    fn taken(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
        let before = bytes.min(self.before);
        self.before -= before;
        self.place = self.place.saturating_add(bytes - before).min(self.end);
        self.sent.fetch_max(self.place, Ordering::Relaxed);
        self.activity.sent(self.place);
    }

    pub(super) fn len(&self) -> u64 {
        self.left
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        if let Some(piece) = self.pieces.pop_front() {
            return Poll::Ready(Some(Ok(piece)));
        }
        let Some((source, lease)) = self.source.as_ref().filter(|_| self.left > 0) else {
            return Poll::Ready(None);
        };
        let mut reader = source.lock();
        if !reader.is_lent(*lease) {
            return Poll::Ready(Some(Err("the attempt is over: nothing more of the source is sent".into())));
        }
        let failure = match ready!(reader.poll_next(self.left, cx)) {
            Ok(data) if !data.is_empty() => return Poll::Ready(Some(Ok(data))),
            Ok(_) => Failure::new(TransferErrorKind::SourceChanged, "the source is shorter than it was"),
            Err(failure) => failure,
        };
        let problem = failure.problem.to_string();
        reader.fail(failure);
        Poll::Ready(Some(Err(problem.into())))
    }
}

impl Body for UploadBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let next = ready!(self.poll_next(cx));
        if let Some(Ok(data)) = &next {
            self.taken(data.len() as u64);
        }
        Poll::Ready(next.map(|data| data.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
