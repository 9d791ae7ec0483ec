//! gRPC over real sockets and a real clock, with a server that is killed and started again.
//!
//! How long things take is up to the machine: a rule that is about time allows for twenty seconds of it.

use crate::grpc::Run;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tonic::transport::Endpoint;
use tonic_gax_tests::chaos::{
    ChaosClient, FinishedCall, Grain, RandomCall, RandomPolicy, SeedOutcome, Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::{Log, SocketServer};

/// How many calls a seed makes, and how often its server is killed meanwhile.
const CALLS: usize = 60;
const RESTARTS: usize = 3;

/// What was drawn, with as many calls as make it worth it, none of which hangs longer than a second.
fn draw(seed: u64) -> (Run, RandomPolicy) {
    let mut run = Run::draw(seed);
    let calls: Vec<RandomCall> = run.calls.iter().cycle().take(CALLS).cloned().collect();
    run.calls = calls;
    for (place, call) in run.calls.iter_mut().enumerate() {
        call.patience = call.patience.min(Duration::from_secs(1));
        call.starts = Duration::from_millis(5) * u32::try_from(place).unwrap();
    }
    let policy = run.policy.clone();
    (run, policy)
}

async fn outcome(seed: u64) -> SeedOutcome {
    let (run, policy) = draw(seed);
    let (script, log, witness) = (run.server.script(), Log::default(), Witness::default());
    let mut server = SocketServer::scripted(SocketServer::ANY_PORT, script.clone(), log.clone());
    let channel = Endpoint::try_from(format!("http://{}", server.address())).unwrap().connect_lazy();
    let client = match seed % 2 {
        0 => ChaosClient::generated(channel, &policy, &witness),
        _ => ChaosClient::layered(channel, &policy, &witness, true),
    };
    let mut calls = JoinSet::new();
    for (number, call) in (0..).zip(run.calls) {
        let (mut client, log) = (client.clone(), log.clone());
        calls.spawn(async move {
            tokio::time::sleep(call.starts).await;
            let start = log.elapsed();
            let made = client.make(&call, number).await;
            (number, call, start, made)
        });
    }
    let mut made = Vec::new();
    while let Some(call) = calls.join_next().await {
        made.push(call.unwrap());
        if made.len() % (CALLS / (RESTARTS + 1)) == 0 && made.len() < CALLS {
            let address = server.address();
            server.kill();
            server = SocketServer::scripted(address, script.clone(), log.clone());
        }
    }
    let (arrivals, policy) = (log.arrivals(), Arc::new(policy));
    let mut outcome = SeedOutcome::of(format!("{policy:?}\n{:?}", run.server));
    for (number, call, start, (end, handed_over, report)) in made {
        let call = FinishedCall {
            policy: Arc::clone(&policy),
            end,
            handed_over,
            report,
            witnessed: witness.of(number),
            seen: SeenRequest::of(&arrivals, number, start),
            is_calm: false,
            is_retried_by_code: true,
            grain: Grain::Scheduler,
            call,
        };
        outcome.tell(number, &call);
    }
    outcome
}

#[test]
fn over_sockets() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    Seeds::of("over_sockets", 8).one_in(100, 8).run(|seed| runtime.block_on(outcome(seed)));
}
