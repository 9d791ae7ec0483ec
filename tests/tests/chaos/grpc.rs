//! gRPC over memory, in virtual time: the layer and the generated client.

use crate::virtual_time;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tonic_gax_tests::chaos::{
    CallKind, ChaosClient, Draw, FinishedCall, Grain, RandomCall, RandomPolicy, RandomServer, SeedOutcome,
    Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::{VirtualServer, ms};

/// Who makes the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stack {
    Generated,
    Layer,
    Described,
}

/// What a seed stands for.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) policy: RandomPolicy,
    pub(crate) server: RandomServer,
    pub(crate) calls: Vec<RandomCall>,
}

impl Run {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        // Each goes on by itself, so that a change to one leaves the others of a seed as they are.
        let (mut policy, mut server, mut calls) = (draw.fork(), draw.fork(), draw.fork());
        Self {
            policy: RandomPolicy::draw(&mut policy),
            server: RandomServer::draw(&mut server),
            calls: (0..calls.between(1, 6)).map(|_| RandomCall::draw(&mut calls)).collect(),
        }
    }

    /// Makes the calls: what became of them, and how many requests the server was busy with in the end.
    pub(crate) async fn finish(&self, stack: Stack) -> (Vec<FinishedCall>, usize) {
        let script = self.server.script();
        let server = match self.server.stream_limit {
            Some(streams) => VirtualServer::with_stream_limit(streams, script),
            None => VirtualServer::start(script),
        };
        let witness = Witness::default();
        let client = match stack {
            Stack::Generated => ChaosClient::generated(server.channel(), &self.policy, &witness),
            Stack::Layer => ChaosClient::layered(server.channel(), &self.policy, &witness, false),
            Stack::Described => ChaosClient::layered(server.channel(), &self.policy, &witness, true),
        };
        let mut calls = JoinSet::new();
        for (number, call) in (0..).zip(self.calls.clone()) {
            let (mut client, log) = (client.clone(), server.log().clone());
            calls.spawn(async move {
                tokio::time::sleep(call.starts).await;
                let start = log.elapsed();
                let made = client.make(&call, number).await;
                (number, call, start, made)
            });
        }
        drop(client);
        let mut made = calls.join_all().await;
        made.sort_by_key(|(number, ..)| *number);
        // The last resets reach the server.
        tokio::time::sleep(ms(5)).await;
        let arrivals = server.log().arrivals();
        let policy = Arc::new(self.policy.clone());
        let finished =
            made.into_iter().map(|(number, call, start, (end, handed_over, report))| FinishedCall {
                policy: Arc::clone(&policy),
                end,
                handed_over,
                report,
                witnessed: witness.of(number),
                seen: SeenRequest::of(&arrivals, number, start),
                is_calm: self.server.is_calm(),
                is_retried_by_code: true,
                grain: Grain::Virtual,
                call,
            });
        (finished.collect(), server.log().open())
    }
}

async fn outcome(seed: u64, stack: Stack) -> SeedOutcome {
    let run = Run::draw(seed);
    let clock = tonic_gax_tests::VirtualClock::start();
    let (calls, open) = run.finish(stack).await;
    let mut outcome = SeedOutcome::of(format!("{stack:?}\n{:?}\n{:#?}", run.policy, run.server));
    for (number, call) in (0..).zip(&calls) {
        outcome.tell(number, call);
    }
    if let Some(budget) = run.policy.budget {
        outcome.broken.extend(budget.overdrawn(&calls, clock.elapsed()));
    }
    if open > 0 {
        outcome.broken.push(format!("the server is busy with {open} requests after all calls"));
    }
    outcome
}

fn all(test: &'static str, stack: Stack, count: u64) {
    Seeds::of(test, count).run(|seed| virtual_time().block_on(outcome(seed, stack)));
}

#[test]
fn generated_client() {
    all("generated_client", Stack::Generated, 1500);
}

#[test]
fn layer_without_descriptors() {
    all("layer_without_descriptors", Stack::Layer, 1500);
}

#[test]
fn layer_with_descriptors() {
    all("layer_with_descriptors", Stack::Described, 1500);
}

/// Calls of every kind, long ones too, are drawn at all.
#[test]
fn what_is_drawn() {
    let runs: Vec<Run> = (0..1000).map(Run::draw).collect();
    let calls = || runs.iter().flat_map(|run| &run.calls);
    assert!(calls().any(|call| call.kind == CallKind::ServerStreaming && call.reads == 0));
    assert!(
        calls().any(|call| call.patience < ms(1000))
            && calls().any(|call| call.timeout == Some(Duration::ZERO))
    );
    assert!(runs.iter().any(|run| run.policy.most_attempts().is_some_and(|most| most > 64)));
    assert!(runs.iter().any(|run| run.policy.hedging.is_some() && run.policy.budget.is_some()));
    assert!(runs.iter().filter(|run| run.server.is_calm()).count() > 300);
}
