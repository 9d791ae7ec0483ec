//! Connections of several endpoints, and addresses that lead elsewhere.

use super::clients::{Calls, End, resumed, subscribed};
use super::server::{Ledger, Server};
use bytes::Bytes;
use gax_connection::{Address, AddressList, Connection, Picker};
use gax_testing::{ConnectionFault as Fault, FaultProxy, Script, VirtualServer, When};
use std::future::pending;
use std::net::SocketAddr;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tonic::transport::Server as TonicServer;
use tonic_gax::OperationOptions;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{BodyPart, Reply, SocketServer, Talker, VirtualClock, ms};

const WATCH: &str = "grpc.health.v1.Health/Watch";
const UP: BodyPart = BodyPart::Data(Bytes::from_static(&[0, 0, 0, 0, 2, 8, 1]));
const DOWN: BodyPart = BodyPart::Data(Bytes::from_static(&[0, 0, 0, 0, 2, 8, 2]));

fn address(number: u16) -> Address {
    Address::from(SocketAddr::from(([10, 0, 0, 1], number)))
}

/// A server that says after so many milliseconds that it is down.
fn server(time: u64) -> VirtualServer {
    let watch = vec![Reply::play([UP, BodyPart::Wait(ms(time)), DOWN, BodyPart::Hang]); 1000];
    VirtualServer::serving(Server::new(&Ledger::default()), Script::new().on(WATCH, watch))
}

/// Each number of each stream comes once, whatever happens to one endpoint.
#[tokio::test(start_paused = true)]
async fn streams_over_one_endpoint_of_two() {
    let (closed, silent) = (Fault::Close(When::Start), Fault::HalfOpen(When::Start));
    let goodbye = Fault::GoAway { when: When::Start, reason: 0, data: Bytes::new() };
    for (name, now, then) in [
        ("drained", goodbye, Fault::Refuse),
        ("gone", closed.clone(), Fault::Refuse),
        ("half-open", silent.clone(), silent),
        ("accepted and closed", closed.clone(), closed.clone()),
        ("resets", Fault::Reset(When::Start), Fault::Reset(When::Time(ms(150)))),
    ] {
        for picker in [Picker::First, Picker::RoundRobin] {
            let health = if name == "drained" { 300 } else { 10_000_000 };
            let (bad, good) = (server(health), server(10_000_000));
            let (proxy, pipes) = FaultProxy::in_memory(bad.connector());
            // It reads frames, for a goodbye.
            proxy.always([Fault::StreamLimit(When::Requests(u32::MAX), 1)]);
            let ends = [pipes, good.connector()];
            let connection = Connection::to("http://server.test").picker(picker).health_check("");
            let connection = connection.resolver(AddressList::new([address(0), address(1)]));
            let connection = connection.connect_timeout(ms(1000)).connector(move |to| {
                let connected = ends[usize::from(to != address(0))].connect();
                async { connected.map(hyper_util::rt::TokioIo::into_inner) }
            });
            let connection = connection.connect_lazy().unwrap();
            let (resumed, subscribed): (Calls, Calls) = (
                resumed(OperationOptions::new(), connection.clone()),
                subscribed(OperationOptions::new(), connection),
            );
            let mut running = JoinSet::new();
            for call in 0..6 {
                running.spawn(if call % 2 == 0 { resumed(call) } else { subscribed(call) });
                sleep(ms(100)).await;
                if call == 4 {
                    proxy.always([then.clone()]);
                    proxy.now(&now);
                    sleep(ms(50)).await;
                    // It is gone, whether or not its streams have ended.
                    if name == "drained" {
                        proxy.now(&closed);
                    }
                }
            }
            for end in running.join_all().await {
                assert_eq!(end, End::Done, "{name}, {picker:?}");
            }
        }
    }
}

/// As the kernel has it; a load balancer that lists itself is met there.
#[tokio::test]
async fn an_address_of_nobody_is_that_of_this_machine() {
    let router = TonicServer::builder().add_service(TalkServer::new(Talker::default()));
    let server = SocketServer::grpc(SocketServer::ANY_PORT, router);
    let port = server.address().port();
    for host in ["0.0.0.0", "[::ffff:0.0.0.0]"] {
        let nobody: SocketAddr = format!("{host}:{port}").parse().unwrap();
        let list = AddressList::new([Address::from(nobody)]);
        let connection = Connection::to("http://server.test").resolver(list).connect().await.unwrap();
        let line = Line { text: "a".to_owned(), count: 1 };
        assert_eq!(TalkClient::new(connection).ask(line.clone()).await.unwrap().into_inner(), line, "{host}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_of_ipv6_that_leads_nowhere_costs_a_moment() {
    let server = server(10_000_000);
    let pipes = server.connector();
    let nowhere: SocketAddr = "[2001:db8::1]:1".parse().unwrap();
    let connection = Connection::to("http://server.test").connector(move |to: Address| {
        let pipes = (to != Address::from(nowhere)).then(|| pipes.clone());
        async move {
            match pipes {
                Some(pipes) => pipes.connect().map(hyper_util::rt::TokioIo::into_inner),
                None => pending().await,
            }
        }
    });
    let connection = connection.resolver(AddressList::new([Address::from(nowhere), address(1)]));
    let start = VirtualClock::start();
    let client = TalkClient::new(connection.connect_lazy().unwrap());
    let line = Line { text: "0".to_owned(), count: 0 };
    assert_eq!(client.ask(line.clone()).await.unwrap().into_inner(), line);
    assert!(start.elapsed() <= ms(300), "{:?}", start.elapsed());
}
