//! The gain and the cost of hedging: latencies and load of calls to a server whose every 100th reply takes 100 times as
//! long, with and without it. It runs in virtual time, so that the numbers are exact, and the same on every machine and in
//! every profile.
//!
//! `cargo bench -p tonic-gax-benches --bench hedging` prints the table; with `-- --svg FILE` it draws the picture too.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use gax_table::RetryTable;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::body::Body;
use tonic_gax::{Code, Hedging, OperationOptions, RetryBudget, RetryLayer, RetrySettings};
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::bench::echo_client::EchoClient;
use tonic_gax_benches::canned::Canned;
use tonic_gax_benches::contender::Wire;
use tonic_gax_benches::measure::paused;
use tonic_gax_benches::message;
use tonic_gax_benches::nines::{Curve, picture};
use tonic_gax_benches::table::Table;
use tower::service_fn;
use tower_service::Service as _;

/// 200 calls a second.
const PACE: Duration = Duration::from_millis(5);

/// A way to make calls.
struct Way {
    name: &'static str,
    hedging: Option<Hedging>,
    budget: Option<RetryBudget>,
}

fn ways() -> [Way; 4] {
    let after = |milliseconds| Hedging::new(2).delay(Duration::from_millis(milliseconds));
    // One hedge for ten replies, and none besides.
    let budget = || Some(RetryBudget::ratio(0.1).min_per_second(0));
    [
        Way { name: "not hedged", hedging: None, budget: None },
        Way { name: "hedged after 30 ms", hedging: Some(after(30)), budget: budget() },
        Way { name: "hedged at p95", hedging: Some(Hedging::new(2).percentile(0.95)), budget: budget() },
        Way { name: "hedged after 30 ms, no budget", hedging: Some(after(30)), budget: None },
    ]
}

#[expect(clippy::disallowed_methods, reason = "the clock is virtual")]
fn now() -> Instant {
    Instant::now()
}

/// Makes so many calls: their latencies, and the attempts for each.
async fn run(way: &Way, calls: usize, every: u32) -> Option<(Curve, f64)> {
    let settings =
        RetrySettings::builder().total_timeout(Duration::from_secs(30)).max_attempts(1).build().ok()?;
    let mut table = RetryTable::builder().method(message::PATH, settings, [Code::Unavailable]);
    if let Some(hedging) = way.hedging {
        table = table.hedged(hedging.allow_non_idempotent());
    }
    let layer = RetryLayer::new(table.build().ok()?)
        .options(OperationOptions::new().retry_budget(way.budget.clone()));
    let canned = Canned::new();
    let client = EchoClient::new(layer.layer(slow(canned.clone(), every)));
    let mut running = JoinSet::new();
    for _ in 0..calls {
        tokio::time::sleep(PACE).await;
        let mut client = client.clone();
        running.spawn(async move {
            let start = now();
            client.send(message::payload(message::SMALL)).await.map(|_| now() - start)
        });
    }
    let latencies: Vec<Duration> = running.join_all().await.into_iter().filter_map(Result::ok).collect();
    let made = u32::try_from(latencies.len()).ok()?;
    Some((Curve::new(way.name, latencies), f64::from(canned.attempts()) / f64::from(made)))
}

/// Replies within 5 to 15 ms, and takes 100 times as long for every n-th reply. Its times are tokio's.
fn slow(canned: Canned, every: u32) -> impl Wire {
    service_fn(move |request: http::Request<Body>| {
        let number = canned.attempts();
        let micros = 5000 + u64::from(number) * 7919 % 10_007;
        let times = if number % every == every - 1 { 100 } else { 1 };
        let reply = canned.clone().call(request);
        async move {
            tokio::time::sleep(Duration::from_micros(micros * times)).await;
            reply.await
        }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let svg = arguments.iter().skip_while(|argument| *argument != "--svg").nth(1);
    let calls = if Arguments::read().is_quick() { 1000 } else { 20_000 };
    let runtime = paused();
    let mut curves = Vec::new();
    for (every, what) in [(100, "every 100th reply takes 100 times as long"), (1, "every reply does")] {
        let mut table = Table::new(&[what, "p50", "p90", "p99", "p99.9", "attempts a call"]);
        for way in ways() {
            // A server that is slow throughout has to be looked at for a while only.
            let calls = if every == 1 { calls / 10 } else { calls };
            let Some((curve, load)) = runtime.block_on(run(&way, calls, every)) else { continue };
            let at = [0.5, 0.9, 0.99, 0.999].map(|share| format!("{} ms", curve.at(share).as_millis()));
            table.row([curve.name.clone()].into_iter().chain(at).chain([format!("{load:.3}")]));
            if every == 100 && (way.budget.is_some() || way.hedging.is_none()) {
                curves.push(curve.called(format!("{}: {load:.2} attempts a call", way.name)));
            }
        }
        println!("{}", table.text());
    }
    if let Some(file) = svg {
        let caption =
            "Every 100th reply takes 100 times as long. To the right: the slowest of so many calls.";
        std::fs::write(file, picture("Latencies with and without hedging", caption, &curves)).map_err(
            |error| format!("{file} can't be written ({error}); a bench runs in the folder of its package"),
        )?;
    }
    Ok(())
}
