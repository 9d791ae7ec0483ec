//! Uploads that nobody waits for any more.

use crate::http::transfer::service::TransferService;
use crate::http::transfer::upload::exchange::UploadParts;
use crate::operation::{Clock, Timer};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::runtime::Handle;

/// The longest that cancelling may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Cancels an upload's session on the server when it is dropped: in a task of its own and by one request, whose response nobody
/// waits for. Outside of a runtime, and where the upload is to go on, it does nothing.
pub(super) struct Abandoned<S: TransferService> {
    upload: Option<(S, Arc<UploadParts>)>,
}

impl<S: TransferService> Abandoned<S> {
    pub(super) fn new(service: S, parts: &Arc<UploadParts>, is_cancelled: bool) -> Self {
        Self { upload: is_cancelled.then(|| (service, Arc::clone(parts))) }
    }

    /// The upload has ended.
    pub(super) fn disarm(&mut self) {
        self.upload = None;
    }
}

impl<S: TransferService> Drop for Abandoned<S> {
    fn drop(&mut self) {
        let Some((mut service, parts)) = self.upload.take() else { return };
        let (Some(request), Ok(runtime)) = (parts.cancel(), Handle::try_current()) else { return };
        let (mut request, mut timer, mut calling) = (Some(request), Timer::default(), None);
        let deadline = Clock::start().at(LONGEST);
        let mut cancel = move |cx: &mut Context<'_>| {
            if calling.is_none() {
                match (ready!(service.poll_ready(cx)), request.take()) {
                    (Ok(()), Some(request)) => calling = Some(Box::pin(service.call(request))),
                    _ => return Poll::Ready(()),
                }
            }
            calling.as_mut().map_or(Poll::Ready(()), |call| call.as_mut().poll(cx).map(drop))
        };
        drop(runtime.spawn(poll_fn(move |cx| {
            if cancel(cx).is_ready() { Poll::Ready(()) } else { timer.poll_at(deadline, cx) }
        })));
    }
}
