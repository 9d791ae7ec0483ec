//! From the flags to the exit status.

use super::args::PlanArgs;
use super::samples::Samples;
use super::settings::subject;
use crate::command::table::other_client;
use crate::command::{Format, print, print_json, warn};
use crate::failure::{Failure, usage};
use crate::render::{Ms, Recoverable, Timeline, attempts, bars, explain, svg, until_measured};
use crate::value::fresh_seed;
use gax_retry::jitter::SeededJitter;
use gax_retry::{AttemptPlan, Hedging, MethodKind, NoJitter, Policy};

pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    if let (Some(client), Some(table)) = (args.client, &args.table) {
        return other_client(client, table, args.method.as_deref(), args.format);
    }
    let pointless = [("--seed", args.seed.is_some()), ("--samples", args.samples.is_some())];
    if let Some((flag, _)) = pointless.into_iter().find(|(_, given)| *given && !args.jitter) {
        return Err(usage!("{flag} has no effect without --jitter; add that"));
    }
    let subject = subject(args)?;
    if let Some(method) = &subject.method {
        warn(&method.findings);
    }
    if subject.hedging.is_some()
        && let Some(flag) = args.of_retries()
    {
        return Err(usage!("{flag} has no effect on a hedged call, which isn't retried; leave it out"));
    }
    let policy = Policy::with_compatibility(&subject.settings, subject.codes, args.compat())
        .with_hedging(subject.hedging);
    let is_stream = args.outcome.iter().any(|outcome| outcome.is_of_stream());
    let policy = if is_stream { policy.for_kind(MethodKind::ServerStreaming) } else { policy };
    let codes = policy.recoverable_codes();
    if let Some(samples) = args.samples {
        let seed = args.seed.unwrap_or_else(fresh_seed);
        let budget = subject.method.as_ref().and_then(|method| method.budget.clone());
        let drawn =
            Samples::draw(&policy, &args.outcome, seed, samples).throttled(budget, &policy, &args.outcome);
        return match args.format {
            Format::Json => print_json(&drawn),
            Format::Text => print(&drawn.to_string()),
        };
    }
    let seed = args.jitter.then(|| args.seed.unwrap_or_else(fresh_seed));
    let plan = match seed {
        Some(seed) => AttemptPlan::new(&policy, &args.outcome, &mut SeededJitter::new(seed)),
        None => AttemptPlan::new(&policy, &args.outcome, &mut NoJitter),
    };
    let timeline = Timeline::from(&plan);
    let recoverable = Recoverable::of(subject.codes, subject.hedging.as_ref());
    let why = explain(&timeline, &subject.settings, recoverable);
    if let Some(file) = &args.svg {
        let title = subject.method.as_ref().map_or("One operation", |method| &method.name);
        let picture = svg::Picture {
            timeline: &timeline,
            title,
            caption: &why,
            total: subject.settings.total_timeout(),
            codes,
            is_hedged: subject.hedging.is_some(),
        };
        let bytes = picture.draw();
        if file.as_os_str() == "-" {
            return print(&bytes);
        }
        std::fs::write(file, bytes).map_err(|error| {
            usage!("--svg {}: can't be written ({error}); name another file", file.display())
        })?;
    }
    match args.format {
        Format::Json => print_json(&timeline),
        Format::Text => {
            let drawn = match (seed, args.seed) {
                (Some(seed), None) => {
                    format!("Waits are drawn at random; --seed {seed} draws these again.\n")
                }
                _ => String::new(),
            };
            let head = subject.method.as_ref().map(|method| format!("{method}\n\n")).unwrap_or_default();
            let bars = bars(&timeline).map(|bars| format!("\n{bars}")).unwrap_or_default();
            let measured = subject.hedging.as_ref().and_then(measured).unwrap_or_default();
            print(&format!("{head}{}{bars}\n{why}\n{measured}{drawn}", attempts(&timeline.table())))
        }
    }
}

/// A plan of one call can't know the calls before it, which say when hedges are sent.
fn measured(hedging: &Hedging) -> Option<String> {
    hedging.percentile_of_latencies()?;
    let until = until_measured(hedging.delay_between().map(Ms));
    let (first, spacing) = (Hedging::FIRST_CALLS, hedging.spacing());
    Some(format!(
        "This is one of the first {first} calls, for which {until}; later a hedge is sent {spacing}.\n"
    ))
}
