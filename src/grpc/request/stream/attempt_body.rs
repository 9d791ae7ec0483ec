//! The stream of requests as one attempt is sent it.

use crate::grpc::request::stream::shared::{Deferred, Next, Shared};
use bytes::Bytes;
use gax_driver::__private::Locked;
use http_body::{Body as HttpBody, Frame};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::Status;

/// A stream as the attempts of one operation share it. Its lock is held for bookkeeping only, never while the stream is read.
pub(super) type SharedStream = Arc<Locked<Shared>>;

/// Looks at what is shared, or changes it.
pub(super) fn with<R>(shared: &SharedStream, change: impl FnOnce(&mut Shared, &mut Deferred) -> R) -> R {
    let mut after = Deferred::default();
    let result = shared.change(|shared| change(shared, &mut after));
    after.run();
    result
}

/// The body of one attempt: the stream from its beginning.
pub(super) struct AttemptBody {
    shared: SharedStream,
    id: u64,
}

impl AttemptBody {
    pub(super) fn new(shared: &SharedStream, attempt: u32) -> Self {
        Self { shared: Arc::clone(shared), id: with(shared, |shared, _| shared.attach(attempt)) }
    }
}

impl HttpBody for AttemptBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let id = self.id;
        let mut next = with(&self.shared, |shared, _| shared.next(id, cx));
        loop {
            let mut live = match next {
                Next::Read(live) => live,
                Next::Frame(frame) => return Poll::Ready(Some(Ok(frame))),
                Next::End => return Poll::Ready(None),
                Next::Failed(status) => return Poll::Ready(Some(Err(status))),
                Next::Gone => return Poll::Ready(Some(Err(gone()))),
                Next::Wait => return Poll::Pending,
            };
            let read = Pin::new(&mut live).poll_frame(cx);
            next = with(&self.shared, |shared, after| shared.put_back(id, live, read, cx, after));
        }
    }

    fn is_end_stream(&self) -> bool {
        with(&self.shared, |shared, _| shared.is_at_end(self.id))
    }
}

impl Drop for AttemptBody {
    fn drop(&mut self) {
        with(&self.shared, |shared, after| shared.detach(self.id, after));
    }
}

impl fmt::Debug for AttemptBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptBody").field("id", &self.id).finish_non_exhaustive()
    }
}

/// No caller waits for this attempt's response: its stream is reset, as one is whose response is dropped.
#[cold]
fn gone() -> Status {
    let mut status = Status::cancelled("the operation continues without this attempt");
    status.set_source(Arc::new(h2::Error::from(h2::Reason::CANCEL)));
    status
}
