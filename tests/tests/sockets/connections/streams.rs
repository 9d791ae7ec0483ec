//! Streams over connections of our own: servers that limit them, and those that resume, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::network::{Host, Network};
use gax_connection::{Connection, ConnectionBuilder, Ejection, Picker};
use gax_driver::report::DelayType;
use gax_streams::resumption::Resumption;
use std::time::Duration;
use tokio::task::JoinSet;
use tonic::Status;
use tonic_gax::RetrySettings;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{
    BodyPart, RawFrame, RawServer, Reply, Script, Setup, Stack, VirtualClock, VirtualServer, line, ms,
    report_of, settings,
};

/// A server whose replies take so long, with so many streams a connection.
fn server(streams: u32, time: Duration) -> VirtualServer {
    VirtualServer::with_stream_limit(streams, Script::at_once([]).then_always(time, Reply::Serve))
}

fn to(host: impl Into<Host>) -> (ConnectionBuilder, Network) {
    let network = Network::new().with(1, host);
    (network.connection(&[1]), network)
}

async fn call(connection: Connection) -> Result<(), Status> {
    AssetServiceClient::new(connection).list_assets(ListAssetsRequest::default()).await.map(drop)
}

/// That many calls at a time.
fn calls(connection: &Connection, number: usize) -> JoinSet<Result<(), Status>> {
    (0..number).map(|_| call(connection.clone())).collect()
}

async fn all_ok(calls: JoinSet<Result<(), Status>>) {
    for result in calls.join_all().await {
        result.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn calls_go_to_whichever_stream_is_free_first() {
    let server = server(10, ms(200));
    let (connection, network) = to(&server);
    let connection = connection.connect().await.unwrap();
    let start = VirtualClock::start();
    all_ok(calls(&connection, 200)).await;
    assert_eq!((start.elapsed(), network.dialed(1).len()), (ms(1000), 4));
}

/// Turns are taken however many calls an endpoint carries, and the other picker avoids the one that carries more.
#[tokio::test(start_paused = true)]
async fn the_picker_alone_decides_whether_calls_in_flight_count() {
    for (picker, expected) in [(Picker::RoundRobin, 10..=10), (Picker::LeastInFlight, 0..=1)] {
        let (slow, quick) = (server(100, Duration::from_secs(3600)), server(100, ms(0)));
        let network = Network::new().with(1, &slow).with(2, &quick);
        let connection = network.connection(&[1, 2]).picker(picker).connect().await.unwrap();
        tokio::time::sleep(ms(10)).await;
        let mut running = JoinSet::new();
        for _ in 0..20 {
            running.spawn(call(connection.clone()));
            tokio::time::sleep(ms(1)).await;
        }
        let slow = slow.arrivals().len();
        assert!(expected.contains(&slow), "{picker:?}: {slow} of 20 calls to {}", connection.target());
    }
}

#[tokio::test(start_paused = true)]
async fn streams_that_last_all_begin() {
    let server = VirtualServer::with_stream_limit(10, Script::always(Reply::stall()));
    let (connection, network) = to(&server);
    let connection = connection.connect().await.unwrap();
    let _calls = calls(&connection, 15);
    tokio::time::sleep(ms(10)).await;
    assert_eq!((server.arrivals().len(), network.dialed(1).len()), (15, 2));
}

/// Who leaves the queue leaves its place to the others, in the order in which they came.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_keep_their_order_and_may_leave() {
    let server = server(1, ms(100));
    let (connection, _network) = to(&server);
    let connection = connection.max_connections(1).connect().await.unwrap();
    let start = VirtualClock::start();
    let mut ends = JoinSet::new();
    for number in 0..6_u64 {
        let (connection, patience) = (connection.clone(), ms(if number % 2 == 1 { 50 } else { 10_000 }));
        ends.spawn(async move {
            let ended = tokio::time::timeout(patience, call(connection)).await;
            (number, ended.is_ok_and(|result| result.is_ok()), start.elapsed().as_millis())
        });
        tokio::task::yield_now().await;
    }
    let mut ends = ends.join_all().await;
    ends.sort_unstable();
    let left = |number| (number, false, 50);
    assert_eq!(ends, [(0, true, 100), left(1), (2, true, 200), left(3), (4, true, 300), left(5)]);
}

/// Whoever calls again immediately stands behind those that wait already.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_free_again_goes_to_those_that_wait() {
    let server = server(1, ms(100));
    let (connection, _network) = to(&server);
    let connection = connection.max_connections(1).connect().await.unwrap();
    let start = VirtualClock::start();
    let in_turn = async |calls| {
        for _ in 0..calls {
            call(connection.clone()).await.unwrap();
        }
        start.elapsed()
    };
    assert_eq!(tokio::join!(in_turn(2), in_turn(1)), (ms(300), ms(200)));
}

/// Only those that waited for a connection are spread over their retry delay.
#[tokio::test(start_paused = true)]
async fn a_retry_that_waited_for_a_stream_is_sent_at_once() {
    let script = Script::at_once([Reply::unavailable()]).then_always(ms(400), Reply::Serve);
    let server = VirtualServer::with_stream_limit(1, script);
    let (connection, _network) = to(&server);
    let connection = connection.max_connections(1).connect().await.unwrap();
    let start = VirtualClock::start();
    let setup = Setup::new(settings()).reporting();
    let retried = Stack::Layer.list(connection.clone(), &setup);
    let other = async {
        tokio::time::sleep(ms(100)).await;
        call(connection.clone()).await.unwrap();
    };
    let report = report_of(&tokio::join!(retried, other).0);
    assert_eq!((start.elapsed(), report.attempt_count()), (ms(900), 2), "{report}");
}

