//! The suite, run against a client.

use super::case::{Case, Verdict};
use crate::command::serve::{LATE, runtime, start};
use crate::command::{Format, print, print_json};
use crate::failure::{FINDINGS, Failure, usage};
use crate::render::Ordered;
use gax_testing::{Log, Scripted, SocketServer};
use gax_text::Escaped;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

/// The method that clients call: every language has it.
const METHOD: &str = "grpc.health.v1.Health/Check";
/// A client that runs for longer is ended.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs all cases in a folder; prints the verdicts in TAP as they come, or in JSON.
pub(in crate::command) fn run(
    folder: &Path,
    command: &[OsString],
    format: Format,
) -> Result<ExitCode, Failure> {
    if command.is_empty() {
        return Err(usage!(
            "--clients needs a client; add one such as -- ./client {{target}} {{config}} {{method}}"
        ));
    }
    let cases = Case::all(folder)?;
    let runtime = runtime()?;
    let for_people = format == Format::Text;
    if for_people {
        print(&format!("TAP version 14\n1..{}\n", cases.len()))?;
    }
    let mut verdicts = Vec::new();
    for (index, case) in cases.into_iter().enumerate() {
        let verdict = runtime.block_on(play(case, command))?;
        if for_people {
            print(&tap(index + 1, &verdict))?;
        }
        verdicts.push(verdict);
    }
    let fails = |verdict: &Verdict| verdict.unclear.is_none() && !verdict.differences.is_empty();
    let is_bad = verdicts.iter().any(fails);
    if !for_people {
        print_json(&Ordered(vec![("cases", verdicts)]))?;
    }
    Ok(if is_bad { ExitCode::from(FINDINGS) } else { ExitCode::SUCCESS })
}

async fn play(case: Case, command: &[OsString]) -> Result<Verdict, Failure> {
    let log = Log::default().without_bodies();
    let scripted = Scripted::empty(case.script.clone(), log.clone());
    let server = SocketServer::start((Ipv4Addr::LOCALHOST, 0).into(), scripted)
        .map_err(|error| Failure::Run(format!("no server can be started ({error})")))?;
    let file = std::env::temp_dir().join(format!("gax-{}-{}.json", std::process::id(), case.name));
    std::fs::write(&file, &case.config)
        .map_err(|error| Failure::Run(format!("{} can't be written ({error})", file.display())))?;
    let (target, config) = (server.address().to_string(), file.display().to_string());
    let places = [("{target}", target.as_str()), ("{config}", &config), ("{method}", METHOD)];
    let started = start(command, &places, Stdio::null());
    if let Ok(Some(mut client)) = started {
        let _code = tokio::time::timeout(PATIENCE, client.wait()).await;
        client.kill().await.ok();
        tokio::time::sleep(LATE).await;
        std::fs::remove_file(&file).ok();
        return Ok(case.judge(&log.arrivals()));
    }
    std::fs::remove_file(&file).ok();
    Err(started.err().unwrap_or_else(|| usage!("no client is named")))
}

/// The verdict as TAP has it: what the text leaves open is no failure.
fn tap(number: usize, verdict: &Verdict) -> String {
    let Verdict { name, cite, says, unclear, differences, .. } = verdict;
    let is_ok = if differences.is_empty() { "ok" } else { "not ok" };
    let todo = unclear.as_ref().map(|why| format!(" # TODO {}", Escaped(why))).unwrap_or_default();
    let mut text = format!("{is_ok} {number} - {name}{todo}\n");
    if !differences.is_empty() {
        let found = differences.join("; ");
        let _infallible =
            write!(text, "  ---\n  cite: {cite:?}\n  says: {says:?}\n  found: {found:?}\n  ...\n");
    }
    text
}
