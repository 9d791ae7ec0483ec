//! A run: everything that is drawn from a seed, and its outcome.

use super::{
    CallEnd, Draw, FinishedCall, Grain, RandomCall, RandomConnections, RandomPolicy, SeedOutcome,
    SeenRequest, Witness,
};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tonic_gax::OperationReport;

/// A policy, a server, connections to it and calls.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "tests change what was drawn")]
pub struct Run<S> {
    /// How calls are retried.
    pub policy: RandomPolicy,
    /// The server.
    pub server: S,
    /// How connecting to it goes, over memory.
    pub connections: RandomConnections,
    /// The calls.
    pub calls: Vec<RandomCall>,
}

/// A server that is drawn.
pub trait DrawnServer: Debug {
    /// Draws one.
    fn draw(draw: &mut Draw) -> Self;

    /// Returns whether each request that a client sends arrives.
    fn is_calm(&self) -> bool;
}

/// Whoever makes calls.
pub trait RandomCaller: Clone + Send + 'static {
    /// Makes a call and drops all of it in the end: how it ended, when the caller had that, and the report.
    fn make(
        &mut self,
        call: &RandomCall,
        number: u32,
    ) -> impl Future<Output = (CallEnd, Duration, Option<OperationReport>)> + Send;
}

/// A call as its caller knows it.
#[derive(Debug)]
#[non_exhaustive]
pub struct MadeCall {
    /// Which one, from 0.
    pub number: u32,
    /// The call as it was drawn.
    pub call: RandomCall,
    /// When it began, on the server's clock.
    start: Duration,
    end: CallEnd,
    handed_over: Duration,
    report: Option<OperationReport>,
}

impl<S: DrawnServer> Run<S> {
    /// Draws the run of that seed.
    #[must_use]
    pub fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        // Each goes on by itself, so that a change to one leaves the others of a seed as they are.
        let (mut policy, mut server, mut calls) = (draw.fork(), draw.fork(), draw.fork());
        let mut connections = draw.fork();
        Self {
            policy: RandomPolicy::draw(&mut policy),
            server: S::draw(&mut server),
            connections: RandomConnections::draw(&mut connections),
            calls: (0..calls.between(1, 6)).map(|_| RandomCall::draw(&mut calls)).collect(),
        }
    }

    /// Returns whether each request that a client sends arrives.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        self.server.is_calm() && self.connections.is_calm()
    }

    /// Makes the calls, each in a task and at its time. The clock is the server's.
    pub fn start(
        &self,
        caller: impl RandomCaller,
        clock: impl Fn() -> Duration + Clone + Send + 'static,
    ) -> JoinSet<MadeCall> {
        let mut calls = JoinSet::new();
        for (number, call) in (0..).zip(self.calls.clone()) {
            let (mut caller, clock) = (caller.clone(), clock.clone());
            calls.spawn(async move {
                tokio::time::sleep(call.starts).await;
                let start = clock();
                let (end, handed_over, report) = caller.make(&call, number).await;
                MadeCall { number, call, start, end, handed_over, report }
            });
        }
        // Connections end with the last that has the caller.
        drop(caller);
        calls
    }

    /// The outcome: of the calls, each by itself, and of all that they share. The budget is looked at where times are
    /// exact, and with them the order in which things happened.
    #[must_use]
    pub fn outcome(&self, finished: &FinishedRun, what_ran: &str) -> SeedOutcome {
        let FinishedRun { calls, witness, time, open } = finished;
        let mut outcome = SeedOutcome::of(format!(
            "{what_ran}\n{:?}\n{:?}\n{:#?}",
            self.policy, self.connections, self.server
        ));
        for (number, call) in (0..).zip(calls) {
            outcome.tell(number, call);
        }
        if let (Some(budget), Some(time)) = (self.policy.budget, *time) {
            outcome.broken.extend(budget.overdrawn(calls, &witness.draws(), time));
        }
        if *open > 0 {
            outcome
                .broken
                .push(format!("the server has {open} requests or connections open after all calls"));
        }
        outcome
    }
}

impl MadeCall {
    /// All that is known of it: its requests are those among what the server saw from its start on.
    #[must_use]
    pub fn finished(
        self,
        policy: &Arc<RandomPolicy>,
        witness: &Witness,
        grain: Grain,
        seen: impl FnOnce(u32, Duration) -> Vec<SeenRequest>,
    ) -> FinishedCall {
        let Self { number, call, start, end, handed_over, report } = self;
        FinishedCall {
            policy: Arc::clone(policy),
            end,
            handed_over,
            report,
            witnessed: witness.of(number),
            seen: seen(number, start),
            is_calm: false,
            knows_kinds: true,
            is_carried_out: false,
            is_retried_by_code: true,
            grain,
            call,
        }
    }
}

/// A run that is over.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "tests put it together")]
pub struct FinishedRun {
    /// Its calls, by their numbers.
    pub calls: Vec<FinishedCall>,
    /// The observer of the calls.
    pub witness: Witness,
    /// How long it took, where that is exact.
    pub time: Option<Duration>,
    /// How many requests the server was still busy with, or how many connections it had.
    pub open: usize,
}
