//! The server, until it ends.

use super::args::ServeArgs;
use super::call::{Call, Seen, calls};
use super::comparison::Comparison;
use super::descriptors::made_up;
use super::router::Router;
use crate::command::table::{Api, close_method};
use crate::command::{Format, print, print_json};
use crate::failure::{FINDINGS, Failure, usage};
use crate::input::Input;
use crate::render::{ERROR, HEAD, Ordered, prose};
use gax_testing::{Arrival, Log, Reply, Script, Scripted, SocketServer};
use gax_text::Escaped;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::{sleep, timeout};
use tonic::Status;

/// The most requests that are remembered.
const MAX_REQUESTS: usize = 100_000;
/// The most calls that text lists; JSON has them all.
const MAX_CALLS: usize = 50;
/// A call that failed is over if nothing comes for that time.
const QUIET: Duration = Duration::from_secs(5);
/// The time in which the last cancelled attempts are seen.
pub(in crate::command) const LATE: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    runtime()?.block_on(serve(args))
}

/// A runtime in this thread.
pub(in crate::command) fn runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::Run(format!("no runtime can be started ({error})")))
}

async fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let api = args.protos.describe()?;
    let script = script(args, api.as_ref())?;
    let comparison = Comparison::read(args)?;
    let descriptors = api.map_or_else(
        || {
            let of_table = comparison.iter().flat_map(Comparison::methods);
            made_up(&script.methods().into_iter().chain(of_table).collect::<Vec<_>>())
        },
        |api| api.descriptor_set,
    );
    let (sender, mut events) = unbounded_channel();
    // Nobody listens at the end.
    let log = Log::notifying(move |arrival| drop(sender.send(arrival))).without_bodies();
    let router = Router::new(&descriptors, Scripted::empty(script.clone(), log.clone()))
        .map_err(|error| usage!("the protos can't be reflected ({error}); leave them out"))?;
    let address = args.listen;
    let server = SocketServer::start(address, router).map_err(|error| {
        Failure::Run(format!(
            "the server can't listen on {address} ({error}); name another port, or 0 for one that is free"
        ))
    })?;
    let address = server.address();
    if !address.ip().is_loopback() {
        say(&format!("whoever reaches {address} can call this server"));
    }
    let for_people = args.format == Format::Text;
    if for_people {
        let until = if args.command.is_empty() { " until Ctrl-C" } else { "" };
        print(&prose(&format!("{HEAD}Listens on {address}{HEAD:#}{until}.\n\n"), 0))?;
    }
    let mut child = start(&args.command, &[("{target}", &address.to_string())], Stdio::inherit())?;
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut end = std::pin::pin!(sleep(args.time));
    while !is_enough(args, &arrivals) && arrivals.len() < MAX_REQUESTS {
        let is_all = args.calls.is_some_and(|calls| calls_of(&arrivals) >= calls) && log.open() == 0;
        let quiet = async { if is_all { sleep(QUIET).await } else { std::future::pending().await } };
        let exited = async {
            match &mut child {
                Some(child) => drop(child.wait().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(arrival) = events.recv() => see(arrival, &mut arrivals, for_people)?,
            () = exited => break,
            () = quiet => break,
            () = &mut end => break,
            _ = tokio::signal::ctrl_c() => break,
        }
    }
    while log.open() > 0
        && let Ok(Some(arrival)) = timeout(LATE, events.recv()).await
    {
        see(arrival, &mut arrivals, for_people)?;
    }
    let seen = calls(&arrivals);
    let compared = seen.iter().map(|arrivals| {
        let call = Call::of(arrivals);
        match &comparison {
            Some(comparison) => comparison.compare(call, arrivals, &script),
            None => call,
        }
    });
    let compared: Vec<Call> = compared.collect();
    show(args, &compared)?;
    for name in script.methods() {
        let is_of = |call: &Call| call.method == name || call.method.rsplit('/').next() == Some(&name);
        if !compared.iter().any(is_of) {
            say(&format!("no attempt came for {name:?}, which the script names"));
        }
    }
    let differs = compared.iter().any(|call| !call.differences.is_empty());
    let is_bad = comparison.is_some() && (differs || compared.is_empty());
    Ok(if is_bad { ExitCode::from(FINDINGS) } else { ExitCode::SUCCESS })
}

/// A warning, if anyone is there to read it.
fn say(sentence: &str) {
    let _unread = writeln!(anstream::stderr(), "{ERROR}warning:{ERROR:#} {}", Escaped(sentence));
}

fn calls_of(arrivals: &[Arrival]) -> u32 {
    let calls = arrivals.iter().map(|arrival| arrival.call + 1).max().unwrap_or_default();
    u32::try_from(calls).unwrap_or(u32::MAX)
}

/// Returns whether the calls that are wanted are over, as far as that can be seen: another one has begun, or the last had a good reply.
fn is_enough(args: &ServeArgs, arrivals: &[Arrival]) -> bool {
    let Some(wanted) = args.calls else { return false };
    let good = |arrival: &&Arrival| arrival.replied.is_some() && arrival.step.reply().is_good();
    let good = arrivals.iter().filter(good).count();
    calls_of(arrivals) > wanted || u32::try_from(good).is_ok_and(|good| good >= wanted)
}

/// A request that has come or ended.
fn see(arrival: Arrival, arrivals: &mut Vec<Arrival>, for_people: bool) -> Result<(), Failure> {
    let last = arrivals.iter().rev().find(|last| last.call == arrival.call && last.index < arrival.index);
    let line = Seen::new(&arrival, last).line(arrival.call + 1, arrival.path.trim_start_matches('/'));
    if for_people && (arrival.is_open() || arrival.gone.is_some()) {
        print(&prose(&line, 11))?;
    }
    match arrivals.get_mut(arrival.index) {
        Some(known) => *known = arrival,
        None => arrivals.push(arrival),
    }
    Ok(())
}

fn show(args: &ServeArgs, calls: &[Call]) -> Result<(), Failure> {
    if args.format == Format::Json {
        return print_json(&Ordered(vec![("calls", calls)]));
    }
    for call in calls.iter().take(MAX_CALLS) {
        print(&call.to_string())?;
    }
    if let more @ 1.. = calls.len().saturating_sub(MAX_CALLS) {
        print(&format!("\nand {more} more; --format json lists them all\n"))?;
    }
    if args.compare.is_some() {
        let differ = calls.iter().filter(|call| !call.differences.is_empty()).count();
        let calls = calls.len();
        print(&format!("\nCalls: {calls}. Calls that differ from the table: {differ}.\n"))?;
    }
    Ok(())
}

/// Starts a command, with these words in place of those in braces; `None`: it has no words.
pub(in crate::command) fn start(
    words: &[OsString],
    places: &[(&str, &str)],
    stdout: Stdio,
) -> Result<Option<Child>, Failure> {
    let filled = |word: &OsString| match word.to_str() {
        Some(text) => {
            places.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value)).into()
        }
        None => word.clone(),
    };
    let mut words = words.iter().map(filled);
    let Some(program) = words.next() else { return Ok(None) };
    let started = Command::new(&program).args(words).stdout(stdout).kill_on_drop(true).spawn();
    started
        .map(Some)
        .map_err(|error| usage!("{} can't be started ({error}); name a program", program.display()))
}

