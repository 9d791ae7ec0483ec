//! gRPC over memory, in virtual time: the layer and the generated client.

use std::sync::Arc;
use std::time::Duration;
use tonic_gax_tests::chaos::{
    CallKind, ChaosClient, Connecting, FinishedCall, FinishedRun, Grain, RandomConnector, RandomServer, Run,
    SeedOutcome, Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::{Stack, VirtualServer, ms, virtual_time};

/// A run over gRPC.
pub(crate) type GrpcRun = Run<RandomServer>;

/// Makes the calls of a run.
pub(crate) async fn finish(run: &GrpcRun, stack: Stack) -> FinishedRun {
    let script = run.server.script();
    let server = match run.server.stream_limit {
        Some(streams) => VirtualServer::with_stream_limit(streams, script),
        None => VirtualServer::start(script),
    };
    let witness = Witness::default();
    let channel = RandomConnector::to(server.connector(), &run.connections).channel();
    let client = ChaosClient::new(stack, channel, &run.policy, &witness);
    let log = server.log().clone();
    let mut made = run.start(client, move || log.elapsed()).join_all().await;
    made.sort_by_key(|call| call.number);
    // The last resets reach the server.
    tokio::time::sleep(ms(5)).await;
    let (arrivals, policy) = (server.log().arrivals(), Arc::new(run.policy.clone()));
    let seen = |number, start| SeenRequest::of(&arrivals, number, start);
    let calls = made.into_iter().map(|call| FinishedCall {
        is_calm: run.is_calm(),
        knows_kinds: stack != Stack::Layer,
        ..call.finished(&policy, &witness, Grain::Virtual, seen)
    });
    let calls = calls.collect();
    FinishedRun { calls, witness, time: Some(server.log().elapsed()), open: server.log().open() }
}

async fn outcome(seed: u64, stack: Stack) -> SeedOutcome {
    let run = GrpcRun::draw(seed);
    run.outcome(&finish(&run, stack).await, &format!("{stack:?}"))
}

fn all(test: &'static str, stack: Stack, count: u64) {
    Seeds::of(test, count).run(|seed| virtual_time().block_on(outcome(seed, stack)));
}

#[test]
fn generated_client() {
    all("generated_client", Stack::Generated, 750);
}

#[test]
fn layer_without_descriptors() {
    all("layer_without_descriptors", Stack::Layer, 750);
}

#[test]
fn layer_with_descriptors() {
    all("layer_with_descriptors", Stack::LayerWithDescriptors, 750);
}

/// Calls of every kind, long ones too, are drawn at all.
#[test]
fn what_is_drawn() {
    let runs: Vec<GrpcRun> = (0..1000).map(GrpcRun::draw).collect();
    let calls = || runs.iter().flat_map(|run| &run.calls);
    assert!(calls().any(|call| call.kind == CallKind::ServerStreaming && call.reads == 0));
    assert!(
        calls().any(|call| call.patience < ms(1000))
            && calls().any(|call| call.timeout == Some(Duration::ZERO))
    );
    assert!(runs.iter().any(|run| run.policy.most_attempts().is_some_and(|most| most > 64)));
    assert!(runs.iter().any(|run| run.policy.hedging.is_some() && run.policy.budget.is_some()));
    assert!(runs.iter().filter(|run| run.is_calm()).count() > 300);
    // Messages longer than anybody takes, in both directions.
    assert!(calls().any(|call| call.length > 4 << 20));
    let oversize = |run: &GrpcRun| run.server.oversize.filter(|(place, _)| *place < run.server.steps.len());
    assert!(runs.iter().filter_map(oversize).filter(|(_, length)| *length > 4 << 20).count() > 50);
    // Connections that stall, are refused, or lead nowhere.
    for what in
        [Connecting::Stalled, Connecting::Silent, Connecting::Closed, Connecting::Refused(Duration::ZERO)]
    {
        assert!(
            runs.iter().filter(|run| run.connections.steps.first() == Some(&what)).count() > 10,
            "{what:?}"
        );
    }
}
