//! HTTP over memory, in virtual time.

use crate::virtual_time;
use gax_retry::Compatibility;
use std::sync::Arc;
use tonic_gax_tests::chaos::{
    CallKind, ChaosHttp, DrawnServer as _, FinishedCall, FinishedRun, Grain, RandomHttpServer, Run,
    SeedOutcome, Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::{FaultServer, ms};

/// What a seed stands for.
pub(crate) type HttpRun = Run<RandomHttpServer>;

/// Over HTTP each call is one request and one response.
pub(crate) fn draw(seed: u64) -> HttpRun {
    let mut run = HttpRun::draw(seed);
    for call in &mut run.calls {
        call.kind = CallKind::Unary;
    }
    run
}

/// Makes the calls of a run. What is open in the end are connections, after the client has gone.
pub(crate) async fn finish(run: &HttpRun) -> FinishedRun {
    let (server, connector) = FaultServer::in_memory(run.server.script());
    let witness = Witness::default();
    let client = ChaosHttp::new(connector, &run.policy, &witness);
    let clock = server.clone();
    let mut made = run.start(client, move || clock.elapsed()).join_all().await;
    made.sort_by_key(|call| call.number);
    let time = server.elapsed();
    // Whatever it goes on sending to nobody.
    tokio::time::sleep(ms(2000)).await;
    let arrivals = server.arrivals();
    let seen = |number, start| SeenRequest::of_http(&arrivals, number, start);
    let calls = made.into_iter().map(|call| {
        let mut policy = run.policy.clone();
        // A request that is not safe to send twice is not hedged; gax-java takes each for safe.
        let is_safe = call.call.method != "POST" || policy.compatibility == Compatibility::GaxJava;
        policy.hedging = policy.hedging.filter(|_| is_safe);
        FinishedCall {
            is_calm: run.server.is_calm(),
            is_retried_by_code: false,
            ..call.finished(&Arc::new(policy), &witness, Grain::Virtual, seen)
        }
    });
    FinishedRun { calls: calls.collect(), witness, time: Some(time), open: server.connections() }
}

async fn outcome(seed: u64) -> SeedOutcome {
    let run = draw(seed);
    run.outcome(&finish(&run).await, "HTTP")
}

#[test]
fn http_requests() {
    Seeds::of("http_requests", 1500).run(|seed| virtual_time().block_on(outcome(seed)));
}
