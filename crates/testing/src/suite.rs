//! The suite that operations over every transport pass.

use crate::network::{TokenEndpoint, TokenReply};
use gax_driver::__private::{Locked, Serving};
use gax_driver::credentials::Credentials;
use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary};
use gax_driver::{OperationOptions, OperationReport};
use gax_retry::{
    Attempt, Code, CodeSet, Hedging, Policy, RetrySettings, RetrySettingsBuilder, StartedAttempt, StopReason,
};
use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// An attempt of a trial: its end, this long after its start. The transport under test has to bring it about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestedAttempt {
    /// It has a good reply.
    Replies(Duration),
    /// It fails with that code.
    Fails(Duration, Code),
    /// It fails with `UNAVAILABLE` after the caller has got a part of its reply.
    BreaksOff(Duration),
    /// Its server refuses its [credentials](Trial::credentials), with `UNAUTHENTICATED` or the status 401.
    IsRefused(Duration),
    /// It never ends by itself.
    Hangs,
}

/// An operation that the transport under test is to run.
#[derive(Debug, Clone)]
pub struct Trial {
    settings: RetrySettings,
    hedging: Option<Hedging>,
    options: OperationOptions,
    attempts: Vec<TestedAttempt>,
    tokens: TokenEndpoint,
    /// The time that is left of the request which is being served.
    bound: Option<Duration>,
}

impl Trial {
    gax_text::getters! { self:
        /// The settings.
        pub settings: &RetrySettings = &self.settings;

        /// The codes that are retried.
        pub codes: CodeSet = [Code::Unavailable, Code::DeadlineExceeded].into();

        /// How it is hedged, if it is. Its request is safe to repeat.
        pub hedging: Option<Hedging> = self.hedging;
    }

    /// The settings, the codes and the hedging together.
    pub fn policy(&self) -> Policy {
        Policy::new(&self.settings, self.codes()).with_hedging(self.hedging)
    }

    /// The options, with the observer that the suite looks through. Every success has to be reported.
    pub fn options(&self) -> OperationOptions {
        self.options.clone()
    }

    /// The credentials that its attempts are sent with, also in plain text. They matter where an attempt [is
    /// refused](TestedAttempt::IsRefused).
    pub fn credentials(&self) -> Credentials {
        self.tokens.credentials().allow_plaintext()
    }

    /// The ends of the attempts, one after the other. There are no attempts beyond them.
    #[must_use]
    pub fn attempts(&self) -> &[TestedAttempt] {
        &self.attempts
    }
}

/// A transport under test.
pub trait TestedTransport {
    /// Runs one operation to its end. The result is its report. Dropped, it drops the operation.
    fn run(&self, trial: Trial) -> Pin<Box<dyn Future<Output = OperationReport>>>;

    /// Why a part of the suite does not apply; `None`, the default: it does.
    fn exempts(&self, _part: SuitePart) -> Option<&'static str> {
        None
    }
}

/// A part of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SuitePart {
    /// Reports have the attempts that were made, and their times.
    Reports,
    /// The number of attempts and the total timeout end an operation.
    Limits,
    /// Only codes that are retryable are retried.
    Codes,
    /// An attempt that has used up its RPC timeout is dropped, and another follows.
    Expiry,
    /// The deadline of the request that is being served bounds the operation.
    Deadlines,
    /// A hedge wins, and the other attempt is dropped.
    Hedging,
    /// Nothing is retried once the caller has a part of the reply.
    Commit,
    /// Cached credentials that a server refuses are fetched anew, and the attempt is made again once, which takes no number.
    Credentials,
    /// Observers are notified of each beginning and end, once and in order.
    Observers,
    /// An operation that is dropped at any moment has ended, and observers are notified of it.
    Cancellation,
}

impl SuitePart {
    const ALL: [Self; 10] = [
        Self::Reports,
        Self::Limits,
        Self::Codes,
        Self::Expiry,
        Self::Deadlines,
        Self::Hedging,
        Self::Commit,
        Self::Credentials,
        Self::Observers,
        Self::Cancellation,
    ];

