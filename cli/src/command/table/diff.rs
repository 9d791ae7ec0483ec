//! `gax table diff`: what changes for callers from one table to another.

use super::beside::{Batching, Beside, Polling};
use super::methods::{MethodRow, codes_text, methods};
use super::source::{Api, ProtoFlags, Reading};
use crate::command::{Format, print, print_json};
use crate::failure::{FINDINGS, Failure};
use crate::input::Input;
use crate::render::{ERROR, HEAD, Ms};
use clap::{Args, ValueEnum};
use gax_retry::__private::Escaped;
use gax_retry::{CodeSet, Impact};
use gax_table::{Dialect, MethodPolicy, RetryTable};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// By how much the load of an outage has to grow to be called more: jitter is drawn, so less is noise.
const MORE: f64 = 1.02;

/// Say what changes for callers from one retry table to another
///
/// Compares what the tables lead to, not their lines: which codes are retried, how long a call may
/// take, how many attempts it makes of an outage and when. An order of entries, other names of
/// definitions, another format make no difference.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(crate) struct DiffArgs {
    /// The table as it was; - is standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The table as it is to be; - is standard input
    #[arg(value_name = "NEW")]
    new: PathBuf,

    #[command(flatten)]
    reading: Reading,

    /// The API's GAPIC YAML: how long-running operations are polled and requests are batched; two files
    /// are that of the old table and that of the new
    #[arg(long, value_name = "FILE", num_args = 1..=2, help_heading = "Tables")]
    gapic_yaml: Vec<PathBuf>,

    #[command(flatten)]
    protos: ProtoFlags,

    /// Exit with status 1 if there is a change of that kind
    #[arg(long, value_enum, value_name = "KIND")]
    deny: Vec<Kind>,

    /// How the changes are printed
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A service gets more requests in an outage, or sooner, or after more codes
    MoreAggressive,
    /// A call may take longer
    Slower,
    /// Anything
    Any,
}

const JSON: &str = "\
JSON:
  {\"methods\":[{\"method\":..,\"changes\":[{\"what\":..,\"old\":..,\"new\":..},..],
    \"more_aggressive\":[REASON,..],\"slower\":true|false},..],
    \"more_aggressive\":..,\"slower\":..,\"changed\":..,\"unchanged\":..}
  what is one of entry, codes, worst_case_ms, load, first_retry_ms, attempts, total_timeout_ms,
  polling, batching (the last two in the form of gax table show); null is no limit, or nothing.
  The counts at the end are of methods.";

#[derive(Debug, Serialize)]
struct Report {
    methods: Vec<Changed>,
    more_aggressive: usize,
    slower: usize,
    changed: usize,
    unchanged: usize,
}

/// A method that is not as it was.
#[derive(Debug, Serialize)]
struct Changed {
    method: String,
    changes: Vec<Change>,
    more_aggressive: Vec<String>,
    slower: bool,
}

#[derive(Debug, Serialize)]
struct Change {
    what: &'static str,
    old: serde_json::Value,
    new: serde_json::Value,
    #[serde(skip)]
    sentence: String,
}

/// What a caller sees of a policy.
#[derive(Debug, Clone, PartialEq)]
struct Behaviour {
    has_entry: bool,
    codes: CodeSet,
    total_timeout: Option<Duration>,
    worst_case: Option<Duration>,
    load: f64,
    first_retry: Option<Duration>,
    max_attempts: Option<u32>,
    beside: Beside,
}

pub(crate) fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let api = args.protos.describe()?;
    let gapic_yaml: Vec<Input> =
        args.gapic_yaml.iter().map(|path| Input::gapic_yaml(path)).collect::<Result<_, _>>()?;
    let table = |path, gapic_yaml| args.reading.merged(&[Input::table(path)?], gapic_yaml, api.as_ref());
    let old = table(&args.old, gapic_yaml.first())?;
    let new = table(&args.new, gapic_yaml.last())?;
    let report = report(&old, &new, api.as_ref());
    match args.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    let denied = args.deny.iter().any(|kind| match kind {
        Kind::MoreAggressive => report.more_aggressive > 0,
        Kind::Slower => report.slower > 0,
        Kind::Any => report.changed > 0,
    });
    Ok(if denied { ExitCode::from(FINDINGS) } else { ExitCode::SUCCESS })
}

