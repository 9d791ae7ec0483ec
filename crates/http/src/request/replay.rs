//! Request bodies that can be sent more than once.

use crate::request::attempt_body::CutOff;
use bytes::Bytes;
use gax_wire::__private::BoxError;
use http_body::Body;
use http_body_util::{Empty, Full};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A request body that can be made again, from its beginning, for another attempt.
///
/// These are the bodies that the client under the layer gets: [`Full`], [`Empty`] and
/// [`ReplayBody`](crate::ReplayBody). What a caller gives the layer is turned into one of them by
/// [`IntoReplay`](crate::IntoReplay).
///
/// [`Full`] is sent as one frame, all of which an HTTP/1 client continues sending after the call was given up;
/// `ReplayBody` is sent in frames of at most 64 KiB, and ends with its attempt.
pub trait Replay: Body + Sized {
    /// The body from its beginning; `None` if it can be sent once only. It shares what is in memory with this one.
    fn replay(&self) -> Option<Self>;

    /// All of it, if it is in memory in one piece. Preconditions are looked for in it (an `etag`, for one).
    fn bytes(&self) -> Option<Bytes> {
        None
    }

    /// How many bytes of memory are kept for another attempt, which are held against the replay limit.
    fn kept(&self) -> usize {
        self.bytes().map_or(0, |bytes| bytes.len())
    }

    /// Makes this the body of one attempt: what comes back ends it when it is dropped. `None`: the body is sent to its end,
    /// whatever becomes of the attempt.
    #[doc(hidden)]
    fn cut_off(&mut self) -> Option<CutOff> {
        None
    }

    /// Opens the body, if that takes time or can fail; asked before the request is sent, on the attempt's time.
    ///
    /// # Errors
    ///
    /// It can't be opened: the operation ends, since the request can't be sent.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let _ = cx;
        Poll::Ready(Ok(()))
    }
}

impl Replay for Full<Bytes> {
    fn replay(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn bytes(&self) -> Option<Bytes> {
        let mut handle = self.clone();
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut handle).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
            Poll::Ready(None) => Some(Bytes::new()),
            Poll::Ready(Some(Err(never))) => match never {},
            Poll::Pending => None,
        }
    }
}

impl Replay for Empty<Bytes> {
    fn replay(&self) -> Option<Self> {
        Some(*self)
    }

    fn bytes(&self) -> Option<Bytes> {
        Some(Bytes::new())
    }
}
