//! gRPC and HTTP over real sockets and a real clock, with a server that is killed and started again.
//!
//! How long things take is up to the machine: a rule that is about time allows for twenty seconds of it.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use crate::chaos::grpc::GrpcRun;
use crate::chaos::http;
use hyper_util::client::legacy::connect::HttpConnector;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tonic::transport::Endpoint;
use tonic_gax_tests::chaos::{
    CallKind, ChaosClient, ChaosHttp, FinishedCall, FinishedRun, Grain, MadeCall, RandomCall, RandomCaller,
    SeedOutcome, Seeds, SeenRequest, Witness,
};
use tonic_gax_tests::{Log, SocketServer, Stack};

/// How many calls a seed makes, and how often its server is killed meanwhile.
const CALLS: usize = 60;
const RESTARTS: usize = 3;

/// The draw, with as many calls as make it worth it, none of which hangs longer than a second.
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

/// Makes the calls, and kills the server now and then. Calls come back in the order of their numbers, with what the server
/// saw.
async fn make<C: RandomCaller>(run: &GrpcRun, client: impl FnOnce(SocketAddr) -> C) -> (Vec<MadeCall>, Log) {
    let (script, log) = (run.server.script(), Log::default());
    let mut server = SocketServer::scripted(SocketServer::ANY_PORT, script.clone(), log.clone());
    let clock = log.clone();
    let mut calls = run.start(client(server.address()), move || clock.elapsed());
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
    (made, log)
}

/// The outcome. Whatever the last connections leave behind is the system's.
fn outcome_of(run: &GrpcRun, calls: Vec<FinishedCall>, witness: Witness, what_ran: &str) -> SeedOutcome {
    run.outcome(&FinishedRun { calls, witness, time: None, open: 0 }, what_ran)
}

async fn outcome(seed: u64) -> SeedOutcome {
    let (run, witness) = (draw(seed), Witness::default());
    let (made, log) = make(&run, |address| {
        let channel = Endpoint::try_from(format!("http://{address}")).unwrap().connect_lazy();
        let stack = if seed.is_multiple_of(2) { Stack::Generated } else { Stack::LayerWithDescriptors };
        ChaosClient::new(stack, channel, &run.policy, &witness)
    })
    .await;
    let (arrivals, policy) = (log.arrivals(), Arc::new(run.policy.clone()));
    let requests = |number, start| SeenRequest::of(&arrivals, number, start);
    let finished = made.into_iter().map(|call| call.finished(&policy, &witness, Grain::Scheduler, requests));
    outcome_of(&run, finished.collect(), witness, "over sockets")
}

async fn http_outcome(seed: u64) -> SeedOutcome {
    let (mut run, witness) = (draw(seed), Witness::default());
    run.calls.iter_mut().for_each(|call| call.kind = CallKind::Unary);
    let (made, log) = make(&run, |address| {
        let connector = HttpConnector::new();
        ChaosHttp::over_http2(connector, &address.to_string(), &run.policy, &witness)
    })
    .await;
    let arrivals = log.arrivals();
    let requests = |number, start| SeenRequest::of(&arrivals, number, start);
    let finished = made.into_iter().map(|call| FinishedCall {
        // Its server is killed.
        is_calm: false,
        ..http::finished(&run, call, &witness, Grain::Scheduler, requests)
    });
    outcome_of(&run, finished.collect(), witness, "HTTP/2 over sockets")
}

fn over_sockets_of<F: Future<Output = SeedOutcome>>(
    test: &'static str,
    seeds: u64,
    outcome: impl Fn(u64) -> F,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    Seeds::of(test, seeds).one_in(100, seeds).run(|seed| runtime.block_on(outcome(seed)));
}

#[test]
fn over_sockets() {
    over_sockets_of("over_sockets", 8, outcome);
}

#[test]
fn http_over_sockets() {
    over_sockets_of("http_over_sockets", 4, http_outcome);
}
