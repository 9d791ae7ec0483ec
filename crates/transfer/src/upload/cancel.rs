//! Cancelling the session of an upload.

use crate::activity::Activity;
use crate::error::{Failure, TransferError, TransferErrorKind};
use crate::exchange::{Boxed, Class, Ending, Exchange, Prepared, Received};
use crate::protocol::{Ended, TransferProtocol};
use crate::service::TransferService;
use crate::session::{Dialect, UploadSession};
use crate::upload::dialects::{storage, universal};
use crate::upload::parts::{UploadParts, cancel};
use gax_http::__private::layered_client;
use gax_http::HttpRetryService;
use gax_retry::Code;
use http::HeaderMap;
use std::future::poll_fn;
use std::sync::Arc;
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
            let (title, exchange) = (("cancel an upload".to_owned(), None), Cancelling { session });
            let running = TransferProtocol::run(title, client, config, exchange, None, None);
            let Ended { result, report, transfer } = running.await;
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
        drop(runtime.spawn(async move {
            let cancelled = async {
                if poll_fn(|cx| service.poll_ready(cx)).await.is_ok() {
                    drop(service.call(request).await);
                }
            };
            drop(tokio::time::timeout(LONGEST, cancelled).await);
        }));
    }
}
