//! The body of one request of an upload.

use crate::activity::Activity;
use crate::error::{Failure, TransferErrorKind};
use crate::upload::reading::SharedSource;
use bytes::Bytes;
use gax_wire::__house::BoxError;
use http_body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

/// Pieces in memory, and what is read of the source behind them as the connection takes it.
pub(super) struct UploadBody {
    pieces: VecDeque<Bytes>,
    source: Option<Lent>,
    left: u64,
    activity: Arc<Activity>,
    /// The place of its end in the source, and the place behind the last byte that a connection has taken of that.
    reach: Option<(u64, Arc<AtomicU64>)>,
}

/// The source, as far as this body may read it.
struct Lent {
    source: SharedSource,
    lease: u64,
}

impl UploadBody {
    /// A body of these pieces.
    pub(super) fn of(pieces: VecDeque<Bytes>, activity: &Arc<Activity>) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, source: None, left, activity: Arc::clone(activity), reach: None }
    }

    /// A body of so many bytes of a source that stands where they begin.
    pub(super) fn streamed(source: &SharedSource, bytes: u64, activity: &Arc<Activity>) -> Self {
        let lease = source.lock().lend();
        let source = Some(Lent { source: source.clone(), lease });
        Self { pieces: VecDeque::new(), source, left: bytes, activity: Arc::clone(activity), reach: None }
    }

    /// The body, which ends at that place of the source, and says how much of it was taken.
    pub(super) fn reaching(self, end: u64, reach: &Arc<AtomicU64>) -> Self {
        Self { reach: Some((end, Arc::clone(reach))), ..self }
    }

    pub(super) fn len(&self) -> u64 {
        self.left
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        if let Some(piece) = self.pieces.pop_front() {
            return Poll::Ready(Some(Ok(piece)));
        }
        let Some(lent) = self.source.as_ref().filter(|_| self.left > 0) else { return Poll::Ready(None) };
        let mut reader = lent.source.lock();
        if !reader.is_lent(lent.lease) {
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
            self.left = self.left.saturating_sub(data.len() as u64);
            if let Some((end, reach)) = &self.reach {
                reach.fetch_max(end.saturating_sub(self.left), Ordering::Relaxed);
            }
            self.activity.sent(data.len());
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