/// The script, whose names are those of the API if there is one.
pub(super) fn script(args: &ServeArgs, api: Option<&Api>) -> Result<Script, Failure> {
    let Some(path) = &args.script else {
        let mut status = Status::new(args.code.number().into(), "gax serve");
        if let Some(pushback) = args.pushback {
            status.metadata_mut().insert("grpc-retry-pushback-ms", pushback.into());
        }
        let step = (args.delay, Reply::status(status));
        return Ok(Script::of(vec![step; args.fail]).each_call());
    };
    let input = Input::read(path, "a script")?;
    let script: Script = input.text().parse().map_err(|error| usage!("{}:{error}", input.name))?;
    let Some(api) = api else { return Ok(script) };
    let methods = api.services.iter().chain(&api.imported).flat_map(|service| {
        let methods = service.methods().iter();
        methods.map(move |method| (format!("{}/{}", service.name(), method.name()), method.name()))
    });
    let known: Vec<(String, &str)> = methods.collect();
    for name in script.methods() {
        if !known.iter().any(|(path, method)| *path == name || *method == name) {
            let advice = match close_method(&name, &known) {
                Some(close) => format!("did you mean {close}?"),
                None => "write pkg.Service/Method, or just Method".to_owned(),
            };
            let file = &input.name;
            return Err(usage!("{file}: method {name:?} is not in the protos; {advice}"));
        }
    }
    Ok(script)
}
