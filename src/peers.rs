//! The words between an operation and the connection below it: where attempts went, and where the next one should not go.
//!
//! Without the feature `connection` there is nobody to say anything.

use crate::operation::AttemptContext;
use http::{Extensions, Request};
use std::error::Error;

#[cfg(feature = "connection")]
use crate::connection::{ConnectionError, ConnectionFuture};
#[cfg(feature = "connection")]
use crate::operation::{Note, Peer};
#[cfg(feature = "connection")]
use crate::transport::{RetryContext, WaitForReady, chain};
#[cfg(feature = "connection")]
use std::any::Any;

/// The endpoint of an attempt whose response takes its time.
#[derive(Default)]
pub(crate) struct Origin {
    #[cfg(feature = "connection")]
    peer: Option<Peer>,
}

/// Says to the connection whether the request waits for it, and, of an attempt that is not the first, where others failed.
#[cfg_attr(not(feature = "connection"), expect(unused_variables, reason = "nobody is addressed"))]
#[inline]
pub(crate) fn address<B>(
    request: &mut Request<B>,
    waits: Option<bool>,
    context: &AttemptContext<'_>,
    has_others: bool,
) {
    #[cfg(feature = "connection")]
    {
        if let Some(waits) = waits {
            request.extensions_mut().insert(WaitForReady(waits));
        }
        if has_others && let Some(retry) = RetryContext::after(context.peers(), context.deadline()) {
            request.extensions_mut().insert(retry);
        }
    }
}

#[cfg(feature = "connection")]
fn own<F: 'static>(future: &F) -> Option<&ConnectionFuture> {
    (future as &dyn Any).downcast_ref()
}

/// Where the attempt went whose response has come.
#[cfg_attr(not(feature = "connection"), expect(unused_variables, reason = "nobody knows"))]
#[inline]
pub(crate) fn origin<F: 'static>(future: &F) -> Origin {
    Origin {
        #[cfg(feature = "connection")]
        peer: own(future).and_then(ConnectionFuture::peer).cloned(),
    }
}

/// Records where it went, of an attempt that has failed.
#[cfg_attr(
    not(feature = "connection"),
    expect(unused_variables, clippy::needless_pass_by_value, reason = "nobody knows")
)]
#[inline]
pub(crate) fn record(origin: Origin, context: &mut AttemptContext<'_>) {
    #[cfg(feature = "connection")]
    if let Some(peer) = origin.peer {
        context.went_to(peer);
    }
}

/// Records where it went, of an attempt that has its reply, if somebody wants to know.
#[cfg_attr(not(feature = "connection"), expect(unused_variables, reason = "nobody knows"))]
#[inline]
pub(crate) fn record_wanted<F: 'static>(future: &F, context: &mut AttemptContext<'_>) {
    #[cfg(feature = "connection")]
    if context.wants_peer() {
        record(origin(future), context);
    }
}

/// Records where it went, of an attempt with a status in its response's headers.
#[cfg_attr(not(feature = "connection"), expect(unused_variables, reason = "nobody knows"))]
#[cold]
pub(crate) fn record_in(extensions: &Extensions, context: &mut AttemptContext<'_>) {
    #[cfg(feature = "connection")]
    record(Origin { peer: extensions.get().cloned() }, context);
}

/// Records where it went, of an attempt whose connection failed.
#[cfg_attr(not(feature = "connection"), expect(unused_variables, reason = "nobody knows"))]
#[cold]
pub(crate) fn record_from(error: &(dyn Error + 'static), context: &mut AttemptContext<'_>) {
    #[cfg(feature = "connection")]
    {
        let found = chain(error).find_map(<dyn Error>::downcast_ref::<ConnectionError>);
        record(Origin { peer: found.and_then(ConnectionError::origin).cloned() }, context);
    }
}

/// The attempt has used up its time without a response: its connection may be dead.
#[cfg_attr(not(feature = "connection"), expect(unused_variables, reason = "nobody is addressed"))]
pub(crate) fn expire<F: 'static>(future: &F, context: &mut AttemptContext<'_>) {
    #[cfg(feature = "connection")]
    {
        record(origin(future), context);
        if own(future).is_some_and(ConnectionFuture::expire) {
            context.note(Note::ConnectionGivenUp);
        }
    }
}
