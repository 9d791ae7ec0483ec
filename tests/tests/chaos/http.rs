//! HTTP over memory, in virtual time.

use std::sync::Arc;
use std::time::Duration;
use tonic_gax_tests::chaos::{
    CallKind, ChaosHttp, DrawnServer, FinishedCall, FinishedRun, Grain, MadeCall, RandomConnector,
    RandomHttpServer, RandomServer, Run, SeedOutcome, Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::virtual_time;
use tonic_gax_tests::{FaultServer, VirtualServer, ms};

/// A run over HTTP/1.1.
pub(crate) type HttpRun = Run<RandomHttpServer>;

/// A run over HTTP/2, whose server resets streams, says goodbye and limits how many streams there are.
pub(crate) type Http2Run = Run<RandomServer>;

/// Over HTTP each call is one request and one response.
pub(crate) fn draw<S: DrawnServer>(seed: u64) -> Run<S> {
    let mut run = Run::draw(seed);
    for call in &mut run.calls {
        call.kind = CallKind::Unary;
    }
    run
}

/// A call as it is held against the rules.
pub(crate) fn finished<S: DrawnServer>(
    run: &Run<S>,
    call: MadeCall,
    witness: &Witness,
    grain: Grain,
    seen: impl FnOnce(u32, Duration) -> Vec<SeenRequest>,
) -> FinishedCall {
    let mut policy = run.policy.clone();
    // A request that may change something is hedged only where that is allowed.
    let is_safe = call.call.method == "GET";
    policy.hedging = policy.hedging.filter(|hedging| is_safe || hedging.allows_non_idempotent());
    let call = call.finished(&Arc::new(policy), witness, grain, seen);
    FinishedCall { is_calm: run.is_calm(), is_retried_by_code: false, ..call }
}

/// Makes the calls of a run. What is open in the end are connections, after the client has gone.
pub(crate) async fn finish(run: &HttpRun) -> FinishedRun {
    let (server, connector) = FaultServer::in_memory(run.server.script());
    let witness = Witness::default();
    let connector = RandomConnector::to(connector.clone(), &run.connections);
    let client = ChaosHttp::new(connector, &run.policy, &witness);
    let clock = server.clone();
    let mut made = run.start(client, move || clock.elapsed()).join_all().await;
    made.sort_by_key(|call| call.number);
    let time = server.elapsed();
    // Whatever it goes on sending to nobody.
    tokio::time::sleep(ms(2000)).await;
    let arrivals = server.arrivals();
    let seen = |number, start| SeenRequest::of_http(&arrivals, number, start);
    let script = server.script();
    let calls = made.into_iter().map(|call| {
        let is_carried_out = script.has_carried_out(&call.number.to_string());
        FinishedCall { is_carried_out, ..finished(run, call, &witness, Grain::Virtual, seen) }
    });
    FinishedRun { calls: calls.collect(), witness, time: Some(time), open: server.connections() }
}

/// Finishes a run over HTTP/2, where it is requests that may be open in the end.
pub(crate) async fn finish_http2(run: &Http2Run) -> FinishedRun {
    let script = run.server.script();
    let server = match run.server.stream_limit {
        Some(streams) => VirtualServer::with_stream_limit(streams, script),
        None => VirtualServer::start(script),
    };
    let witness = Witness::default();
    let connector = RandomConnector::to(server.connector(), &run.connections);
    let client = ChaosHttp::over_http2(connector, "server", &run.policy, &witness);
    let log = server.log().clone();
    let mut made = run.start(client, move || log.elapsed()).join_all().await;
    made.sort_by_key(|call| call.number);
    let time = server.log().elapsed();
    tokio::time::sleep(ms(5)).await;
    let arrivals = server.log().arrivals();
    let seen = |number, start| SeenRequest::of(&arrivals, number, start);
    let calls = made.into_iter().map(|call| finished(run, call, &witness, Grain::Virtual, seen)).collect();
    FinishedRun { calls, witness, time: Some(time), open: server.log().open() }
}

async fn outcome(seed: u64) -> SeedOutcome {
    let run = draw(seed);
    run.outcome(&finish(&run).await, "HTTP/1.1")
}

async fn http2_outcome(seed: u64) -> SeedOutcome {
    let run = draw(seed);
    run.outcome(&finish_http2(&run).await, "HTTP/2")
}

#[test]
fn http_requests() {
    Seeds::of("http_requests", 1500).run(|seed| virtual_time().block_on(outcome(seed)));
}

#[test]
fn http2_requests() {
    Seeds::of("http2_requests", 1000).run(|seed| virtual_time().block_on(http2_outcome(seed)));
}
