//! Cancelling the session of an upload.

use crate::http::transfer::activity::Activity;
use crate::http::transfer::error::{Failure, TransferError};
use crate::http::transfer::exchange::{Boxed, Class, Ending, Exchange, Incoming, Received};
use crate::http::transfer::progress::{TransferProgress, TransferReport};
use crate::http::transfer::protocol::TransferProtocol;
use crate::http::transfer::run::run;
use crate::http::transfer::service::TransferService;
use crate::http::transfer::session::{Dialect, UploadSession};
use crate::http::transfer::upload::exchange::cancel;
use crate::http::transfer::upload::{storage, universal};
use crate::http::{HttpRetryService, ReplayBody};
use gax_retry::http::HttpFailure;
use std::sync::Arc;

impl UploadSession {
    /// Cancels the upload: its server forgets what it has of it. A session that is gone already counts as cancelled.
    ///
    /// It is an operation of its own, with the retries of the client.
    ///
    /// # Errors
    ///
    /// The server could not be reached, or did not cancel: the object may be there already.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops it at once; the server may have the request.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example<S: tonic_gax::transfer::TransferService>(
    /// #     client: &tonic_gax::http::HttpRetryService<S>,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// use tonic_gax::transfer::UploadSession;
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
        let (session, (service, spare, shared)) = (self.clone(), client.parts());
        async move {
            let config = shared.config_with(&mut http::Extensions::new());
            let idle_timeout = config.idle_timeout_of_transfers();
            let exchange = Cancelling { session };
            let protocol = TransferProtocol::new((service, spare), shared, exchange, idle_timeout, None);
            let ended = run(protocol, config).await;
            match ended.result {
                Ok(_) => Ok(()),
                Err(failure) => {
                    Err(TransferError::new(failure, Some(ended.report), TransferProgress::default(), None))
                }
            }
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

    fn prepare(&mut self, _: &Arc<Activity>) -> Boxed<'a, Result<((), http::Request<ReplayBody>), Failure>> {
        Box::pin(std::future::ready(cancel(&self.session).map(|request| ((), request))))
    }

    fn read(&mut self, (): (), head: http::response::Parts, mut body: Incoming) -> Boxed<'a, Received> {
        Box::pin(async move {
            let (content, end) = body.collect().await;
            Received { head, content, end }
        })
    }

    fn received(&mut self, (): (), received: Received) -> Ending {
        let head = &received.head;
        let is_cancelled = match self.session.dialect {
            Dialect::Storage => storage::is_cancelled(head.status),
            Dialect::Universal => universal::is_cancelled(head.status, &head.headers),
        };
        let class = Class::As(HttpFailure::Status(head.status.as_u16()));
        let response = received.into_response();
        if is_cancelled {
            return Ending::Done(Box::new(response));
        }
        Ending::Failed { failure: Failure::status(response), class, progress: false }
    }

    fn lost(&mut self, _: Option<()>) -> (bool, Option<Failure>) {
        (false, None)
    }

    fn progress(&self, _: &Activity) -> TransferProgress {
        TransferProgress::default()
    }

    fn summary(&self) -> TransferReport {
        TransferReport { bytes: 0, resumptions: 0 }
    }
}
