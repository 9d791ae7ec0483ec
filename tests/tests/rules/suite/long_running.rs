//! Long-running operations, which are polled.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{Attempts, ONE_AT_A_TIME, ONE_MESSAGE, Running, exempt, passes};
use gax_client::longrunning::{self, LongRunning, Operation, PollingSettings};
use gax_testing::{SuitePart, TestedTransport, Trial};

struct Polls;

const EACH_POLL: &str =
    "a poll that fails is retried within its own operation, and is the end of polling then";

const EXEMPT: &[(SuitePart, &str)] = &[
    (SuitePart::Reports, EACH_POLL),
    (SuitePart::Limits, EACH_POLL),
    (SuitePart::Expiry, EACH_POLL),
    (SuitePart::Hedging, ONE_AT_A_TIME),
    (SuitePart::Commit, ONE_MESSAGE),
    (SuitePart::Credentials, "each poll is a call of a client, which passes that part itself"),
    (SuitePart::Observers, EACH_POLL),
    (SuitePart::Cancellation, EACH_POLL),
];

impl TestedTransport for Polls {
    fn run(&self, trial: Trial) -> Running {
        let attempts = Attempts::of(&trial);
        let settings = PollingSettings::from(trial.settings()).options(trial.options());
        let mut polling: LongRunning = longrunning::poll("operations/7", settings, move |name| {
            let end = attempts.next_status();
            async move {
                end.await?;
                Ok(Operation { name, done: true, ..Operation::default() })
            }
        });
        Box::pin(async move {
            drop((&mut polling).await);
            polling.report().unwrap().clone()
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, EXEMPT)
    }
}

#[tokio::test(start_paused = true)]
async fn polls_pass() {
    passes(Polls, EXEMPT).await;
}
