//! Operations of closures.

use super::attempts::{Attempts, ONE_MESSAGE, Running, exempt, passes};
use gax_driver::Retryer;
use gax_testing::{SuitePart, TestedTransport, Trial};

struct Closures;

const EXEMPT: &[(SuitePart, &str)] = &[
    (SuitePart::Commit, ONE_MESSAGE),
    (SuitePart::Credentials, "a closure's error doesn't say whether anything was fetched for its request"),
];

impl TestedTransport for Closures {
    fn run(&self, trial: Trial) -> Running {
        let attempts = Attempts::of(&trial);
        let retryer = Retryer::with_policy(trial.policy(), trial.codes()).options(trial.options());
        Box::pin(async move {
            match retryer.run(|_| attempts.next_status()).await {
                Ok(retried) => retried.report().clone(),
                Err(error) => error.report().clone(),
            }
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, EXEMPT)
    }
}

#[tokio::test(start_paused = true)]
async fn closures_pass() {
    passes(Closures, EXEMPT).await;
}
