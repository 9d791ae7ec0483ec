//! A crowd of calls over a `Connection` that wait while all endpoints are down: what it costs others.
//!
//! `cargo bench -p tonic-gax-benches --bench connection -- crowd` prints it. The bench `speed` counts the instructions of calls over a
//! connection.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use gax_connection::{Address, AddressList, Connection, Picker};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::task::JoinSet;
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::bench::echo_client::EchoClient;
use tonic_gax_benches::measure::{Cost, Stopwatch, runtime};
use tonic_gax_benches::message;
use tonic_gax_benches::table::Table;

fn main() -> Result<(), Box<dyn Error>> {
    let deadline = if Arguments::read().is_quick() { 1 } else { 10 };
    crowd(Duration::from_secs(deadline))
}

/// How many endpoints are down, and how many calls wait for them.
const CROWD: (u32, u32) = (1000, 1000);

/// Calls that wait until their deadlines, since all endpoints are down: how late timers of other tasks are, how much of a core the calls
/// and attempts to connect take, and when the last call is over.
fn crowd(deadline: Duration) -> Result<(), Box<dyn Error>> {
    const TICK: Duration = Duration::from_millis(10);
    let runtime = runtime();
    let (endpoints, calls) = CROWD;
    // Nobody listens there.
    let down = (0..endpoints)
        .map(|number| Address::from(SocketAddr::from((Ipv4Addr::from(0x7f01_0001 + number), 9))));
    let connection = Connection::to("http://echo").picker(Picker::RoundRobin).wait_for_ready(true);
    let connection = connection.resolver(AddressList::new(down)).connect_lazy()?;
    let (work, wall) = (Stopwatch::start(Cost::Processor), Stopwatch::start(Cost::Wall));
    let late = runtime.block_on(async {
        let mut waiting = JoinSet::new();
        for _ in 0..calls {
            let mut client = EchoClient::new(connection.clone());
            waiting.spawn(async move {
                let call = client.send(message::payload(message::SMALL));
                tokio::time::timeout(deadline, call).await.is_err()
            });
        }
        let mut late = Duration::ZERO;
        while !waiting.is_empty() {
            let tick = Stopwatch::start(Cost::Wall);
            tokio::time::sleep(TICK).await;
            late = late.max(tick.elapsed().saturating_sub(TICK));
            while waiting.try_join_next().is_some() {}
        }
        late
    });
    let over = wall.elapsed().as_secs_f64();
    let mut table =
        Table::new(&["endpoints down", "calls", "timers late", "of a core", "over after, of the deadline"]);
    table.row([
        endpoints.to_string(),
        calls.to_string(),
        format!("{:.1} ms", late.as_secs_f64() * 1e3),
        format!("{:.2}", work.elapsed().as_secs_f64() / over),
        format!("{:.2}", over / deadline.as_secs_f64()),
    ]);
    println!("\ncalls that wait\n{}", table.text());
    Ok(())
}
