//! Retries of anything: a closure that returns a `Result`, in a task or in a thread.
//!
//! ```text
//! cargo run --example closures
//! ```

use gax_driver::{Retryer, retry, retry_blocking};
use std::error::Error;
use std::io;
use std::time::Duration;
use tonic_gax::{Code, RetrySettings};

/// A function that fails until its third call.
struct Flaky(u32);

impl Flaky {
    fn call(&mut self) -> Result<u32, tonic::Status> {
        self.0 += 1;
        if self.0 < 3 { Err(tonic::Status::unavailable("not yet")) } else { Ok(self.0) }
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(5))
        .retry_delay_multiplier(2.0)
        .total_timeout(Duration::from_secs(5))
        .build()?;

    // In a task. If the error has a code, a set of codes decides which errors are retried.
    let mut flaky = Flaky(0);
    let value = retry(&settings, [Code::Unavailable], || std::future::ready(flaky.call())).await?;
    println!("retry: {value}");

    // In a thread, without a runtime.
    let mut flaky = Flaky(0);
    let value = retry_blocking(&settings, [Code::Unavailable], || flaky.call())?;
    println!("retry_blocking: {value}");

    // For other errors, a closure decides. Create a `Retryer` once and use it often: it returns reports, and
    // its closures get their attempt.
    let mut failures = vec![io::ErrorKind::ConnectionReset, io::ErrorKind::TimedOut];
    let read = |_| match failures.pop() {
        Some(kind) => Err(io::Error::from(kind)),
        None => Ok("contents"),
    };
    let retryer =
        Retryer::new(&settings, |error: &io::Error| error.kind() != io::ErrorKind::NotFound).named("read");
    let read = retryer.run_blocking(read)?;
    println!("{}", read.report());
    assert_eq!((*read.value(), read.report().attempt_count()), ("contents", 3));
    Ok(())
}
