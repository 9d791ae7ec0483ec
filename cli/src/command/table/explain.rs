//! `gax table explain`: what a table means for one method, in words and numbers.

use super::beside::Beside;
use super::bounds::{Bounds, Variables};
use super::methods::{MethodRow, codes_text, find, line_of, methods};
use super::show::text::{delay, limit, rpc_timeout};
use super::source::{GapicFlag, ProtoFlags, Reading};
use crate::command::{Format, print, print_json};
use crate::failure::Failure;
use crate::input::Input;
use crate::render::{Align, Cell, Grid, HEAD, Human, Ms, Timeline, attempts, table, until_measured};
use clap::Args;
use gax_retry::__private::Escaped;
use gax_retry::{AttemptPlan, Code, CodeSet, Hedging, Impact, NoJitter};
use gax_table::{Dialect, HedgingPolicy, MethodPolicy, PolicyField, RetryTable};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// The most attempts that the table of attempts shows.
const SHOWN: usize = 12;

/// Explain what a retry table means for one method
///
/// Explains how many attempts a call makes and when, what ends it, how long it can take, and how much load
/// an outage adds to the service; which line each value comes from; and how other clients interpret the
/// same table.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(crate) struct ExplainArgs {
    /// The retry table; - is standard input
    #[arg(value_name = "TABLE")]
    table: PathBuf,

    /// The method: pkg.Service/Method, or just Method if only one has that name
    #[arg(value_name = "METHOD")]
    method: String,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    gapic: GapicFlag,

    #[command(flatten)]
    protos: ProtoFlags,

    /// Lower the limits by the environment variables `GAX_RETRIES`, `GAX_TOTAL_TIMEOUT` and `GAX_MAX_ATTEMPTS`, as
    /// a program that reads them does
    #[arg(long, help_heading = "Options")]
    env: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
}

