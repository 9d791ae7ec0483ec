//! gRPC over real sockets and a real clock, with a server that is killed and started again.
//!
//! How long things take is up to the machine: a rule that is about time allows for twenty seconds of it.

use crate::grpc::GrpcRun;
use std::sync::Arc;
use std::time::Duration;
use tonic::transport::Endpoint;
use tonic_gax_tests::chaos::{
    ChaosClient, FinishedRun, Grain, RandomCall, SeedOutcome, Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::{Log, SocketServer};

/// How many calls a seed makes, and how often its server is killed meanwhile.
const CALLS: usize = 60;
const RESTARTS: usize = 3;

/// What was drawn, with as many calls as make it worth it, none of which hangs longer than a second.
fn draw(seed: u64) -> GrpcRun {
    let mut run = GrpcRun::draw(seed);
    let calls: Vec<RandomCall> = run.calls.iter().cycle().take(CALLS).cloned().collect();
    run.calls = calls;
    for (place, call) in run.calls.iter_mut().enumerate() {
        call.patience = call.patience.min(Duration::from_secs(1));
        call.starts = Duration::from_millis(5) * u32::try_from(place).unwrap();
    }
    run
}

async fn outcome(seed: u64) -> SeedOutcome {
    let run = draw(seed);
    let (script, log, witness) = (run.server.script(), Log::default(), Witness::default());
    let mut server = SocketServer::scripted(SocketServer::ANY_PORT, script.clone(), log.clone());
    let channel = Endpoint::try_from(format!("http://{}", server.address())).unwrap().connect_lazy();
    let client = match seed % 2 {
        0 => ChaosClient::generated(channel, &run.policy, &witness),
        _ => ChaosClient::layered(channel, &run.policy, &witness, true),
    };
    let clock = log.clone();
    let mut calls = run.start(client, move || clock.elapsed());
    let mut made = Vec::new();
    while let Some(call) = calls.join_next().await {
        made.push(call.unwrap());
        if made.len() % (CALLS / (RESTARTS + 1)) == 0 && made.len() < CALLS {
            let address = server.address();
            server.kill();
            server = SocketServer::scripted(address, script.clone(), log.clone());
        }
    }
    made.sort_by_key(|call| call.number);
    let (arrivals, policy) = (log.arrivals(), Arc::new(run.policy.clone()));
    let requests = |number, start| SeenRequest::of(&arrivals, number, start);
    let finished = made.into_iter().map(|call| call.finished(&policy, &witness, Grain::Scheduler, requests));
    // What the last connections leave behind is the system's.
    run.outcome(&FinishedRun { calls: finished.collect(), witness, time: None, open: 0 }, "over sockets")
}

#[test]
fn over_sockets() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    Seeds::of("over_sockets", 8).one_in(100, 8).run(|seed| runtime.block_on(outcome(seed)));
}
