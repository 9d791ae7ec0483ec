//! The requests that a server saw.

use super::calls::Calls;
use super::{Script, Step};
use bytes::Bytes;
use gax_driver::__private::{Clock, Locked};
use gax_wire::__private::grpc_timeout;
use http::HeaderMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A request that reached the server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Arrival {
    /// How many requests came before it.
    pub index: usize,
    /// When.
    pub at: Duration,
    /// The path.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, where the script reads it and the log [keeps](Log::without_bodies) it.
    pub body: Bytes,
    /// Which call it is an attempt of, from 0: that of the same method whose attempts its `grpc-previous-rpc-attempts` counts. Without
    /// that header it is another call, unless the last attempt of one was not looked at.
    pub call: usize,
    /// Which request of the call, from 0. Requests that clients send again as if they had never been sent count too.
    pub attempt: usize,
    /// The script's step for it.
    pub step: Step,
    /// When the server had replied in full.
    pub replied: Option<Duration>,
    /// When the client gave it up, if the server had not replied in full.
    pub gone: Option<Duration>,
}

impl Arrival {
    /// Returns whether it has neither been replied to in full nor given up.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.replied.is_none() && self.gone.is_none()
    }

    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    gax_text::getters! { self:
        /// The `grpc-timeout` header as it came.
        pub grpc_timeout: Option<&str> = self.header("grpc-timeout");

        /// How many attempts the client says that it has made before (`grpc-previous-rpc-attempts`).
        pub previous_attempts: Option<usize> = previous(&self.headers);

        /// The `grpc-timeout`, if there is one that can be read.
        pub deadline: Option<Duration> =
            self.grpc_timeout().and_then(|timeout| grpc_timeout::parse(timeout.as_bytes()));

        /// The `grpc-timeout` in milliseconds.
        ///
        /// # Panics
        ///
        /// It is not a whole number of milliseconds: virtual time counts exactly.
        pub timeout: Option<u64> = self.deadline().map(milliseconds);
    }
}

fn previous(headers: &HeaderMap) -> Option<usize> {
    headers.get("grpc-previous-rpc-attempts")?.to_str().ok()?.parse().ok()
}

fn milliseconds(time: Duration) -> u64 {
    let whole = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    assert_eq!(Duration::from_millis(whole), time, "not a whole number of milliseconds");
    whole
}

/// The requests that a server saw, and when, from the log's making on.
#[derive(Debug, Clone)]
pub struct Log {
    clock: Clock,
    seen: Arc<Locked<Seen>>,
    drops_bodies: bool,
    open: Arc<AtomicUsize>,
    listener: Option<Listener>,
}

#[derive(Debug, Default)]
struct Seen {
    arrivals: Vec<Arrival>,
    calls: Calls,
}

#[derive(Clone)]
struct Listener(Arc<dyn Fn(Arrival) + Send + Sync>);

gax_text::short_debug! { self: Listener {} }

impl Default for Log {
    fn default() -> Self {
        let clock = Clock::start();
        Self { clock, seen: Arc::default(), drops_bodies: false, open: Arc::default(), listener: None }
    }
}

impl Log {
    /// A log that shows each request to the closure, immediately: when it comes, and when it has been replied to in full or
    /// given up.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_testing::Log;
    ///
    /// let (sender, arrivals) = std::sync::mpsc::channel();
    /// let log = Log::notifying(move |arrival| {
    ///     sender.send(arrival).ok();
    /// });
    /// # drop((log, arrivals));
    /// ```
    #[must_use]
    pub fn notifying(listener: impl Fn(Arrival) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Listener(Arc::new(listener))), ..Self::default() }
    }

    /// Forgets the bodies of requests, which would otherwise be in memory.
    #[must_use]
    pub fn without_bodies(self) -> Self {
        Self { drops_bodies: true, ..self }
    }

    /// All arrivals so far.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.seen.change(|seen| seen.arrivals.clone())
    }

    /// When each request came, and the timeout that it brought, in milliseconds.
    #[must_use]
    pub fn seen(&self) -> Vec<(u64, Option<u64>)> {
        let at = |arrival: &Arrival| u64::try_from(arrival.at.as_millis()).unwrap_or(u64::MAX);
        self.arrivals().iter().map(|arrival| (at(arrival), arrival.timeout())).collect()
    }

    gax_text::getters! { self:
        /// How many requests the server is busy with: they came, and were neither replied to in full nor given up.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_testing::{Script, VirtualServer};
        ///
        /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
        /// # async fn main() {
        /// let server = VirtualServer::start(Script::new());
        /// // After the calls of a test, none of them may continue at the server.
        /// assert_eq!(server.log().open(), 0);
        /// # }
        /// ```
        pub open: usize = self.open.load(Ordering::Relaxed);

        /// How much time has passed since the log was made.
        pub elapsed: Duration = self.clock.elapsed();
    }

    fn notify(&self, arrival: Option<Arrival>) {
        if let (Some(Listener(listener)), Some(arrival)) = (&self.listener, arrival) {
            listener(arrival);
        }
    }

    /// A request has come, and gets the script's next step.
    pub(super) fn arrive(&self, script: &Script, path: &str, headers: &HeaderMap) -> (Watch, Step) {
        let at = self.clock.elapsed();
        let (arrival, step) = self.seen.change(|seen| {
            let (call, attempt) = seen.calls.arrive(path, previous(headers));
            let step = script.next(path, attempt);
            let arrival = Arrival {
                index: seen.arrivals.len(),
                at,
                path: path.to_owned(),
                headers: headers.clone(),
                body: Bytes::new(),
                call,
                attempt,
                step: step.clone(),
                replied: None,
                gone: None,
            };
            seen.arrivals.push(arrival.clone());
            (arrival, step)
        });
        self.open.fetch_add(1, Ordering::Relaxed);
        let watch = Watch { log: self.clone(), index: arrival.index, replied: false };
        self.notify(self.listener.is_some().then_some(arrival));
        (watch, step)
    }
}

/// Watches whether a request is replied to in full or given up.
#[derive(Debug)]
pub(super) struct Watch {
    log: Log,
    index: usize,
    replied: bool,
}

impl Watch {
    pub(super) fn drops_bodies(&self) -> bool {
        self.log.drops_bodies
    }

    pub(super) fn read(&self, body: Bytes) {
        self.change(|arrival| arrival.body = body);
    }

    pub(super) fn replied(&mut self) {
        self.replied = true;
    }

    /// Changes the request; returns it if there is a listener.
    fn change(&self, change: impl FnOnce(&mut Arrival)) -> Option<Arrival> {
        self.log.seen.change(|seen| {
            let arrival = seen.arrivals.get_mut(self.index)?;
            change(arrival);
            if arrival.replied.is_some() {
                let reply = arrival.step.reply();
                seen.calls.replied(arrival.call, reply.is_good(), reply.is_unprocessed());
            }
            self.log.listener.is_some().then(|| arrival.clone())
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.log.open.fetch_sub(1, Ordering::Relaxed);
        let now = Some(self.log.clock.elapsed());
        let arrival = self.change(|arrival| {
            let end = if self.replied { &mut arrival.replied } else { &mut arrival.gone };
            *end = now;
        });
        self.log.notify(arrival);
    }
}