const JSON: &str = "\
JSON:
  {\"method\":..,\"dialect\":..,\"environment\":..,\"codes\":[..],\"attempts_at_most\":..,\"worst_case_ms\":..,\"load\":..,
    \"throttled_load\":..,\"refused\":PLAN,\"hanging\":PLAN,\"polling\":..,\"batching\":..,
    \"idempotent\":..,
    \"dialects\":[{\"dialect\":..,\"codes\":[..],\"total_timeout_ms\":..,\"max_attempts\":..,
    \"worst_case_ms\":..,\"load\":..,\"problem\":..},..]}
  PLAN is in the form of gax plan, without jitter. refused: every attempt is refused at once.
  hanging: no attempt gets a reply. polling, batching and idempotent are in the form of gax table show.
  environment: null without --env, else {\"retries\":\"off\"|\"on\",\"total_timeout_ms\":..,\"max_attempts\":..}.
  throttled_load: the load of 100 operations, one after the other, with retry throttling.
  null: attempts_at_most if no number limits them, worst_case_ms if a call may take forever,
  throttled_load if the table has no retry throttling, problem if the dialect accepts the table.";

#[derive(Debug, Serialize)]
struct Explanation {
    method: String,
    dialect: &'static str,
    environment: Option<Variables>,
    codes: Vec<&'static str>,
    attempts_at_most: Option<u32>,
    worst_case_ms: Option<Ms>,
    load: f64,
    throttled_load: Option<f64>,
    refused: Timeline,
    hanging: Timeline,
    #[serde(flatten)]
    beside: Beside,
    dialects: Vec<Reader>,
}

/// What the table is read from, once for each dialect.
struct Files {
    tables: Vec<Input>,
    gapic_yaml: Option<Input>,
}

/// What a dialect makes of the method.
#[derive(Debug, Serialize)]
struct Reader {
    dialect: &'static str,
    codes: Option<Vec<&'static str>>,
    total_timeout_ms: Option<Ms>,
    max_attempts: Option<u32>,
    worst_case_ms: Option<Ms>,
    load: Option<f64>,
    problem: Option<String>,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let bounds = Bounds::read(args.env)?;
    let api = args.protos.describe()?;
    let files = Files { tables: vec![Input::table(&args.table)?], gapic_yaml: args.gapic.read()? };
    let read = || args.reading.merged(&files.tables, files.gapic_yaml.as_ref(), api.as_ref());
    let (service, name) = {
        let table = read()?;
        let row = find(methods(&table, api.as_ref()), &table, &args.method)?;
        (row.service.to_owned(), row.method.to_owned())
    };
    // A table takes many times its text: one is there at a time.
    let dialects =
        Dialect::ALL.iter().map(|dialect| reader(args, &files, *dialect, &service, &name)).collect();
    let table = read()?;
    let policy = table.lookup(&service, &name).filter(|policy| policy.entry().is_some());
    let row = MethodRow { service: &service, method: &name, policy };
    let nothing = || {
        let sentence = format!(
            "the table has nothing for {:?}: calls go through as they are, without a deadline",
            args.method
        );
        Failure::Usage(sentence)
    };
    let policy = row.policy.ok_or_else(nothing)?;
    let codes = codes_of(policy);
    let bounded = policy.to_policy(table.dialect().compatibility()).with_environment(&bounds.environment());
    let budget = table.throttling().map(|throttling| throttling.budget());
    let impact = Impact::of(&bounded.clone().with_budget(budget));
    let explanation = Explanation {
        method: row.name(),
        dialect: table.dialect().as_str(),
        environment: bounds.json(),
        codes: names(codes),
        attempts_at_most: bounds.attempts(attempts_at_most(policy, &impact)).0,
        worst_case_ms: impact.worst_case().map(Ms),
        load: impact.load(),
        throttled_load: impact.throttled_load(),
        refused: Timeline::from(&AttemptPlan::refused(&bounded, &mut NoJitter)),
        hanging: Timeline::from(&AttemptPlan::new(&bounded, &[], &mut NoJitter)),
        beside: row.beside(&table),
        dialects,
    };
    match args.format {
        Format::Json => print_json(&explanation)?,
        Format::Text => print(&text(&explanation, policy, table.dialect(), &impact, bounds))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn names(codes: CodeSet) -> Vec<&'static str> {
    codes.iter().map(Code::name).collect()
}

/// The codes that another attempt follows.
fn codes_of(policy: MethodPolicy<'_>) -> CodeSet {
    policy.hedging().map_or(policy.codes(), HedgingPolicy::non_fatal_codes)
}

fn attempts_at_most(policy: MethodPolicy<'_>, impact: &Impact) -> Option<u32> {
    if policy.hedging().is_some() {
        return Some(impact.load_of_silence());
    }
    let (settings, codes) = (policy.settings(), policy.codes());
    let unlimited = settings.max_attempts().is_none() && settings.total_timeout().is_none();
    if codes.is_empty() || unlimited { Some(1) } else { settings.max_attempts() }
}

/// The method as that dialect reads it.
fn reader(args: &ExplainArgs, files: &Files, dialect: Dialect, service: &str, method: &str) -> Reader {
    let problem = |problem: String| Reader {
        dialect: dialect.as_str(),
        codes: None,
        total_timeout_ms: None,
        max_attempts: None,
        worst_case_ms: None,
        load: None,
        problem: Some(problem),
    };
    let table: RetryTable = match args.reading.merged_in(dialect, &files.tables, files.gapic_yaml.as_ref()) {
        Ok(table) => table,
        Err(error) => {
            let place =
                error.origin().map_or_else(String::new, |origin| format!(" (line {})", origin.line()));
            return problem(format!("refuses the whole file: {}{place}", error.message()));
        }
    };
    if table.findings().iter().any(|finding| finding.rule() == "dropped-file") {
        return problem("drops the file in silence".to_owned());
    }
    let Some(policy) = table.lookup(service, method).filter(|policy| policy.entry().is_some()) else {
        return problem("has nothing for the method".to_owned());
    };
    let impact = Impact::of(&policy.to_policy(dialect.compatibility()));
    Reader {
        dialect: dialect.as_str(),
        codes: Some(names(codes_of(policy))),
        total_timeout_ms: policy.settings().total_timeout().map(Ms),
        max_attempts: match policy.hedging() {
            Some(_) => Some(impact.load_of_silence()),
            None => policy.settings().max_attempts(),
        },
        worst_case_ms: impact.worst_case().map(Ms),
        load: Some(impact.load()),
        problem: None,
    }
}

fn text(
    explanation: &Explanation,
    policy: MethodPolicy<'_>,
    dialect: Dialect,
    impact: &Impact,
    bounds: Bounds,
) -> String {
    let mut text = format!("{HEAD}{}{HEAD:#}\n\n", Escaped(&explanation.method));
    for sentence in bounds.sentence().into_iter().chain(sentences(explanation, policy, impact, bounds)) {
        let _infallible = writeln!(text, "{sentence}");
    }
    for sentence in explanation.beside.sentences() {
        let (first, rest) = sentence.split_at_checked(1).unwrap_or_default();
        let _infallible = writeln!(text, "{}{rest}.", first.to_uppercase());
    }
    let _infallible = writeln!(text, "\n{}", table(&origins(policy, dialect, bounds), 0));
    let mut refused = explanation.refused.clone();
    if refused.attempts.len() > 1 {
        let left_out = refused.attempts.len().saturating_sub(SHOWN);
        refused.attempts.truncate(SHOWN);
        if left_out > 0 {
            refused.not_attempted = None;
        }
        let _infallible = write!(
            text,
            "If the service refuses every attempt at once, without jitter:\n\n{}",
            attempts(&refused.table())
        );
        if left_out > 0 {
            let _infallible = writeln!(text, "and {left_out} more");
        }
        text.push('\n');
    }
    let _infallible = write!(text, "How others read the same table:\n\n{}", table(&others(explanation), 0));
    for reader in &explanation.dialects {
        if let Some(problem) = &reader.problem {
            let _infallible = writeln!(text, "\n{} {}.", reader.dialect, Escaped(problem));
        }
    }
    text
}

fn sentences(
    explanation: &Explanation,
    policy: MethodPolicy<'_>,
    impact: &Impact,
    bounds: Bounds,
) -> Vec<String> {
    let (settings, codes) = (policy.settings(), policy.codes());
    let most = impact.most_attempts();
    let attempts = match explanation.attempts_at_most {
        // One hedge is none.
        most if policy.hedging().is_some() && most != Some(1) => hedged(policy, impact),
        Some(1) if codes.is_empty() && policy.hedging().is_none() => {
            "A call makes one attempt: no code is retryable.".to_owned()
        }
        Some(1) => "A call makes one attempt.".to_owned(),
        Some(count) => format!("A call makes at most {count} attempts. Retryable codes: {codes}."),
        None if impact.is_truncated() => format!(
            "maxAttempts is not set and there is no delay: nothing slows the attempts down. Retryable codes: {codes}."
        ),
        None => format!(
            "maxAttempts is not set. In 100 simulated outages the busiest call made {most} attempts. Retryable codes: {codes}."
        ),
    };
    let total = bounds.total_timeout(settings).0.map(|total| format!("{:#}", Human(total)));
    let ends = match (total, explanation.attempts_at_most) {
        (Some(total), Some(1)) => format!("The call ends with that attempt, after {total} at the latest."),
        (None, Some(1)) => "The call ends with that attempt.".to_owned(),
        (Some(total), Some(_)) => {
            format!(
                "It ends with a success, with any other code, with the last attempt, or after {total} in total."
            )
        }
        (Some(total), None) => {
            format!("It ends with a success, with any other code, or after {total} in total.")
        }
        (None, _) => "It ends with a success, with any other code, or with the last attempt.".to_owned(),
    };
    let worst = match impact.worst_case() {
        Some(time) => format!("Worst case: {}.", Human(time)),
        None => "Worst case: unbounded, because an attempt has no deadline.".to_owned(),
    };
    let load = impact.load();
    let outage = if most == 1 {
        "An outage does not multiply the load of the service.".to_owned()
    } else {
        let is_exact = explanation.attempts_at_most == u32::try_from(most).ok();
        let average = if is_exact { "" } else { ", on average" };
        format!(
            "If the service refuses every request at once, it gets {load:.1} times its usual load{average}."
        )
    };
    let throttled = impact.throttled_load().filter(|_| most > 1).map(|load| {
        format!("With the retry throttling it gets {load:.2} times, over 100 calls from a full bucket on.")
    });
    [attempts, ends, worst, outage].into_iter().chain(throttled).collect()
}

/// What hedging makes of a call.
fn hedged(policy: MethodPolicy<'_>, impact: &Impact) -> String {
    let most = impact.load_of_silence();
    let when = policy.hedging().map(|hedging| hedging.to_hedging().spacing()).unwrap_or_default();
    let first_calls = policy.hedging().filter(|hedging| hedging.percentile().is_some()).map(|hedging| {
        let until = until_measured(hedging.to_hedging().delay_between().map(Human));
        format!(" For the first {} calls of a method {until}.", Hedging::FIRST_CALLS)
    });
    let first_calls = first_calls.unwrap_or_default();
    format!(
        "A call is hedged: up to {most} attempts, {when}; the first good reply wins.{first_calls} If the service is too \
         slow to reply, it gets {most} times its usual load."
    )
}

/// Which value comes from which line.
fn origins(policy: MethodPolicy<'_>, dialect: Dialect, bounds: Bounds) -> Grid {
    let settings = policy.settings();
    let (total, total_variable) = bounds.total_timeout(settings);
    let hedging = policy.hedging();
    let most = hedging.map_or(settings.max_attempts(), HedgingPolicy::max_attempts);
    let (most, most_variable) = bounds.attempts(most);
    let by_hedging = |field| if hedging.is_some() { PolicyField::Hedging } else { field };
    let mut table = Grid::new([("setting", Align::Left), ("value", Align::Left), ("from", Align::Left)]);
    for (name, value, field, variable) in [
        (
            if hedging.is_some() { "non-fatal codes" } else { "retryable codes" },
            codes_text(codes_of(policy)),
            by_hedging(PolicyField::RetryableCodes),
            None,
        ),
        ("total timeout", limit(total), PolicyField::TotalTimeout, total_variable),
        ("RPC timeout", rpc_timeout(settings), PolicyField::InitialRpcTimeout, None),
        (
            "delay",
            hedging.map_or_else(|| delay(policy, dialect), |hedging| hedging.to_hedging().spacing()),
            by_hedging(PolicyField::InitialRetryDelay),
            None,
        ),
        (
            "attempts",
            most.map_or_else(|| "no limit".to_owned(), |count| count.to_string()),
            by_hedging(PolicyField::MaxAttempts),
            most_variable,
        ),
    ] {
        let line = Some(line_of(policy, field)).filter(|place| !place.is_empty());
        let place = variable.map(str::to_owned).or(line);
        table.push([
            Cell::from(name),
            Cell::from(value),
            Cell::from(place.unwrap_or_else(|| "default".into())),
        ]);
    }
    table
}

fn others(explanation: &Explanation) -> Grid {
    let mut table = Grid::new([
        ("dialect", Align::Left),
        ("attempts", Align::Right),
        ("total timeout", Align::Right),
        ("worst case", Align::Right),
        ("load", Align::Right),
        ("codes", Align::Left),
    ]);
    for reader in &explanation.dialects {
        if reader.problem.is_some() {
            let dash = || Cell::from("-");
            table.push([Cell::from(reader.dialect), dash(), dash(), dash(), dash(), dash()]);
            continue;
        }
        let codes = reader.codes.as_ref().filter(|codes| !codes.is_empty());
        table.push([
            Cell::from(reader.dialect),
            Cell::from(match (codes, reader.max_attempts) {
                (None, _) => "1".to_owned(),
                (Some(_), None) => "no limit".to_owned(),
                (Some(_), Some(count)) => count.to_string(),
            }),
            reader.total_timeout_ms.map_or_else(|| Cell::from("none"), Cell::from),
            reader.worst_case_ms.map_or_else(|| Cell::from("unbounded"), Cell::from),
            Cell::from(format!("{:.1}", reader.load.unwrap_or(1.0))),
            Cell::from(codes.map_or_else(|| "none".to_owned(), |codes| codes.join(", "))),
        ]);
    }
    table
}
