//! Operations that are run to their end, and their outcome.

use super::fake::{self, Act, Attempt, Config, Fake, Script};
use crate::operation::report::OperationReport;
use crate::operation::{AttemptContext, Clock, Driver, Output, Verdict};
use gax_retry::operation::{AttemptResult, Resend, Stop};
use gax_retry::{Code, RetrySettings, StartedAttempt, StopReason};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

pub(super) const MS: Duration = Duration::from_millis(1);

pub(super) fn unavailable() -> Act {
    Act::Ends(Duration::ZERO, AttemptResult::failed(Code::Unavailable))
}

pub(super) fn done() -> Act {
    Act::Ends(Duration::ZERO, AttemptResult::done())
}

pub(super) fn lost() -> Act {
    Act::Ends(Duration::ZERO, AttemptResult::failed(Code::Unavailable).with_resend(Resend::Lost))
}

/// 200 ms x 2 up to 500 ms, RPC timeouts of 1500 ms x 2 up to 3000 ms, five seconds in all.
pub(super) fn five_seconds() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(200 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(500 * MS)
        .initial_rpc_timeout(1500 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(3000 * MS)
        .total_timeout(5000 * MS)
        .jittered(false)
        .build()
        .unwrap()
}

pub(super) fn at_once(attempts: u32) -> RetrySettings {
    RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(attempts).build().unwrap()
}

/// The outcome of an operation, and its cost.
pub(super) struct Outcome {
    pub(super) stop: Option<Stop>,
    pub(super) report: OperationReport,
    pub(super) has_news: bool,
    pub(super) took: Duration,
    /// How often the future was polled.
    pub(super) polls: usize,
    /// How often the protocol was notified that the operation waits before an attempt.
    pub(super) waits: usize,
    /// How many failures the protocol was asked to hold.
    pub(super) holds: usize,
    /// The attempts that used up their time, where they were begun.
    pub(super) expired: Vec<Option<u32>>,
    /// How many attempts were alive when the end came.
    pub(super) alive: usize,
}

impl Outcome {
    pub(super) fn stop_reason(&self) -> Option<StopReason> {
        self.report.stop_reason()
    }

    /// Number, start, end and code of each attempt, in milliseconds.
    pub(super) fn rows(&self) -> Vec<(u32, u128, u128, Code)> {
        let rows = self.report.attempts().iter();
        rows.map(|row| (row.number(), row.start().as_millis(), row.end().as_millis(), row.code())).collect()
    }
}

/// A driver that begins now, within the caller's time.
pub(super) fn begun(
    settings: &RetrySettings,
    script: Script,
    bound: Option<Duration>,
    send: impl FnOnce(&mut Fake, StartedAttempt, &AttemptContext<'_>) -> Attempt,
) -> Driver<Fake> {
    let (fake, config) = parts(settings, script);
    Driver::begun(fake, config, false, bound, |fake, _, started, context| send(fake, started, context))
}

pub(super) fn driver(settings: &RetrySettings, script: Script) -> Driver<Fake> {
    let (fake, config) = parts(settings, script);
    Driver::new(fake, config)
}

fn parts(settings: &RetrySettings, script: Script) -> (Fake, Arc<Config>) {
    let codes = [Code::Unavailable, Code::DeadlineExceeded];
    let config = fake::config(settings, codes, script.compatibility, script.hedging);
    let config = config.with_budget(script.budget.clone());
    (Fake::new(script), Arc::new(config))
}

pub(super) async fn run(settings: &RetrySettings, script: Script) -> Outcome {
    finish(driver(settings, script)).await
}

/// Continues with an operation until it has ended.
pub(super) async fn finish(driver: Driver<Fake>) -> Outcome {
    let began = Clock::start();
    let mut driver = pin!(driver);
    let mut polls = 0;
    let output = poll_fn(|cx| {
        polls += 1;
        driver.as_mut().poll(cx, &mut ())
    })
    .await;
    let stop = match output {
        Output::Failed(stop) => Some(stop),
        Output::Reply => None,
        Output::Item => panic!("nothing was delivered"),
    };
    let has_news = driver.is_reported();
    let report = match stop {
        Some(stop) => driver.as_mut().failed(stop),
        None => driver.as_mut().finish(Verdict::Good),
    };
    let fake = driver.as_mut().protocol();
    let (waits, holds, alive) = (fake.waits, fake.holds, Arc::strong_count(&fake.alive) - 1);
    let expired = std::mem::take(&mut fake.expired);
    Outcome { stop, report, has_news, took: began.elapsed(), polls, waits, holds, expired, alive }
}
