//! HTTP over memory, in virtual time.

use crate::virtual_time;
use gax_retry::Compatibility;
use std::sync::Arc;
use tokio::task::JoinSet;
use tonic_gax_tests::chaos::{
    CallKind, ChaosHttp, Draw, FinishedCall, Grain, RandomCall, RandomHttpServer, RandomPolicy, SeedOutcome,
    Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::{FaultServer, VirtualClock, ms};

pub(crate) struct Run {
    pub(crate) policy: RandomPolicy,
    pub(crate) server: RandomHttpServer,
    pub(crate) calls: Vec<RandomCall>,
}

impl Run {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let (mut policy, mut server, mut calls) = (draw.fork(), draw.fork(), draw.fork());
        Self {
            policy: RandomPolicy::draw(&mut policy),
            server: RandomHttpServer::draw(&mut server),
            calls: (0..calls.between(1, 6)).map(|_| RandomCall::draw(&mut calls)).collect(),
        }
    }

    /// Makes the calls: what became of them, and how many connections there were after the client had gone.
    pub(crate) async fn finish(&self) -> (Vec<FinishedCall>, usize) {
        let (server, connector) = FaultServer::in_memory(self.server.script());
        let witness = Witness::default();
        let client = ChaosHttp::new(connector, &self.policy, &witness);
        let mut calls = JoinSet::new();
        for (number, call) in (0..).zip(self.calls.clone()) {
            // Over HTTP each call is one request and one response.
            let call = RandomCall { kind: CallKind::Unary, ..call };
            let (client, server) = (client.clone(), server.clone());
            calls.spawn(async move {
                tokio::time::sleep(call.starts).await;
                let start = server.elapsed();
                let made = client.make(&call, number).await;
                (number, call, start, made)
            });
        }
        drop(client);
        let mut made = calls.join_all().await;
        made.sort_by_key(|(number, ..)| *number);
        // Whatever it goes on sending to nobody.
        tokio::time::sleep(ms(2000)).await;
        let arrivals = server.arrivals();
        let finished = made.into_iter().map(|(number, call, start, (end, handed_over, report))| {
            let mut policy = self.policy.clone();
            // A request that is not safe to send twice is not hedged; gax-java takes each for safe.
            let is_safe = call.method != "POST" || policy.compatibility == Compatibility::GaxJava;
            policy.hedging = policy.hedging.filter(|_| is_safe);
            FinishedCall {
                policy: Arc::new(policy),
                end,
                handed_over,
                report,
                witnessed: witness.of(number),
                seen: SeenRequest::of_http(&arrivals, number, start),
                is_calm: self.server.is_calm(),
                is_retried_by_code: false,
                grain: Grain::Virtual,
                call,
            }
        });
        (finished.collect(), server.connections())
    }
}

async fn outcome(seed: u64) -> SeedOutcome {
    let run = Run::draw(seed);
    let clock = VirtualClock::start();
    let (calls, open) = run.finish().await;
    let mut outcome = SeedOutcome::of(format!("{:?}\n{:?}", run.policy, run.server));
    for (number, call) in (0..).zip(&calls) {
        outcome.tell(number, call);
    }
    if let Some(budget) = run.policy.budget {
        outcome.broken.extend(budget.overdrawn(&calls, clock.elapsed()));
    }
    if open > 0 {
        outcome.broken.push(format!("{open} connections are open after the client has gone"));
    }
    outcome
}

#[test]
fn http_requests() {
    Seeds::of("http_requests", 1500).run(|seed| virtual_time().block_on(outcome(seed)));
}