/// The report of an attempt says what it waited for and how long, also where its time was up before.
#[tokio::test(start_paused = true)]
async fn the_wait_for_a_stream_is_in_the_report() {
    let server = server(1, ms(400));
    let (connection, _network) = to(&server);
    let connection = connection.max_connections(1).connect().await.unwrap();
    let first = calls(&connection, 1);
    tokio::time::sleep(ms(100)).await;
    for (rpc_timeout, attempts) in [(100, 1), (1000, 1)] {
        let settings = RetrySettings::builder().initial_rpc_timeout(ms(rpc_timeout)).max_attempts(attempts);
        let setup = Setup::new(settings.build().unwrap()).reporting();
        let report = report_of(&Stack::Layer.list(connection.clone(), &setup).await);
        let delay = report.attempt_delay(1).unwrap();
        let waited = if rpc_timeout == 100 { 100 } else { 200 };
        assert_eq!((delay.delay_type(), delay.time()), (DelayType::Stream, ms(waited)), "{report}");
        assert!(report.to_string().contains(&format!("waited: 1 {waited} ms for a free stream")), "{report}");
    }
    all_ok(first).await;
}

/// A call that had no stream yet has not heard a server's silence.
#[tokio::test(start_paused = true)]
async fn waiting_counts_neither_as_silence_nor_for_ejection() {
    let server = server(1, Duration::from_secs(3600));
    let (connection, network) = to(&server);
    let connection = connection.eject(Ejection::default().after(1).max_percent(100)).max_connections(1);
    let connection = connection.connect().await.unwrap();
    let _first = calls(&connection, 1);
    tokio::time::sleep(ms(1)).await;
    for _ in 0..10 {
        let mut client = AssetServiceClient::new(connection.clone());
        let mut request = tonic::Request::new(ListAssetsRequest::default());
        request.set_timeout(ms(100));
        tokio::time::timeout(ms(100), client.list_assets(request)).await.unwrap_err();
    }
    tokio::time::sleep(ms(10)).await;
    assert_eq!((server.arrivals().len(), network.dialed(1).len()), (1, 1));
}

/// However a full connection ends, what never left the pool goes to the next one.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_survive_the_end_of_a_full_connection() {
    let ends: [&[RawFrame]; 3] = [
        &[RawFrame::Good, RawFrame::GoAway { reason: 0, taken: true }, RawFrame::Drop],
        &[RawFrame::Good, RawFrame::Drop],
        &[RawFrame::Headers, RawFrame::Drop],
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let server = RawServer::with_stream_limit(1, std::iter::repeat_n(end.to_vec(), 12));
        let (connection, _network) = to(&server);
        let connection = connection.connect().await.unwrap();
        let results = calls(&connection, 12).join_all().await;
        let failed = results.into_iter().filter(Result::is_err).count();
        assert_eq!(failed, if number == 2 { 12 } else { 0 }, "{end:?}");
        assert_eq!(server.requests().len(), 12, "none is sent twice: {end:?}");
    }
}

/// The connection that there is has free streams again soon.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_survive_another_connection_that_can_not_be_made() {
    let server = server(1, ms(100));
    let (connection, network) = to(&server);
    let connection = connection.connect().await.unwrap();
    network.remove(1);
    all_ok(calls(&connection, 3)).await;
    assert!(network.dialed(1).len() > 1);
}

/// The check has the first connection's only stream; calls have those of the others.
#[tokio::test(start_paused = true)]
async fn a_health_check_takes_a_stream_and_leaves_the_others() {
    const UP: BodyPart = BodyPart::Data(bytes::Bytes::from_static(&[0, 0, 0, 0, 2, 8, 1]));
    let watch = Reply::play([UP, BodyPart::Hang]);
    let script = Script::always(Reply::Serve).on("grpc.health.v1.Health/Watch", [watch]);
    let server = VirtualServer::with_stream_limit(1, script);
    let (connection, network) = to(&server);
    let connection = connection.health_check("").connect().await.unwrap();
    all_ok(calls(&connection, 20)).await;
    assert_eq!((server.arrivals().len(), network.dialed(1).len()), (21, 4));
}

/// Zero is a limit, too.
#[tokio::test(start_paused = true)]
async fn a_server_that_allows_no_stream_gets_none() {
    let server = server(0, ms(0));
    let (connection, network) = to(&server);
    let connection = connection.connect().await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), call(connection)).await.unwrap_err();
    assert_eq!((server.arrivals().len(), network.dialed(1).len()), (0, 4));
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_resumed_stream_names_the_endpoint_of_each_connection() {
    let breaks_off = Reply::messages_then_status(&[line(1)], &Status::unavailable("down"));
    let server = VirtualServer::start(Script::at_once([breaks_off, Reply::messages(&[line(2)])]));
    let connection = to(&server).0.connect().await.unwrap();
    let resumption = Resumption::by_position(
        |line: &Line| line.count,
        |first: &Line, count| Line { count, ..first.clone() },
    );
    let setup = Setup::new(settings()).talk_listening(|listen| {
        listen.set_resumption(resumption);
    });
    let client = TalkClient::with_settings(connection, setup);
    let mut lines = client.listen(line(0)).await.unwrap().into_inner();
    while lines.message().await.unwrap().is_some() {}
    let report = lines.report().unwrap();
    assert_eq!([1, 2].map(|attempt| report.peer(attempt)), [Some("10.0.0.1:1"); 2], "{report}");
}
