//! One cell: a client makes calls while something happens to its connections, and what is left of them afterwards.

use super::clients::{CONNECT, Client, Connector, End, PING, TOTAL, UNIT, content};
use super::server::{Ledger, Server, call_of, reply};
use gax_testing::{HttpChange, HttpPeer, HttpReply, HttpScript, StorageEmulator, VirtualServer};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic_gax_tests::{ConnectionFault as Fault, FaultProxy, Script, VirtualClock, ms};

/// One thing that happens while calls are made.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// These are the faults of connections from now on.
    Always(Vec<Fault>),
    /// These are the faults of the next connection.
    Next(Vec<Fault>),
    /// This happens to all connections.
    Now(Fault),
    /// Connections lead nowhere from now on, or do so no longer.
    LeadsNowhere(bool),
    Wait(Duration),
}

/// A misbehaviour, as the suite plays it.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    steps: Vec<Step>,
    /// How many calls begin at a time, of twenty.
    at_once: u32,
    closes: bool,
    idle: Option<Duration>,
    is_over_http2: bool,
    /// Whether calls that are made meanwhile fail for good, since nothing would get better.
    is_final: bool,
}

impl Trouble {
    pub(super) fn new(steps: impl Into<Vec<Step>>) -> Self {
        Self {
            steps: steps.into(),
            at_once: 1,
            closes: false,
            idle: None,
            is_over_http2: false,
            is_final: false,
        }
    }

    /// Calls that are made meanwhile fail for good.
    pub(super) fn and_is_final(self) -> Self {
        Self { is_final: true, ..self }
    }

    /// Clients over HTTP/1.1 know of no such thing.
    pub(super) fn over_http2(self) -> Self {
        Self { is_over_http2: true, ..self }
    }

    /// An HTTP/1.1 server that closes each connection behind its first response, or one that is idle for so long.
    pub(super) fn http1(closes: bool, idle: Option<Duration>) -> Self {
        Self { closes, idle, ..Self::new([]) }
    }

    /// Returns whether it can happen to a client.
    pub(super) fn concerns(&self, client: Client) -> bool {
        // For a stream that resumes, an end without an error is its end.
        let is_over = |fault: &Fault| matches!(fault, Fault::EndStreams { reset: None, .. });
        match client {
            _ if client.is_http1() => !self.is_http2(),
            Client::Resumed if self.faults().any(is_over) => false,
            _ => !self.closes && self.idle.is_none(),
        }
    }

    /// Returns whether it needs HTTP/2.
    fn is_http2(&self) -> bool {
        let is_frame = |fault: &Fault| {
            use Fault::{EndStreams, GoAway, StreamLimit, TinyFrames, Window};
            matches!(fault, EndStreams { .. } | GoAway { .. } | StreamLimit(..) | TinyFrames(_) | Window(_))
        };
        self.is_over_http2 || self.faults().any(is_frame)
    }

    /// Returns whether the proxy hides the end of a connection from its other side.
    fn hides_ends(&self) -> bool {
        self.faults().any(|fault| matches!(fault, Fault::HalfOpen(_) | Fault::Stall { time: None, .. }))
    }

    fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.steps.iter().flat_map(|step| match step {
            Step::Always(faults) | Step::Next(faults) => faults.as_slice(),
            Step::Now(fault) => std::slice::from_ref(fault),
            Step::LeadsNowhere(_) | Step::Wait(_) => &[],
        })
    }

    pub(super) fn at_once(self, at_once: u32) -> Self {
        Self { at_once, ..self }
    }

    /// How long it lasts.
    fn lasts(&self) -> Duration {
        let waits =
            self.steps.iter().map(|step| if let Step::Wait(time) = step { *time } else { Duration::ZERO });
        waits.sum()
    }

    async fn happen(&self, proxy: &FaultProxy, connector: &Connector) {
        for step in self.steps.clone() {
            match step {
                Step::Always(faults) => proxy.always(faults),
                Step::Next(faults) => proxy.next(faults),
                Step::Now(fault) => proxy.now(&fault),
                Step::LeadsNowhere(so) => connector.leads_nowhere.store(so, Ordering::Relaxed),
                Step::Wait(time) => sleep(time).await,
            }
        }
    }

    /// The server of HTTP/1.1.
    fn script(&self, ledger: &Ledger, is_proxy: bool) -> HttpScript {
        let (ledger, closes) = (ledger.clone(), self.closes);
        let script = HttpScript::by(move |_, arrival| {
            if is_proxy {
                let close = HttpChange::Set("connection", "close".to_owned());
                return HttpReply::Forward(closes.then_some(close).into_iter().collect());
            }
            let call = call_of(&arrival.target).unwrap();
            ledger.note(call);
            let reply =
                HttpReply::status(200).with_header("content-type", "application/json").with_body(reply(call));
            if closes { reply.with_header("connection", "close") } else { reply }
        });
        self.idle.into_iter().fold(script, |script, idle| script.idle(idle, None))
    }

    /// Makes twenty calls, one each 100 ms, while it happens.
    pub(super) async fn play(&self, client: Client) -> Seen {
        let (ledger, storage) = (Ledger::default(), StorageEmulator::start());
        let server = VirtualServer::serving(Server::new(&ledger), Script::new());
        let mut origin = server.connector();
        let is_transfer = client.is_transfer();
        if is_transfer {
            (0..CALLS).filter(|call| call % 2 == 1).for_each(|call| {
                storage.put("b", &call.to_string(), content(call));
            });
            origin = storage.connector();
        }
        let peer =
            client.is_http1().then(|| HttpPeer::before(origin.clone(), self.script(&ledger, is_transfer)));
        let (proxy, pipes) = FaultProxy::in_memory(peer.as_ref().map_or(origin, |(_, pipes)| pipes.clone()));
        sleep(ms(1)).await;
        let tasks = Handle::current().metrics().num_alive_tasks();
        let connector = Connector::new(pipes);
        let (calls, start) = (client.calls(&connector, &ledger), VirtualClock::start());
        let calling = async {
            let mut running = JoinSet::new();
            for call in 0..CALLS {
                let calling = timeout(2 * TOTAL, calls(call));
                running.spawn(async move {
                    let hangs = |_| End::Failed { message: "it hangs".to_owned(), says_not_done: false };
                    (call, calling.await.unwrap_or_else(hangs))
                });
                if (call + 1) % self.at_once == 0 {
                    sleep(self.at_once * ms(100)).await;
                }
            }
            let last = start.elapsed();
            (running.join_all().await, last, start.elapsed())
        };
        let ((), (mut ends, last, ended)) = tokio::join!(self.happen(&proxy, &connector), calling);
        drop(calls);
        // Both sides hear of each other's end.
        sleep(ms(30_000)).await;
        ends.sort_by_key(|(call, _)| *call);
        let times = |call| {
            let object = storage.object("b", &u32::to_string(&call));
            if is_transfer {
                u32::from(object.is_some_and(|object| *object.content() == content(call)))
            } else {
                ledger.times(call)
            }
        };
        let (accepted, open) = (proxy.accepted(), if self.hides_ends() { 0 } else { proxy.open() });
        drop(proxy);
        sleep(ms(1000)).await;
        Seen {
            times: (0..2 * CALLS).map(times).collect(),
            ends,
            accepted,
            recovered: ended.saturating_sub(last.max(self.lasts())),
            open,
            tasks: Handle::current().metrics().num_alive_tasks().saturating_sub(tasks),
        }
    }
}

pub(super) const CALLS: u32 = 20;

/// All that there is to see of a cell.
#[derive(Debug)]
pub(super) struct Seen {
    /// The ends of the calls.
    ends: Vec<(u32, End)>,
    /// How often each was carried out.
    times: Vec<u32>,
    accepted: usize,
    /// The time from the end of the trouble until the last call ended, behind when it began.
    recovered: Duration,
    open: usize,
    tasks: usize,
}

impl Seen {
    /// How many calls failed.
    pub(super) fn lost(&self) -> usize {
        self.ends.iter().filter(|(_, end)| *end != End::Done).count()
    }

    /// A sentence for each promise that is broken.
    pub(super) fn broken(&self, client: Client, trouble: &Trouble) -> Vec<String> {
        let mut broken = Vec::new();
        for (call, end) in &self.ends {
            let number = if client == Client::Credentials { 2 * call } else { *call };
            let times = *self.times.get(usize::try_from(number).unwrap()).unwrap();
            match end {
                End::Wrong(what) => broken.push(format!("call {call} is reported wrongly: {what}")),
                End::Done if times == 0 => broken.push(format!("call {call} was not carried out")),
                End::Failed { message, .. } if client.saves(*call) && !trouble.is_lost(client, *call) => {
                    broken.push(format!("call {call} is lost: {message}"));
                }
                End::Failed { says_not_done: true, .. } if times > 0 => {
                    broken.push(format!("call {call} was carried out, and the error says that it was not"));
                }
                _ => {}
            }
            if !client.saves(*call) && times > 1 {
                broken.push(format!("call {call} was carried out {times} times"));
            }
        }
        let unit = UNIT.as_millis();
        if self.recovered > trouble.recovery(client) {
            broken.push(format!("it took {:?} to recover, with units of {unit} ms", self.recovered));
        }
        if self.accepted > trouble.connects() {
            broken.push(format!("it connected {} times", self.accepted));
        }
        if self.open > 0 || self.tasks > 0 {
            broken.push(format!("{} connections and {} tasks are left", self.open, self.tasks));
        }
        broken
    }
}

impl Trouble {
    /// Returns whether a call is lost all the same: it was made while others could not have had a reply either.
    fn is_lost(&self, client: Client, call: u32) -> bool {
        let is_meanwhile = call * ms(100) < self.lasts();
        self.is_final && is_meanwhile && !client.is_connected()
    }

    /// As many connections as each call may make, with an attempt each tenth of a second at most.
    fn connects(&self) -> usize {
        let tenths = (self.lasts() + 4 * UNIT).as_millis() / 100;
        usize::try_from(tenths).unwrap() * usize::try_from(CALLS).unwrap()
    }

    /// The longest that calls may take once it is over.
    fn recovery(&self, client: Client) -> Duration {
        let connections = self.steps.iter().filter(|step| matches!(step, Step::Next(_)));
        let backoff = if client.has_growing_delays() { self.lasts() * 9 / 10 } else { Duration::ZERO };
        4 * UNIT + backoff + connections.map(|_| PING + CONNECT).sum::<Duration>()
    }
}
