//! The settings that are planned.

use super::Subject;
use super::args::{Compat, PlanArgs, SettingsFlags};
use crate::failure::Failure;
use gax_retry::{Code, CodeSet, RetrySettings, RetrySettingsBuilder, SettingsError};

/// The settings' names; a flag is such a name in kebab case.
const NAMES: [&str; 8] = [
    "total_timeout",
    "initial_retry_delay",
    "retry_delay_multiplier",
    "max_retry_delay",
    "max_attempts",
    "initial_rpc_timeout",
    "rpc_timeout_multiplier",
    "max_rpc_timeout",
];

/// What the flags, and the table if they name one, come to.
pub(super) fn subject(args: &PlanArgs) -> Result<Subject, Failure> {
    let codes = CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]);
    let settings = applied(&args.settings, args.compat, RetrySettings::builder().jittered(args.jitter))?;
    let codes = args.retryable_codes.map_or(codes, |codes| codes.0);
    Ok(Subject { settings, codes, name: None })
}

/// The builder's settings with those of the flags in their place.
fn applied(
    flags: &SettingsFlags,
    compat: Compat,
    mut builder: RetrySettingsBuilder,
) -> Result<RetrySettings, Failure> {
    if let Some(timeout) = flags.logical_timeout {
        if timeout.is_zero() {
            let sentence = "--logical-timeout is 0, but must be longer than zero; leave it out for no limit";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        builder = builder.logical_timeout(timeout);
        if compat == Compat::GaxJava {
            builder = builder.max_attempts(None);
        }
    }
    if let Some(timeout) = flags.total_timeout {
        builder = builder.total_timeout(timeout);
    }
    if let Some(delay) = flags.initial_retry_delay {
        builder = builder.initial_retry_delay(delay);
    }
    if let Some(multiplier) = flags.retry_delay_multiplier {
        builder = builder.retry_delay_multiplier(multiplier);
    }
    if let Some(delay) = flags.max_retry_delay {
        builder = builder.max_retry_delay(delay);
    }
    if let Some(attempts) = flags.max_attempts {
        builder = builder.max_attempts(attempts);
    }
    if let Some(timeout) = flags.initial_rpc_timeout {
        builder = builder.initial_rpc_timeout(timeout);
    }
    if let Some(multiplier) = flags.rpc_timeout_multiplier {
        builder = builder.rpc_timeout_multiplier(multiplier);
    }
    if let Some(timeout) = flags.max_rpc_timeout {
        builder = builder.max_rpc_timeout(timeout);
    }
    builder.build().map_err(|error| Failure::Usage(in_flags(&error)))
}

/// The error with every setting named as its flag.
fn in_flags(error: &SettingsError) -> String {
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    NAMES
        .iter()
        .fold(problems.join("; "), |text, name| text.replace(name, &format!("--{}", name.replace('_', "-"))))
}
