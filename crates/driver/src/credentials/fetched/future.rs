//! A request that gets its credentials.

use super::hook::Credentials;
use crate::credentials::error::CredentialsError;
use crate::operation::{RefusedCredentials, uncounted};
use gax_retry::Delivery;
use http::StatusCode;
use pin_project_lite::pin_project;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The error of any service or source.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

pin_project! {
    /// The response future of [`CredentialsService`](super::CredentialsService).
    #[must_use = "futures do nothing unless polled"]
    pub struct CredentialsFuture<F> {
        #[pin]
        state: State<F>,
    }
}

/// The credentials by which a request's server authenticates it, and the number of their fetch.
pub(super) type Used = (Credentials, u64);
/// A request on its way.
type Sent<F> = (F, Option<Used>);
type Waiting<F> = Pin<Box<dyn Future<Output = Result<Sent<F>, CredentialsError>> + Send>>;

pin_project! {
    #[project = StateProj]
    enum State<F> {
        Failed { error: Option<CredentialsError> },
        Waiting { future: Waiting<F> },
        Sent { #[pin] future: F, used: Option<Used> },
    }
}

impl<F> CredentialsFuture<F> {
    pub(super) fn failed(error: CredentialsError) -> Self {
        Self { state: State::Failed { error: Some(error) } }
    }

    pub(super) fn waiting(
        future: impl Future<Output = Result<Sent<F>, CredentialsError>> + Send + 'static,
    ) -> Self {
        Self { state: State::Waiting { future: Box::pin(future) } }
    }

    pub(super) fn sent(future: F, used: Option<Used>) -> Self {
        Self { state: State::Sent { future, used } }
    }
}

gax_text::short_debug! { self: [F] CredentialsFuture<F> {} }

impl<F, R, E> Future for CredentialsFuture<F>
where
    F: Future<Output = Result<http::Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<http::Response<R>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let state = match self.as_mut().project().state.project() {
                StateProj::Failed { error } => {
                    return error.take().map_or(Poll::Pending, |error| Poll::Ready(Err(of_request(error))));
                }
                StateProj::Waiting { future } => match ready!(uncounted(|| future.as_mut().poll(cx))) {
                    Ok((future, used)) => State::Sent { future, used },
                    Err(error) => State::Failed { error: Some(error) },
                },
                StateProj::Sent { future, used } => {
                    let mut response = ready!(future.poll(cx)).map_err(|error| of_service(error.into()))?;
                    if let Some(((credentials, number), delivery)) = used.take().zip(refused(&response)) {
                        let refused = RefusedCredentials::new(credentials.refused(number), delivery);
                        response.extensions_mut().insert(refused);
                    }
                    return Poll::Ready(Ok(response));
                }
            };
            self.as_mut().project().state.set(state);
        }
    }
}

/// How far the request got, if its response says `UNAUTHENTICATED`. The status of HTTP says that nothing was done; that of gRPC may
/// come from an application.
fn refused<R>(response: &http::Response<R>) -> Option<Delivery> {
    match response.headers().get("grpc-status") {
        // `UNAUTHENTICATED`.
        Some(code) => (code.as_bytes() == b"16").then_some(Delivery::Unknown),
        None => (response.status() == StatusCode::UNAUTHORIZED).then_some(Delivery::NotProcessed),
    }
}

/// The error of a request that the service below has failed: a connection that doesn't send credentials says so by this.
pub(super) fn of_service(error: BoxError) -> BoxError {
    let mut link: Option<&(dyn Error + 'static)> = Some(&*error);
    while let Some(current) = link {
        if let Some(found) = current.downcast_ref::<CredentialsError>() {
            return of_request(found.clone());
        }
        link = current.source();
    }
    error
}

/// The error of a request without credentials.
#[cfg(not(feature = "tonic"))]
pub(super) fn of_request(error: CredentialsError) -> BoxError {
    error.into()
}

/// The error of a request without credentials: the status that their source gave, or one of its code.
#[cfg(feature = "tonic")]
pub(super) fn of_request(error: CredentialsError) -> BoxError {
    use tonic::Status;
    let reason: &(dyn Error + 'static) = error.reason();
    let mut status = match reason.downcast_ref::<Status>() {
        Some(said) => {
            let (details, metadata) = (said.details().to_vec().into(), said.metadata().clone());
            Status::with_details_and_metadata(said.code(), said.message(), details, metadata)
        }
        None => Status::new(tonic::Code::from_i32(error.code() as i32), error.reason().to_string()),
    };
    status.set_source(std::sync::Arc::new(error));
    status.into()
}