    /// Its operations, and the lines that their reports come to.
    fn trials(self) -> Vec<(Trial, &'static str)> {
        use TestedAttempt::{BreaksOff, Fails, Hangs, IsRefused, Replies};
        let fails = Fails(10 * MS, Code::Unavailable);
        let replies = Replies(10 * MS);
        let of = |attempts: &[TestedAttempt]| trial(settings(), attempts);
        let limited = |settings: RetrySettingsBuilder| trial(settings, &[fails, fails, fails]);
        match self {
            Self::Reports => vec![
                (of(&[replies]), "0-10 OK"),
                (of(&[fails, replies]), "0-10 UNAVAILABLE, 110-120 OK"),
                (of(&[fails, fails, replies]), "0-10 UNAVAILABLE, 110-120 UNAVAILABLE, 320-330 OK"),
            ],
            Self::Limits => vec![
                (limited(settings().max_attempts(2)), "0-10 UNAVAILABLE, 110-120 UNAVAILABLE; MAX_ATTEMPTS"),
                (
                    limited(settings().total_timeout(200 * MS)),
                    "0-10 UNAVAILABLE, 110-120 UNAVAILABLE; TOTAL_TIMEOUT",
                ),
            ],
            Self::Codes => {
                vec![(of(&[Fails(10 * MS, Code::InvalidArgument)]), "0-10 INVALID_ARGUMENT; NON_RETRYABLE")]
            }
            Self::Expiry => vec![(of(&[Hangs, replies]), "0-1000 DEADLINE_EXCEEDED, 1100-1110 OK")],
            Self::Deadlines => vec![(
                Trial { bound: Some(250 * MS), ..of(&[Hangs]) },
                "0-250 DEADLINE_EXCEEDED; TOTAL_TIMEOUT",
            )],
            Self::Hedging => vec![(
                Trial { hedging: Some(hedging()), ..of(&[Hangs, replies]) },
                // A reply that is there when a hedge is due wins, so that it is sent past that moment.
                "0-61 CANCELLED, 50-61 OK",
            )],
            Self::Commit => vec![(of(&[BreaksOff(10 * MS)]), "0-10 UNAVAILABLE; COMMITTED")],
            Self::Credentials => {
                let refused = IsRefused(10 * MS);
                let once = |attempts: &[TestedAttempt]| trial(settings().max_attempts(1), attempts);
                vec![
                    (once(&[refused, replies]), "0-20 OK; token 2"),
                    (once(&[refused, refused, replies]), "0-20 UNAUTHENTICATED; NON_RETRYABLE; token 2"),
                    (of(&[fails, refused, replies]), "0-10 UNAVAILABLE, 110-130 OK; token 2"),
                ]
            }
            Self::Observers | Self::Cancellation => Vec::new(),
        }
    }
}

const MS: Duration = Duration::from_millis(1);

/// Delays of 100, 200 ms and so on, RPC timeouts of a second, ten seconds in all.
fn settings() -> RetrySettingsBuilder {
    let delays = RetrySettings::builder().initial_retry_delay(100 * MS).retry_delay_multiplier(2.0);
    delays.max_retry_delay(1000 * MS).initial_rpc_timeout(1000 * MS).total_timeout(10_000 * MS)
}

fn trial(settings: RetrySettingsBuilder, attempts: &[TestedAttempt]) -> Trial {
    let settings = settings.build().expect("they can work");
    let options = OperationOptions::new().without_jitter().reports(true);
    let tokens = TokenEndpoint::new([TokenReply::Token("token".to_owned(), None)]);
    Trial { settings, hedging: None, options, attempts: attempts.to_vec(), tokens, bound: None }
}

/// Runs the suite over a transport, with tokio's clock paused. The result has the parts that don't apply, and why.
///
/// # Errors
///
/// The first difference, in a sentence: the part, what came of it, and what should have.
pub async fn run_suite(transport: &impl TestedTransport) -> Result<Vec<(SuitePart, &'static str)>, String> {
    let mut exempt = Vec::new();
    for part in SuitePart::ALL {
        if let Some(reason) = transport.exempts(part) {
            exempt.push((part, reason));
            continue;
        }
        for (trial, expected) in part.trials() {
            let (serving, tokens) = (Serving::begin(trial.bound, 0), trial.tokens.clone());
            let report = serving.serve(transport.run(trial)).await;
            let is_about_tokens = part == SuitePart::Credentials;
            let token = if is_about_tokens { format!("; token {}", tokens.asked()) } else { String::new() };
            compare(part, &(line(&report) + &token), expected)?;
        }
        match part {
            SuitePart::Observers => observers(transport).await?,
            SuitePart::Cancellation => cancellation(transport).await?,
            _ => {}
        }
    }
    Ok(exempt)
}

fn compare(part: SuitePart, found: &str, expected: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{part:?}: `{found}`, where `{expected}` was expected"))
}

