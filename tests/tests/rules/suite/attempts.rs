//! Attempts, reasons and results that the tests of our own transports share.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::Code;
use gax_testing::{SuitePart, TestedAttempt, TestedTransport, Trial, run_suite};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::time::sleep;
use tonic::Status;
use tonic_gax::OperationReport;

pub(super) type Running = Pin<Box<dyn Future<Output = OperationReport>>>;

pub(super) const ONE_MESSAGE: &str =
    "the caller gets its reply as a whole, so that no attempt fails behind a part of it";
pub(super) const ONE_AT_A_TIME: &str = "it has one attempt at a time";

/// The attempts of a trial that are still to come.
#[derive(Clone)]
pub(super) struct Attempts(Arc<Mutex<VecDeque<TestedAttempt>>>);

impl Attempts {
    pub(super) fn of(trial: &Trial) -> Self {
        Self(Arc::new(Mutex::new(trial.attempts().iter().copied().collect())))
    }

    /// The end of the next attempt, once it has come.
    pub(super) fn next(&self) -> impl Future<Output = Result<(), Code>> + use<> {
        let attempt = self.0.lock().unwrap().pop_front().unwrap();
        async move {
            let (after, result) = match attempt {
                TestedAttempt::Replies(after) => (after, Ok(())),
                TestedAttempt::Fails(after, code) => (after, Err(code)),
                TestedAttempt::IsRefused(after) => (after, Err(Code::Unauthenticated)),
                _ => return std::future::pending().await,
            };
            sleep(after).await;
            result
        }
    }

    /// Like `next`, but with a status for a code.
    pub(super) fn next_status(&self) -> impl Future<Output = Result<(), Status>> + use<> {
        let end = self.next();
        async move { end.await.map_err(status) }
    }

    /// Like `next`, but with a status of HTTP.
    pub(super) fn next_http(&self) -> impl Future<Output = u16> + use<> {
        let end = self.next();
        async move {
            match end.await {
                Ok(()) => 200,
                Err(Code::InvalidArgument) => 400,
                Err(Code::Unauthenticated) => 401,
                Err(_) => 503,
            }
        }
    }
}

pub(super) fn status(code: Code) -> Status {
    Status::new(tonic::Code::from(code as i32), "")
}

/// The transport passes the suite, but for these parts.
pub(super) async fn passes(transport: impl TestedTransport, exempt: &[(SuitePart, &'static str)]) {
    assert_eq!(run_suite(&transport).await, Ok(exempt.to_vec()));
}

/// Why a part does not apply, by such a list.
pub(super) fn exempt(part: SuitePart, exempt: &[(SuitePart, &'static str)]) -> Option<&'static str> {
    exempt.iter().find(|(other, _)| *other == part).map(|(_, reason)| *reason)
}
