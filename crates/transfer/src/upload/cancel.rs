//! Cancelling the session of an upload.

use crate::activity::Activity;
use crate::error::{Failure, TransferError, TransferErrorKind};
use crate::exchange::{Boxed, Class, Ending, Exchange, Prepared, Received};
use crate::protocol::{Ended, TransferProtocol};
use crate::service::TransferService;
use crate::session::{Dialect, UploadSession};
use crate::upload::dialects::{storage, universal};
use crate::upload::parts::{UploadParts, cancel};
use gax_driver::__private::{Clock, Timer};
use gax_http::__private::layered_client;
use gax_http::HttpRetryService;
use gax_retry::Code;
use http::HeaderMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::runtime::Handle;

impl UploadSession {
    /// Cancels the upload: the server drops the bytes that it has. A session that no longer exists is treated as
    /// cancelled.
    ///
    /// It is a separate operation, with the retries of the client.
    ///
    /// # Errors
    ///
    /// The server could not be reached, or did not cancel. If the upload has already ended, the object exists, and the error has
    /// the server's response, whose status is a success with Cloud Storage's protocol.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops it immediately; the server may have the request.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example<S: gax_transfer::TransferService>(
    /// #     client: &gax_http::HttpRetryService<S>,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// use gax_transfer::UploadSession;
    ///
    /// let session = UploadSession::from_uri(&std::fs::read_to_string("session")?)?;
    /// session.cancel(client).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel<S: TransferService>(
        &self,
        client: &HttpRetryService<S>,
    ) -> impl Future<Output = Result<(), TransferError>> + Send + use<S> {
        let (session, client) = (self.clone(), layered_client(client).clone());
        async move {
            let (mut request, ()) = http::Request::new(()).into_parts();
            let config = client.shared.config_for(&mut request);
            let idle_timeout = config.idle_timeout_of_transfers();
            let protocol = TransferProtocol::new(client, &config, Cancelling { session }, idle_timeout, None);
            let Ended { result, report, transfer } = protocol.run(config).await;
            result.map(drop).map_err(|failure| TransferError::new(failure, Some(report), transfer, None))
        }
    }
}

/// The one request of it.
struct Cancelling {
    session: UploadSession,
}

impl<'a> Exchange<'a> for Cancelling {
    type Step = ();

    fn name(&self) -> &'static str {
        "cancel an upload"
    }

    fn prepare(&mut self, _: &Arc<Activity>) -> Boxed<'a, Prepared<()>> {
        let session = &self.session;
        Box::pin(std::future::ready(
            cancel(session, &session.uri, &HeaderMap::new()).map(|request| ((), request)),
        ))
    }

    fn received(&mut self, (): (), received: Received) -> Ending {
        let head = &received.head;
        let is_cancelled = match self.session.dialect {
            Dialect::Storage => storage::is_cancelled(head.status, &received.content),
            Dialect::Universal => universal::is_cancelled(head.status, &head.headers),
        };
        let is_finished = head.status.is_success();
        let response = received.into_response();
        if is_cancelled {
            return Ending::Done(Box::new(response));
        }
        if is_finished {
            let failure = Failure::new(TransferErrorKind::Status, "the upload has ended: its object exists");
            return Ending::last(Code::FailedPrecondition, failure.with_response(response));
        }
        Ending::Failed { failure: Failure::status(response), class: Class::ByStatus, progress: false }
    }
}

/// The longest that cancelling may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Cancels an upload's session on the server when it is dropped: in a separate task and by one request, whose response nobody
/// waits for. Outside of a runtime, and where the upload is to continue, it does nothing.
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
