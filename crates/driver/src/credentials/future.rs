//! A request that gets its credentials.

use super::credentials_error::{BoxError, CredentialsError};
use super::used::UsedCredentials;
use http::StatusCode;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// The response future of [`CredentialsService`](super::CredentialsService).
    #[must_use = "futures do nothing unless polled"]
    pub struct CredentialsFuture<F> {
        #[pin]
        state: State<F>,
    }
}

/// A request on its way, and the credentials by which its server authenticates it.
type Sent<F> = (F, Option<UsedCredentials>);
type Waiting<F> = Pin<Box<dyn Future<Output = Result<Sent<F>, CredentialsError>> + Send>>;

pin_project! {
    #[project = StateProj]
    enum State<F> {
        Failed { error: Option<CredentialsError> },
        Waiting { future: Waiting<F> },
        Sent { #[pin] future: F, used: Option<UsedCredentials> },
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

    pub(super) fn sent(future: F, used: Option<UsedCredentials>) -> Self {
        Self { state: State::Sent { future, used } }
    }
}

impl<F> fmt::Debug for CredentialsFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialsFuture").finish_non_exhaustive()
    }
}

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
                    return error.take().map_or(Poll::Pending, |error| Poll::Ready(Err(error.into_error())));
                }
                StateProj::Waiting { future } => match ready!(future.as_mut().poll(cx)) {
                    Ok((future, used)) => State::Sent { future, used },
                    Err(error) => State::Failed { error: Some(error) },
                },
                StateProj::Sent { future, used } => {
                    let mut response =
                        ready!(future.poll(cx)).map_err(|error| CredentialsError::find(error.into()))?;
                    if let Some(used) = used.take().filter(|_| is_refusal(&response)) {
                        response.extensions_mut().insert(used);
                    }
                    return Poll::Ready(Ok(response));
                }
            };
            self.as_mut().project().state.set(state);
        }
    }
}

/// Whether the head of a response says `UNAUTHENTICATED`, in gRPC's words or in HTTP's.
fn is_refusal<R>(response: &http::Response<R>) -> bool {
    match response.headers().get("grpc-status") {
        // `UNAUTHENTICATED`.
        Some(code) => code.as_bytes() == b"16",
        None => response.status() == StatusCode::UNAUTHORIZED,
    }
}
