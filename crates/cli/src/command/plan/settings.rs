//! The settings that are planned.

use super::args::{HedgingFlags, PlanArgs, SettingsFlags};
use super::table::{TableMethod, method};
use crate::failure::Failure;
use gax_retry::{Code, CodeSet, Compatibility, Hedging, RetrySettings, RetrySettingsBuilder, SettingsError};

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

/// The settings of one RPC, wherever they came from.
pub(super) struct Subject {
    pub(super) settings: RetrySettings,
    pub(super) codes: CodeSet,
    pub(super) hedging: Option<Hedging>,
    /// The method that they are of, where they are from a table.
    pub(super) method: Option<TableMethod>,
}

/// The settings by the flags and, if they name one, the table.
pub(super) fn subject(args: &PlanArgs) -> Result<Subject, Failure> {
    let found = method(args)?;
    let (start, codes) = match &found {
        Some(found) => (found.settings.clone(), found.codes),
        None => (RetrySettings::default(), CodeSet::from([Code::DeadlineExceeded, Code::Unavailable])),
    };
    let builder = start.to_builder().jittered(args.jitter);
    let settings = applied(&args.settings, args.compat(), builder).map_err(|sentence| {
        let rest = if found.is_some() { "; what no flag gives is from the table" } else { "" };
        Failure::Usage(sentence + rest)
    })?;
    let codes = args.retryable_codes.map_or(codes, |codes| codes.0);
    let hedging = hedging(&args.hedging).or(found.as_ref().and_then(|found| found.hedging));
    Ok(Subject { settings, codes, hedging, method: found })
}

fn hedging(flags: &HedgingFlags) -> Option<Hedging> {
    let hedging = Hedging::new(flags.hedging_max_attempts?).delay(flags.hedging_delay.unwrap_or_default());
    Some(flags.non_fatal_codes.into_iter().fold(hedging, |hedging, codes| hedging.non_fatal_codes(codes.0)))
}

/// The builder's settings with those of the flags in their place.
fn applied(
    flags: &SettingsFlags,
    compat: Compatibility,
    mut builder: RetrySettingsBuilder,
) -> Result<RetrySettings, String> {
    if let Some(timeout) = flags.logical_timeout {
        if timeout.is_zero() {
            let sentence = "--logical-timeout is 0, but must be longer than zero; leave it out for no limit";
            return Err(sentence.to_owned());
        }
        builder = builder.logical_timeout(timeout);
        if compat == Compatibility::GaxJava {
            builder = builder.max_attempts(None);
        }
    }
    // Replaces the settings whose flags are given.
    macro_rules! set {
        ($($setting:ident)+) => {$(
            if let Some(value) = flags.$setting {
                builder = builder.$setting(value);
            }
        )+};
    }
    set! { total_timeout initial_retry_delay retry_delay_multiplier max_retry_delay max_attempts }
    set! { initial_rpc_timeout rpc_timeout_multiplier max_rpc_timeout }
    let settings = match compat {
        Compatibility::Grpc => builder.build_for_grpc(),
        _ => builder.build(),
    };
    settings.map_err(|error| in_flags(&error))
}

/// The error with every setting named as its flag.
fn in_flags(error: &SettingsError) -> String {
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    NAMES
        .iter()
        .fold(problems.join("; "), |text, name| text.replace(name, &format!("--{}", name.replace('_', "-"))))
}