/// The attempts of a report, and why there are no more.
fn line(report: &OperationReport) -> String {
    let rows = report.attempts().iter().map(|attempt| {
        let (start, end) = (attempt.start().as_millis(), attempt.end().as_millis());
        format!("{start}-{end} {}", attempt.code())
    });
    let reason = report.stop_reason().map(|reason| format!("; {}", reason.as_str()));
    rows.collect::<Vec<_>>().join(", ") + &reason.unwrap_or_default()
}

async fn observers(transport: &impl TestedTransport) -> Result<(), String> {
    let (events, trial) =
        observed(&[TestedAttempt::Fails(10 * MS, Code::Unavailable), TestedAttempt::Replies(10 * MS)]);
    drop(transport.run(trial).await);
    let expected = "operation_started, attempt_started 1, attempt_failed 1, attempt_started 2, attempt_succeeded 2, \
                    operation_succeeded";
    compare(SuitePart::Observers, &events.line(), expected)?;
    if transport.exempts(SuitePart::Hedging).is_some() {
        return Ok(());
    }
    let (events, trial) = observed(&[TestedAttempt::Hangs, TestedAttempt::Replies(10 * MS)]);
    drop(transport.run(Trial { hedging: Some(hedging()), ..trial }).await);
    let expected = "operation_started, attempt_started 1, attempt_started 2, attempt_cancelled 1, attempt_succeeded 2, \
                    operation_succeeded";
    compare(SuitePart::Observers, &events.line(), expected)
}

/// Drops operations at every moment: in an attempt, in a wait, and in the attempt after it.
async fn cancellation(transport: &impl TestedTransport) -> Result<(), String> {
    for moment in (5_u32..200).step_by(10) {
        let (events, trial) =
            observed(&[TestedAttempt::Fails(10 * MS, Code::Unavailable), TestedAttempt::Hangs]);
        if tokio::time::timeout(moment * MS, transport.run(trial)).await.is_ok() {
            return Err("Cancellation: an operation has ended whose second attempt hangs".to_owned());
        }
        let expected = match moment {
            ..10 => "operation_started, attempt_started 1, attempt_cancelled 1, operation_cancelled",
            10..110 => "operation_started, attempt_started 1, attempt_failed 1, operation_cancelled",
            _ => {
                "operation_started, attempt_started 1, attempt_failed 1, attempt_started 2, attempt_cancelled 2, \
                 operation_cancelled"
            }
        };
        // Nothing follows.
        let _passed = tokio::time::timeout(5000 * MS, std::future::pending::<()>()).await;
        compare(SuitePart::Cancellation, &events.line(), expected)?;
    }
    Ok(())
}

/// A second attempt after 50 ms.
fn hedging() -> Hedging {
    Hedging::new(2).delay(50 * MS)
}

/// An operation with those attempts, and the events of which an observer is notified.
fn observed(attempts: &[TestedAttempt]) -> (Arc<Events>, Trial) {
    let events = Arc::new(Events::default());
    let trial = trial(settings(), attempts);
    let options = trial.options().observer(Arc::clone(&events) as Arc<dyn OperationObserver>);
    (events, Trial { options, ..trial })
}

/// The beginnings and ends that an observer is notified of.
#[derive(Debug, Default)]
struct Events(Locked<Vec<String>>);

impl Events {
    fn push(&self, event: impl Display) {
        self.0.lock().push(event.to_string());
    }

    fn attempt(&self, event: &str, number: u32) {
        self.push(format_args!("{event} {number}"));
    }

    fn line(&self) -> String {
        self.0.lock().join(", ")
    }
}

impl OperationObserver for Events {
    fn operation_started(&self, _: &OperationInfo) {
        self.push("operation_started");
    }

    fn operation_succeeded(&self, _: &OperationInfo, _: &OperationSummary) {
        self.push("operation_succeeded");
    }

    fn operation_failed(&self, _: &OperationInfo, _: &OperationSummary) {
        self.push("operation_failed");
    }

    fn operation_cancelled(&self, _: &OperationInfo, _: &OperationSummary) {
        self.push("operation_cancelled");
    }

    fn attempt_started(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.attempt("attempt_started", attempt.number());
    }

    fn attempt_succeeded(&self, _: &OperationInfo, attempt: &Attempt) {
        self.attempt("attempt_succeeded", attempt.number());
    }

    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, _: Option<Duration>) {
        self.attempt("attempt_failed", attempt.number());
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.attempt("attempt_failed_retries_exhausted", attempt.number());
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.attempt("attempt_permanent_failure", attempt.number());
    }

    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        self.attempt("attempt_cancelled", attempt.number());
    }
}