fn report(old: &RetryTable, new: &RetryTable, api: Option<&Api>) -> Report {
    let mut seen = BTreeSet::new();
    let mut rows: Vec<MethodRow<'_>> = methods(old, api);
    rows.extend(methods(new, api));
    rows.retain(|row| seen.insert(row.name()));
    let total = rows.len();
    let changed: Vec<Changed> = rows.iter().filter_map(|row| compare(row, old, new)).collect();
    Report {
        more_aggressive: changed.iter().filter(|method| !method.more_aggressive.is_empty()).count(),
        slower: changed.iter().filter(|method| method.slower).count(),
        changed: changed.len(),
        unchanged: total - changed.len(),
        methods: changed,
    }
}

fn compare(row: &MethodRow<'_>, old: &RetryTable, new: &RetryTable) -> Option<Changed> {
    let behaviour = |table: &RetryTable| {
        let policy = table.lookup(&row.service, &row.method).filter(|policy| policy.entry().is_some());
        Behaviour::of(policy.as_ref(), table.dialect(), row.beside(table))
    };
    let (was, is) = (behaviour(old), behaviour(new));
    let changes = changes(&was, &is);
    let slower = match (was.worst_case, is.worst_case) {
        (Some(was), Some(is)) => is > was,
        (Some(_), None) => true,
        (None, _) => false,
    };
    (!changes.is_empty()).then(|| Changed {
        method: row.name(),
        more_aggressive: more_aggressive(&was, &is),
        changes,
        slower,
    })
}

impl Behaviour {
    fn of(policy: Option<&MethodPolicy<'_>>, dialect: Dialect, beside: Beside) -> Self {
        let Some(policy) = policy else {
            return Self {
                has_entry: false,
                codes: CodeSet::EMPTY,
                total_timeout: None,
                worst_case: None,
                load: 1.0,
                first_retry: None,
                max_attempts: None,
                beside,
            };
        };
        let settings = policy.settings();
        let impact = Impact::new(settings, policy.codes(), dialect.compatibility());
        Self {
            has_entry: true,
            codes: policy.codes(),
            total_timeout: settings.total_timeout(),
            worst_case: impact.worst_case(),
            load: impact.load(),
            first_retry: impact.refused().get(1).copied(),
            max_attempts: settings.max_attempts().filter(|_| !policy.codes().is_empty()),
            beside,
        }
    }
}

