//! The replies of a server, to be played again in a test.

use gax_driver::OperationReport;
use gax_retry::{Attempt, Code};
use std::fmt::Write as _;

/// The replies of a server to the attempts of a real operation, as a script in TOML: how long each took, and how it ended. It can be kept
/// next to the test that plays it, or given to `gax serve` for a client in another language.
///
/// # Examples
///
/// ```
/// use gax_testing::{Script, VirtualServer};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Written by `recording(report)`, where it went wrong.
/// let text = r#"
///     [[method."my.Library/GetBook"]]
///     code = "UNAVAILABLE"
///     delay = "12ms"
///     [[method."my.Library/GetBook"]]
///     silence = true
/// "#;
/// let server = VirtualServer::start(text.parse::<Script>()?);
/// # drop(server);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn recording(report: &OperationReport) -> String {
    let mut text = String::new();
    for attempt in report.attempts() {
        let method = report.method().trim_start_matches('/');
        // Methods of operations that are no calls may have any name, which is written as TOML writes text.
        let _infallible = writeln!(text, "[[method.{method:?}]]\n{}", reply(attempt));
    }
    text
}

fn reply(attempt: &Attempt) -> String {
    let took = attempt.end().saturating_sub(attempt.start());
    let is_hung = attempt.rpc_timeout().is_some_and(|timeout| took >= timeout);
    if is_hung && attempt.code() == Code::DeadlineExceeded {
        return "silence = true".to_owned();
    }
    format!("code = \"{}\"\ndelay = \"{}ms\"", attempt.code(), took.as_secs_f64() * 1000.0)
}
