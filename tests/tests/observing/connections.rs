//! Connections of our own, as metrics and spans show them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use crate::observing::lines::Lines;
use gax_connection::{Address, AddressList, Connection, ConnectionBuilder, Ejection};
use gax_driver::observe::{FacadeMetrics, MetricNames, TracingObserver};
use gax_driver::report::DelayType;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{
    Break, RawFrame, RawServer, Reply, Script, Setup, Stack, VirtualServer, delays, ms, report_of,
};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;

/// A connection to a server at a made-up address, while it is up.
fn connection(server: &VirtualServer, is_up: &Arc<AtomicBool>) -> ConnectionBuilder {
    let (pipes, is_up) = (server.connector(), Arc::clone(is_up));
    let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 7)))]);
    Connection::to("http://server").resolver(list).connector(move |_| {
        let io = if is_up.load(Ordering::Relaxed) {
            pipes.connect().map(hyper_util::rt::TokioIo::into_inner)
        } else {
            Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))
        };
        async { io }
    })
}

fn once() -> Setup {
    Setup::new(delays(100, 1.0).max_attempts(1).build().unwrap())
}

#[tokio::test(start_paused = true)]
async fn their_events_are_counted() {
    let recorder = DebuggingRecorder::new();
    let snapshot = recorder.snapshotter();
    let metrics = {
        let _guard = metrics::set_default_local_recorder(&recorder);
        Arc::new(FacadeMetrics::new(MetricNames::new()))
    };
    let server = VirtualServer::start(Script::at_once([
        Reply::Serve,
        Reply::Break(Break::Close),
        Reply::unavailable(),
    ]));
    let is_up = Arc::new(AtomicBool::new(true));
    let ejection = Ejection::default().after(1).max_percent(100);
    let connection = connection(&server, &is_up).eject(ejection).observer(metrics).connect_lazy().unwrap();
    let call = || async { drop(Stack::Layer.list(connection.clone(), &once()).await) };
    let _guard = metrics::set_default_local_recorder(&recorder);
    call().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    call().await;
    is_up.store(false, Ordering::Relaxed);
    call().await;
    is_up.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(100)).await;
    call().await;
    let mut counts: Vec<_> = snapshot
        .snapshot()
        .into_vec()
        .into_iter()
        .filter_map(|(key, _, _, value)| {
            let DebugValue::Counter(count) = value else { return None };
            let labels: Vec<_> =
                key.key().labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
            Some(format!("{}{{{}}} {count}", key.key().name(), labels.join(",")))
        })
        .collect();
    counts.sort();
    assert_eq!(
        counts,
        [
            "gax.client.endpoint.ejections{grpc.target=http://server} 2",
            "grpc.subchannel.connection_attempts_failed{grpc.target=http://server} 1",
            "grpc.subchannel.connection_attempts_succeeded{grpc.target=http://server} 2",
            "grpc.subchannel.disconnections{grpc.target=http://server,grpc.disconnect_error=socket error} 1",
        ]
    );
}

/// Of an attempt that failed, and of one that has its reply.
#[tokio::test(start_paused = true)]
async fn the_span_of_an_attempt_has_its_peer() {
    for stack in Stack::ALL {
        let lines = Lines::default();
        let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
        let server = VirtualServer::start(Script::of([(ms(10), Reply::unavailable())]));
        let connection = connection(&server, &Arc::new(AtomicBool::new(true))).connect_lazy().unwrap();
        let setup = Setup::new(delays(100, 1.0).max_attempts(2).build().unwrap());
        stack.list(connection, &setup.observed(Arc::new(TracingObserver::new()))).await.unwrap();
        let lines = lines.take();
        let peers: Vec<_> = lines.iter().filter(|line| line.contains("network.peer")).collect();
        let peer = ["attempt: network.peer.address=\"10.0.0.1\"", "attempt: network.peer.port=7i64"];
        assert_eq!(peers, [peer, peer].concat(), "{stack:?}: {lines:?}");
    }
}

/// The wait of an attempt is an event of its span, and the report has it too.
#[tokio::test(start_paused = true)]
async fn the_span_of_an_attempt_says_what_it_waited_for() {
    for stack in Stack::ALL {
        let lines = Lines::default();
        let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
        let play = vec![RawFrame::Wait(ms(100)), RawFrame::Good];
        let server = RawServer::with_stream_limit(1, [play, vec![RawFrame::Good]]);
        let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 7)))]);
        let pipes = server.connector();
        let connection = Connection::to("http://server").max_connections(1).resolver(list);
        let connection = connection.connector(move |_| {
            let pipes = pipes.clone();
            async move {
                tokio::time::sleep(ms(40)).await;
                pipes.connect().map(hyper_util::rt::TokioIo::into_inner)
            }
        });
        let setup = once().reporting().observed(Arc::new(TracingObserver::new()));
        let mut first = stack.caller(connection.connect_lazy().unwrap(), &setup);
        let mut second = first.clone();
        let later = async {
            tokio::time::sleep(ms(50)).await;
            second.list(ListAssetsRequest::default()).await
        };
        let (first, second) = tokio::join!(first.list(ListAssetsRequest::default()), later);
        for (reply, kind, millis) in [(first, DelayType::Connecting, 40), (second, DelayType::Stream, 90)] {
            let report = report_of(&reply);
            let delay = report.attempt_delay(1).unwrap();
            assert_eq!((delay.delay_type(), delay.time()), (kind, ms(millis)), "{stack:?}");
        }
        let lines = lines.take();
        let waits: Vec<_> = lines.iter().filter(|line| line.contains("waited")).collect();
        let expected = [
            "DEBUG in attempt: message=waited 40 ms for a connection grpc.delay_type=\"connecting\"",
            "DEBUG in attempt: message=waited 90 ms for a free stream grpc.delay_type=\"gax.stream\"",
        ];
        assert_eq!(waits, expected, "{stack:?}: {lines:?}");
    }
}