fn changes(was: &Behaviour, is: &Behaviour) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add = |what, old: serde_json::Value, new: serde_json::Value, sentence: String| {
        if old != new {
            changes.push(Change { what, old, new, sentence });
        }
    };
    let time = |time: Option<Duration>| serde_json::json!(time.map(Ms));
    let shown =
        |time: Option<Duration>, none: &str| time.map_or_else(|| none.to_owned(), |t| Ms(t).to_string());
    add(
        "entry",
        was.has_entry.into(),
        is.has_entry.into(),
        if is.has_entry {
            "has an entry now: its calls were neither retried nor bounded".to_owned()
        } else {
            "has no entry any more: its calls are neither retried nor bounded".to_owned()
        },
    );
    let names =
        |codes: CodeSet| serde_json::json!(codes.iter().map(gax_retry::Code::name).collect::<Vec<_>>());
    add(
        "codes",
        names(was.codes),
        names(is.codes),
        format!("retries {}, not {}", codes_text(is.codes), codes_text(was.codes)),
    );
    add(
        "total_timeout_ms",
        time(was.total_timeout),
        time(is.total_timeout),
        match (was.total_timeout, is.total_timeout) {
            (Some(was), Some(is)) => format!("has a total timeout of {}, not {}", Ms(is), Ms(was)),
            (Some(was), None) => format!("has no total timeout any more; it was {}", Ms(was)),
            (None, is) => format!("has a total timeout of {}; it had none", shown(is, "none")),
        },
    );
    add(
        "worst_case_ms",
        time(was.worst_case),
        time(is.worst_case),
        format!(
            "at worst takes {}, not {}",
            shown(is.worst_case, "for ever"),
            shown(was.worst_case, "for ever")
        ),
    );
    let count =
        |count: Option<u32>| count.map_or_else(|| "any number of".to_owned(), |count| count.to_string());
    add(
        "attempts",
        was.max_attempts.into(),
        is.max_attempts.into(),
        format!("makes {} attempts at most, not {}", count(is.max_attempts), count(was.max_attempts)),
    );
    add(
        "first_retry_ms",
        time(was.first_retry),
        time(is.first_retry),
        format!(
            "if refused at once, is retried after {} at the latest, not {}",
            shown(is.first_retry, "never"),
            shown(was.first_retry, "never")
        ),
    );
    add(
        "load",
        was.load.into(),
        is.load.into(),
        format!("in an outage makes {:.1} attempts, not {:.1}", is.load, was.load),
    );
    add(
        "polling",
        serde_json::json!(was.beside.polling),
        serde_json::json!(is.beside.polling),
        differs(
            "polls its operations",
            was.beside.polling.as_ref().map(Polling::words),
            is.beside.polling.as_ref().map(Polling::words),
        ),
    );
    add(
        "batching",
        serde_json::json!(was.beside.batching),
        serde_json::json!(is.beside.batching),
        differs(
            "gathers its requests",
            was.beside.batching.as_ref().map(Batching::words),
            is.beside.batching.as_ref().map(Batching::words),
        ),
    );
    changes
}

/// What is done in another way, or no more, or was not before.
fn differs(what: &str, was: Option<String>, is: Option<String>) -> String {
    match (was, is) {
        (Some(was), Some(is)) => format!("{what} {is}; it was {was}"),
        (Some(was), None) => format!("has nothing any more about how it {what}; it was {was}"),
        (None, is) => format!("{what} {}; the table had nothing about that", is.unwrap_or_default()),
    }
}

/// Why a service has more to bear than before.
fn more_aggressive(was: &Behaviour, is: &Behaviour) -> Vec<String> {
    let mut reasons = Vec::new();
    let added: CodeSet = is.codes.iter().filter(|code| !was.codes.contains(*code)).collect();
    if !added.is_empty() {
        reasons.push(format!("{added} is retried"));
    }
    if is.load > was.load * MORE {
        reasons.push(format!("an outage makes {:.1} times the load, not {:.1} times", is.load, was.load));
    }
    if let (Some(before), Some(now)) = (was.first_retry, is.first_retry)
        && now < before
    {
        reasons.push(format!("the first retry comes after {}, not {}", Ms(now), Ms(before)));
    }
    reasons
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    let mut left: Vec<(String, Vec<&str>)> = Vec::new();
    for method in &report.methods {
        let said = said(method);
        match left.iter_mut().find(|(other, _)| *other == said) {
            Some((_, names)) => names.push(&method.method),
            None => left.push((said, vec![&method.method])),
        }
    }
    for (said, names) in left {
        for name in names {
            let _infallible = writeln!(text, "{HEAD}{}{HEAD:#}", Escaped(name));
        }
        let _infallible = writeln!(text, "{said}");
    }
    let _infallible = writeln!(
        text,
        "{} changed ({} more aggressive, {} slower at worst), {} as before",
        report.changed, report.more_aggressive, report.slower, report.unchanged
    );
    text
}

/// What is said under a method's name.
fn said(method: &Changed) -> String {
    let mut text = String::new();
    for change in &method.changes {
        let _infallible = writeln!(text, "  {}", change.sentence);
    }
    if !method.more_aggressive.is_empty() {
        let reasons = method.more_aggressive.join("; ");
        let _infallible = writeln!(text, "  {ERROR}more aggressive{ERROR:#}: {reasons}");
    }
    text
}
