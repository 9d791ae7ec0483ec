//! The demo for people.

use super::scene::Scene;
use super::stage::{Played, Seen};
use super::turn::Turn;
use crate::render::{HEAD, Ms, Recoverable, Timeline, attempts, bars, explain, grown, of_code, prose};
use gax_retry::{Code, CodeSet, Compatibility, Hedging, RetrySettings};
use gax_text::Escaped;
use std::fmt::Write as _;
use tonic_gax::CallSettings;

/// The lessons of all scenes.
pub(super) fn lessons(scenes: &[Scene]) -> String {
    let mut text = format!("\n{HEAD}What happened{HEAD:#}\n");
    for (index, scene) in scenes.iter().enumerate() {
        let _infallible = writeln!(text, "{}. {}", index + 1, scene.lesson);
    }
    text.push_str("\nTo call this service with your own client: gax demo --listen 127.0.0.1:50051\n");
    text
}

pub(super) fn head(number: usize, scene: &Scene, call: &CallSettings) -> String {
    let Scene { title, rpc, turns, .. } = scene;
    let turns: Vec<String> = turns.iter().map(ToString::to_string).collect();
    let limits = match call.hedging() {
        Some(hedging) => hedged(call.retry_settings(), hedging),
        None => limits(call.retry_settings(), call.retryable_codes()),
    };
    let head = format!(
        "\n{HEAD}{number}. {title}{HEAD:#}\n{} with {limits}.\nThe server's script: {}.\n\n",
        rpc.name(),
        turns.join(", ")
    );
    prose(&head, 0)
}

/// The settings in a few words.
fn limits(settings: &RetrySettings, codes: CodeSet) -> String {
    let delays = settings.retry_delays(Compatibility::Documented);
    let delays = grown(delays.initial(), delays.multiplier(), delays.max());
    let timeouts = settings.initial_rpc_timeout().map_or_else(
        || "unset".to_owned(),
        |first| grown(first, settings.rpc_timeout_multiplier(), settings.max_rpc_timeout()),
    );
    let total =
        settings.total_timeout().map_or_else(|| "none".to_owned(), |total| format!("{:#}", Ms(total)));
    format!("delays {delays}, RPC timeouts {timeouts}, total timeout {total}; {codes} retried")
}

/// The settings of a hedged call in a few words.
fn hedged(settings: &RetrySettings, hedging: &Hedging) -> String {
    let total =
        settings.total_timeout().map_or_else(|| "none".to_owned(), |total| format!("{:#}", Ms(total)));
    let (most, spacing) = (hedging.max_attempts(), hedging.spacing());
    format!("up to {most} attempts, {spacing}, total timeout {total}; {} not fatal", hedging.codes())
}

/// A line for a request, when it comes and when it is given up.
pub(super) fn happened(seen: &Seen) -> String {
    match seen.cancelled_ms {
        None if seen.is_over => String::new(),
        None => arrives(seen, ""),
        Some(at) => {
            let style = of_code(Code::Cancelled);
            format!("{at:>9}  attempt {} is {style}cancelled{style:#}\n", seen.attempt)
        }
    }
}

/// A line for a request: which attempt of its operation it is, and the result of it. `of` is a method, if there are several.
pub(super) fn arrives(seen: &Seen, of: &str) -> String {
    let Seen { attempt, at_ms, reply, .. } = seen;
    let timeout = Escaped(seen.grpc_timeout.as_deref().unwrap_or("none"));
    let style = match reply {
        Turn::Reply(_, code) => of_code(*code),
        Turn::Hang => of_code(Code::DeadlineExceeded),
    };
    let line = format!(
        "{at_ms:>9}  attempt {attempt}{of} arrives, grpc-timeout {timeout}: {style}{reply}{style:#}\n"
    );
    prose(&line, 11)
}

pub(super) fn outcome(played: &Played) -> String {
    let timeline = Timeline::from(&played.report);
    let bars = bars(&timeline).map(|bars| format!("\n{bars}")).unwrap_or_default();
    let codes = Recoverable::of(played.call.retryable_codes(), played.call.hedging());
    let why = explain(&timeline, played.call.retry_settings(), codes);
    let error = match &played.error {
        Some(status) => format!("The caller gets {}: {}\n", played.code(), Escaped(status.message())),
        None => String::new(),
    };
    let ending = prose(&format!("{why}\n{error}"), 0);
    format!("\n{}{bars}\n{ending}", attempts(&played.report.table()))
}
