//! The soak itself.

use super::SoakOptions;
use super::callers::{Caller, Outcomes};
use super::checks::{BrokenPromises, Checks};
use super::clients::{GrpcClients, http_client, retryer};
use super::grpc_server::GrpcServer;
use super::http_server::HttpServer;
use super::process::{memory, tasks};
use super::settings::{replace, table};
use super::tally::{Tally, of};
use crate::clock::{VirtualClock, ms};
use gax_table::live::SettingsHandle;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// A soak.
#[derive(Debug)]
pub struct Soak {
    options: SoakOptions,
}

/// The tallies of each kind of operation.
#[derive(Debug, Default)]
struct Tallies {
    calm: Arc<Tally>,
    rough: Arc<Tally>,
    http: Arc<Tally>,
    closures: Arc<Tally>,
}

impl Tallies {
    fn all(&self) -> [&Tally; 4] {
        [&self.calm, &self.rough, &self.http, &self.closures]
    }

    fn sum(&self, count: impl Fn(&Tally) -> u64) -> u64 {
        self.all().into_iter().map(count).sum()
    }

    fn sum_up(&self, outcomes: &Outcomes) -> String {
        let Outcomes { made, good, failed, dropped, .. } = outcomes;
        let sum = |count: fn(&Tally) -> &AtomicU64| self.sum(|tally| of(count(tally)));
        format!(
            "{} calls: {} good, {} failed, {} dropped; {} operations, {} attempts, {} hedges, {} throttled",
            of(made),
            of(good),
            of(failed),
            of(dropped),
            sum(|tally| &tally.operations),
            sum(|tally| &tally.attempts),
            sum(|tally| &tally.hedges),
            sum(|tally| &tally.throttled),
        )
    }
}

/// How often the rough server is killed.
const RESTARTS: Duration = Duration::from_secs(1);

impl Soak {
    /// A soak as it is asked for.
    #[must_use]
    pub fn new(options: SoakOptions) -> Self {
        Self { options }
    }

    /// Makes calls until the time is up; says how things are once a second, and in the end how they were.
    ///
    /// # Errors
    ///
    /// Something was lost, leaked or miscounted.
    pub fn run(&self, say: impl FnMut(String)) -> Result<(), BrokenPromises> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let seed = self.options.seed;
        let servers =
            (GrpcServer::start(seed, false), GrpcServer::start(seed + 1, true), HttpServer::start(seed + 2));
        runtime.block_on(self.drive(servers, say))
    }

    async fn drive(
        &self,
        (calm, rough, http): (GrpcServer, GrpcServer, HttpServer),
        mut say: impl FnMut(String),
    ) -> Result<(), BrokenPromises> {
        let SoakOptions { time, callers, seed } = self.options;
        let idle = tasks();
        let (tallies, outcomes) = (Tallies::default(), Arc::<Outcomes>::default());
        let is_over = Arc::<AtomicBool>::default();
        let handle = SettingsHandle::new(table(1));
        let mut running = JoinSet::new();
        {
            let caller = Caller {
                grpc: vec![
                    GrpcClients::new(calm.address(), &handle, &tallies.calm),
                    GrpcClients::new(rough.address(), &handle, &tallies.rough),
                ],
                http: http_client(&handle, &tallies.http),
                http_server: http.address(),
                retryer: retryer(&handle, &tallies.closures),
                outcomes: Arc::clone(&outcomes),
                is_over: Arc::clone(&is_over),
            };
            for number in 0..callers {
                running.spawn(caller.clone().call_on(seed.wrapping_mul(1000) + number));
            }
        }
        let replacing = tokio::spawn(replace(handle.clone(), Arc::clone(&is_over)));
        let rough_arrived = Arc::clone(&rough.arrived);
        let killing = std::thread::spawn({
            let (is_over, mut server) = (Arc::clone(&is_over), rough);
            move || {
                while !is_over.load(Ordering::SeqCst) {
                    std::thread::sleep(RESTARTS);
                    server = server.restart();
                }
                server
            }
        });

        let settled = follow(time, &tallies, &handle, &mut say).await;
        is_over.store(true, Ordering::SeqCst);
        while running.join_next().await.is_some() {}
        let (taken, refused) = replacing.await.unwrap();
        let server = killing.join().unwrap();
        let mut checks = Checks::default();
        // Connections end once nobody has a client any more; how long that takes is the system's.
        let mut turns = 0;
        while tasks() > idle && turns < 200 {
            tokio::time::sleep(ms(50)).await;
            turns += 1;
        }
        checks.holds(tasks() <= idle, || format!("{} tasks are left", tasks() - idle));
        drop(server);
        checks.tally("calm gRPC server", &tallies.calm, Some(of(&calm.arrived)), true);
        checks.tally("rough gRPC server", &tallies.rough, Some(of(&rough_arrived)), false);
        checks.tally("HTTP server", &tallies.http, Some(of(&http.arrived)), false);
        checks.tally("closures", &tallies.closures, None, false);
        checks.outcomes(&outcomes);
        checks.holds(handle.version() == 1 + taken, || format!("{taken} tables were taken, but {handle:?}"));
        let (first, last) = (of(&tallies.calm.first_version), of(&tallies.calm.last_version));
        checks.holds(first < last && last <= handle.version(), || {
            format!("operations began by the versions {first} to {last} of {}", handle.version())
        });
        checks.holds(tallies.sum(|tally| of(&tally.hedges)) > 0, || "nothing was hedged".to_owned());
        checks.memory(settled, memory());
        say(format!(
            "{}; {} versions of settings, {refused} refused",
            tallies.sum_up(&outcomes),
            handle.version()
        ));
        let result = if checks.broken.is_empty() { Ok(()) } else { Err(BrokenPromises(checks.broken)) };
        say(match &result {
            Ok(()) => "result: sound; nothing lost, nothing leaked, all counts agree".to_owned(),
            Err(broken) => format!("result: broken; {broken}"),
        });
        result
    }
}

/// Says how things are once a second, until the time is up. Returns the memory that was taken after a quarter of it.
async fn follow(
    time: Duration,
    tallies: &Tallies,
    handle: &SettingsHandle,
    say: &mut impl FnMut(String),
) -> Option<u64> {
    let clock = VirtualClock::start();
    let mut before = (0, 0);
    let mut settled = None;
    while clock.elapsed() < time {
        tokio::time::sleep(Duration::from_secs(1).min(time)).await;
        let now = (tallies.sum(|tally| of(&tally.operations)), tallies.sum(|tally| of(&tally.attempts)));
        if settled.is_none() && clock.elapsed() >= time / 4 {
            settled = memory();
        }
        say(format!(
            "{:>5} s  {:>6} operations/s  {:>6} attempts/s  {:>6} in flight  {:>8}  {:>4} tasks  settings {}",
            clock.elapsed().as_secs(),
            now.0 - before.0,
            now.1 - before.1,
            tallies.sum(Tally::in_flight),
            memory().map_or_else(|| "? MiB".to_owned(), |bytes| format!("{} MiB", bytes >> 20)),
            tasks(),
            handle.version(),
        ));
        before = now;
    }
    settled
}
