//! `gax demo`: an outage, and a generated client that rides it out.

mod listen;
mod scene;
mod stage;

use super::{Format, fresh_seed, print, print_json};
use crate::failure::{FINDINGS, Failure};
use crate::render::{HEAD, Ms, Named, Recoverable, Timeline, attempts, bars, explain, grown, of_code, prose};
use crate::server::{Arrival, Event, Turn};
use crate::value;
use clap::Args;
use gax_retry::{Code, CodeSet, Compatibility, Hedging, RetrySettings};
use gax_text::Escaped;
use scene::Scene;
use serde::Serialize;
use stage::{Played, Stage};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use tonic_gax::__private::attempt_table;
use tonic_gax::CallSettings;

/// Watch a client ride out an outage
///
/// Starts an asset service on a free port of this machine and calls it with the generated client:
/// first with the settings of the retry table while the service is unavailable, then with settings that
/// the program overrides while the service hangs, then hedged while some replies are slow, and finally while
/// it hangs for good. Shows each attempt when it arrives at the server or is cancelled there, and then the
/// client's report. Takes about eight seconds.
///
/// With --listen it starts the service alone, for a client of yours.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(crate) struct DemoArgs {
    /// Seed of the random waits: the same seed draws the same waits
    #[arg(long, value_name = "NUMBER", value_parser = value::seed, allow_hyphen_values = true)]
    seed: Option<u64>,

    /// Only start the service, on this address, until Ctrl-C: of each three calls two are refused
    #[arg(long, value_name = "ADDRESS", value_parser = value::address, conflicts_with_all = ["seed", "format"])]
    listen: Option<SocketAddr>,

    /// Output format; JSON is printed once, when the demo is over
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const JSON: &str = "\
JSON:
  {\"address\":..,\"seed\":..,\"scenes\":[{\"title\":..,\"method\":..,
    \"server\":[{\"attempt\":1,\"at_ms\":..,\"grpc_timeout\":..,\"reply\":..,\"cancelled_ms\":..},..],
    \"attempts\":..,\"not_attempted\":..,\"stop_reason\":..,\"end_ms\":..,\"code\":..,\"message\":..},..]}
  server: what arrived at the server, with the text of the header grpc-timeout; cancelled_ms is when
  the server was told to stop, null if it was not.
  attempts to end_ms: the client's report, in the form of gax plan.
  code and message: the status that the caller got.";

pub(crate) fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Run(format!("no runtime can be started ({error})")))?;
    match args.listen {
        Some(address) => runtime.block_on(listen::run(address)),
        None => runtime.block_on(scenes(args)),
    }
}

async fn scenes(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let scenes = scene::all().map_err(|error| Failure::Run(error.to_string()))?;
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let mut stage = Stage::set(seed).await?;
    let text = args.format == Format::Text;
    if text {
        let address = stage.address;
        let opening = format!(
            "An AssetService listens on {address}.\n\
             Each wait is drawn at random, from 1 ms up to its delay, but for scene 4; --seed {seed} draws the same ones again.\n"
        );
        print(&prose(&opening, 0))?;
    }
    let mut shown = Vec::new();
    let mut as_scripted = true;
    for (index, scene) in scenes.iter().enumerate() {
        let call = stage::settings(scene);
        if text {
            print(&head(index + 1, scene, &call))?;
        }
        let show = |event: &Event| if text { print(&happened(event)) } else { Ok(()) };
        let played = stage.play(scene, call, show).await?;
        if text {
            print(&outcome(&played))?;
        }
        as_scripted &= played.code() == scene.code;
        shown.push(Shown::of(scene, &played));
    }
    if text {
        print(&prose(&lessons(&scenes), 3))?;
    } else {
        print_json(&Demo { address: stage.address.to_string(), seed, scenes: shown })?;
    }
    Ok(if as_scripted { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
}

impl Played {
    /// The code that the caller got.
    fn code(&self) -> Code {
        self.error.as_ref().map_or(Code::Ok, |status| Code::from_wire(status.code().into()))
    }
}

/// The lessons of all scenes.
fn lessons(scenes: &[Scene]) -> String {
    let mut text = format!("\n{HEAD}There was to see{HEAD:#}\n");
    for (index, scene) in scenes.iter().enumerate() {
        let _infallible = writeln!(text, "{}. {}", index + 1, scene.lesson);
    }
    text.push_str("\nTo call this service with a client of yours: gax demo --listen 127.0.0.1:50051\n");
    text
}

fn head(number: usize, scene: &Scene, call: &CallSettings) -> String {
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

fn happened(event: &Event) -> String {
    match event {
        Event::Arrived(arrival) => arrived(arrival, arrival.request.number),
        Event::Over { request, at, is_cancelled: true } => {
            let (at, style) = (Ms(*at), of_code(Code::Cancelled));
            format!("{at:>9}  attempt {} is {style}cancelled{style:#}\n", request.number)
        }
        Event::Over { .. } => String::new(),
    }
}

/// A line for a request: which attempt of its operation it is, and what becomes of it.
fn arrived(arrival: &Arrival, number: u32) -> String {
    let at = Ms(arrival.at);
    let timeout = Escaped(arrival.timeout.as_deref().unwrap_or("none"));
    let style = match arrival.turn {
        Turn::Reply(_, code) => of_code(code),
        Turn::Hang => of_code(Code::DeadlineExceeded),
    };
    let line = format!(
        "{at:>9}  attempt {number} arrives, grpc-timeout {timeout}: {style}{}{style:#}\n",
        arrival.turn
    );
    prose(&line, 11)
}

fn outcome(played: &Played) -> String {
    let timeline = Timeline::from(&played.report);
    let bars = bars(&timeline).map(|bars| format!("\n{bars}")).unwrap_or_default();
    let codes = Recoverable::of(played.call.retryable_codes(), played.call.hedging());
    let why = explain(&timeline, played.call.retry_settings(), codes);
    let error = match &played.error {
        Some(status) => format!("The caller gets {}: {}\n", played.code(), Escaped(status.message())),
        None => String::new(),
    };
    let ending = prose(&format!("{why}\n{error}"), 0);
    format!("\n{}{bars}\n{ending}", attempts(&attempt_table(&played.report)))
}

#[derive(Serialize)]
struct Demo {
    address: String,
    seed: u64,
    scenes: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    title: &'static str,
    method: String,
    server: Vec<Seen>,
    #[serde(flatten)]
    report: Timeline,
    code: Named<Code>,
    message: Option<String>,
}

#[derive(Serialize)]
struct Seen {
    attempt: u32,
    at_ms: Ms,
    grpc_timeout: Option<String>,
    reply: String,
    cancelled_ms: Option<Ms>,
}

impl Shown {
    fn of(scene: &Scene, played: &Played) -> Self {
        let seen = |seen: &stage::Seen| Seen {
            attempt: seen.arrival.request.number,
            at_ms: Ms(seen.arrival.at),
            grpc_timeout: seen.arrival.timeout.clone(),
            reply: seen.arrival.turn.to_string(),
            cancelled_ms: seen.cancelled.map(Ms),
        };
        Self {
            title: scene.title,
            method: played.report.method().to_owned(),
            server: played.arrivals.iter().map(seen).collect(),
            report: Timeline::from(&played.report),
            code: Named(played.code()),
            message: played.error.as_ref().map(|status| status.message().to_owned()),
        }
    }
}
