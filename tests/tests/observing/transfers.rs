//! An attempt's transfers, as observers see them: messages, bytes, and how long a request waited for its
//! connection.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::observe::{AttemptTransfer, OperationInfo, OperationObserver, WireMessage};
use gax_http::HttpRetryLayer;
use gax_retry::{Attempt, Code, Hedging, RetrySettings, StartedAttempt};
use gax_table::RetryTable;
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use prost::Message as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::transport::{Channel, Endpoint, Server};
use tonic_gax::{OperationOptions, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as StockAssets;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as StockTalk;
use tonic_gax_tests::generated::test::talk::v1::talk_server::TalkServer;
use tonic_gax_tests::{
    Assets, FaultServer, HttpAct, HttpScript, Log, RawFrame, RawServer, Reply, Script, Scripted, Setup,
    Stack, Talker, VirtualServer, lasting, ms, pipes,
};

/// Attempts of a second, 200 ms apart.
fn settings() -> RetrySettings {
    lasting(10_000).to_builder().max_attempts(3).build().unwrap()
}

/// Writes down what goes over the wire.
#[derive(Debug, Clone, Default)]
struct Wire(Arc<Mutex<Vec<String>>>);

impl Wire {
    fn setup(&self) -> Setup {
        Setup::new(settings()).observed(Arc::new(self.clone()))
    }

    fn line(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// The transfers of each attempt.
    fn transfers(&self) -> Vec<String> {
        self.take().into_iter().filter(|line| line.starts_with("attempt")).collect()
    }

    fn message(&self, what: &str, attempt: StartedAttempt, message: WireMessage) {
        let compressed = if message.is_compressed() { " compressed" } else { "" };
        let (sequence, size) = (message.sequence(), message.size());
        self.line(format!("{what} {sequence} of {}: {size} B{compressed}", attempt.number()));
    }
}

impl OperationObserver for Wire {
    fn watches_transfers(&self, _: &OperationInfo) -> bool {
        true
    }

    fn request_read(&self, _: &OperationInfo, attempt: StartedAttempt, waited: Duration) {
        self.line(format!("read {} after {} ms", attempt.number(), waited.as_millis()));
    }

    fn message_sent(&self, _: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {
        self.message("sent", attempt, message);
    }

    fn message_received(&self, _: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {
        self.message("received", attempt, message);
    }

    fn attempt_transferred(&self, _: &OperationInfo, attempt: &Attempt, transfer: AttemptTransfer) {
        let bytes = |bytes: Option<u64>| bytes.map_or("?".to_owned(), |bytes| bytes.to_string());
        let (sent, received) = (bytes(transfer.sent()), bytes(transfer.received()));
        let (number, code) = (attempt.number(), attempt.code());
        let waited = transfer.waited().as_millis();
        self.line(format!(
            "attempt {number} {code}: {sent} B sent, {received} B received, waited {waited} ms"
        ));
    }
}

/// 113 bytes: 2 before 109 of the parent, and 2 for the size of a page.
fn request() -> ListAssetsRequest {
    ListAssetsRequest { parent: "projects/".repeat(12) + "1", page_size: 3, ..ListAssetsRequest::default() }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_tells_its_messages_and_bytes() {
    assert_eq!(request().encoded_len(), 113);
    for stack in Stack::ALL {
        let wire = Wire::default();
        let server = VirtualServer::start(Script::at_once([Reply::unavailable()]));
        let reply = stack.caller(server.channel(), &wire.setup()).list(request()).await.unwrap();
        let received = reply.into_inner().encoded_len();
        assert!(received > 0);
        assert_eq!(
            wire.take(),
            [
                "read 1 after 0 ms".to_owned(),
                "sent 0 of 1: 113 B".to_owned(),
                "attempt 1 UNAVAILABLE: 113 B sent, 0 B received, waited 0 ms".to_owned(),
                "read 2 after 0 ms".to_owned(),
                "sent 0 of 2: 113 B".to_owned(),
                format!("received 0 of 2: {received} B"),
                format!("attempt 2 OK: 113 B sent, {received} B received, waited 0 ms"),
            ],
            "{stack:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn compressed_messages_count_as_they_are_sent() {
    let log = Log::default();
    let assets = AssetServiceServer::new(Assets::default()).accept_compressed(Gzip).send_compressed(Gzip);
    let assets = Scripted::new(assets, Script::at_once([Reply::unavailable()]), log.clone());
    let (channel, incoming) = pipes();
    tokio::spawn(Server::builder().add_service(assets).serve_with_incoming(incoming));
    let wire = Wire::default();
    let layer = wire.setup().layer();
    let mut client = StockAssets::new(layer.layer(channel)).send_compressed(Gzip).accept_compressed(Gzip);
    let request = ListAssetsRequest { parent: "projects/".repeat(200), page_size: 3, ..request() };
    let reply = client.list_assets(request.clone()).await.unwrap();
    let recorded = wire.take();
    let sent = log.arrivals()[0].body.len() - 5;
    assert!(sent < 200, "{sent}");
    assert_eq!(recorded[1], format!("sent 0 of 1: {sent} B compressed"));
    assert_eq!(recorded[2], format!("attempt 1 UNAVAILABLE: {sent} B sent, 0 B received, waited 0 ms"));
    let received: usize = recorded[5].split_whitespace().nth(4).unwrap().parse().unwrap();
    assert!(received < reply.into_inner().encoded_len() / 2, "{received}");
    assert_eq!(recorded[5], format!("received 0 of 2: {received} B compressed"));
    assert_eq!(recorded[6], format!("attempt 2 OK: {sent} B sent, {received} B received, waited 0 ms"));
}

/// Clients of Talk over a layer that knows the kinds of its methods, or doesn't.
fn talk(wire: &Wire, channel: Channel) -> [StockTalk<tonic_gax::RetryService<Channel>>; 2] {
    let layer = || wire.setup().replaying_streams(true).layer();
    [
        StockTalk::new(layer().facts(&tonic_gax_tests::generated::facts()).layer(channel.clone())),
        StockTalk::new(layer().layer(channel)),
    ]
}

#[tokio::test(start_paused = true)]
async fn streams_are_counted_to_their_end() {
    let log = Log::default();
    let talker = Scripted::new(TalkServer::new(Talker::default()), Script::at_once([Reply::Serve]), log);
    let (channel, incoming) = pipes();
    tokio::spawn(Server::builder().add_service(talker).serve_with_incoming(incoming));
    let wire = Wire::default();
    let line = |count| Line { text: "abc".to_owned(), count };
    for mut client in talk(&wire, channel) {
        // The responses are read one after the other, long after the headers.
        let mut lines = client.listen(line(3)).await.unwrap().into_inner();
        let mut received = 0;
        while let Some(line) = lines.message().await.unwrap() {
            received += line.encoded_len();
        }
        drop(lines);
        assert_eq!(wire.transfers(), [format!("attempt 1 OK: 7 B sent, {received} B received, waited 0 ms")]);

        let lines = tokio_stream::iter([line(1), line(2)]);
        let mut lines = client.chat(lines).await.unwrap().into_inner();
        while lines.message().await.unwrap().is_some() {}
        drop(lines);
        let recorded = wire.take();
        for what in ["sent 0 of 1: 7 B", "sent 1 of 1: 7 B", "received 0 of 1: 7 B", "received 1 of 1: 7 B"] {
            assert!(recorded.iter().any(|line| line == what), "{what} is not in {recorded:#?}");
        }
        assert_eq!(recorded.last().unwrap(), "attempt 1 OK: 14 B sent, 14 B received, waited 0 ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_requests_counts_anew_where_it_is_replayed() {
    let wire = Wire::default();
    let server = RawServer::start([vec![RawFrame::ReadAll, RawFrame::Status(14, None)]]);
    let [mut client, _] = talk(&wire, server.channel());
    let line = |count| Line { text: "abc".to_owned(), count };
    client.tell(tokio_stream::iter([line(1), line(2)])).await.unwrap();
    assert_eq!(
        wire.transfers(),
        [
            "attempt 1 UNAVAILABLE: 14 B sent, 0 B received, waited 0 ms",
            "attempt 2 OK: 14 B sent, 0 B received, waited 0 ms",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_hedge_that_loses_has_sent_its_request() {
    for stack in [Stack::Generated, Stack::LayerWithDescriptors] {
        let wire = Wire::default();
        let setup = wire.setup().hedged(Hedging::new(2).delay(ms(100)));
        let server = VirtualServer::start(Script::of([(ms(0), Reply::Hang), (ms(20), Reply::Serve)]));
        stack.caller(server.channel(), &setup).list(request()).await.unwrap();
        let recorded = wire.transfers();
        assert_eq!(recorded[0], "attempt 1 CANCELLED: 113 B sent, 0 B received, waited 0 ms", "{stack:?}");
        assert!(recorded[1].starts_with("attempt 2 OK: 113 B sent, "), "{stack:?}: {recorded:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_a_free_stream() {
    for stack in Stack::ALL {
        let wire = Wire::default();
        let play = [RawFrame::Wait(ms(100)), RawFrame::Good];
        let server = RawServer::with_stream_limit(1, [vec![RawFrame::Good], play.to_vec()]);
        let mut caller = stack.caller(server.channel(), &wire.setup());
        // The server's limit is known once it has replied.
        caller.list(request()).await.unwrap();
        let mut running = caller.clone();
        let running = tokio::spawn(async move { running.list(ListAssetsRequest::default()).await });
        tokio::time::sleep(ms(1)).await;
        wire.take();
        caller.list(request()).await.unwrap();
        running.await.unwrap().unwrap();
        assert_eq!(
            wire.transfers(),
            [
                "attempt 1 OK: 0 B sent, 0 B received, waited 0 ms",
                "attempt 1 OK: 113 B sent, 0 B received, waited 99 ms",
            ],
            "{stack:?}"
        );
    }
}

/// A channel whose connection is there after that time.
fn slow_channel(after: Duration) -> Channel {
    let endpoint = Endpoint::from_static("http://server");
    endpoint.connect_with_connector_lazy(tower::service_fn(move |_| async move {
        tokio::time::sleep(after).await;
        let (client, server) = tokio::io::duplex(4096);
        let incoming = tokio_stream::iter([Ok::<_, std::io::Error>(server)]);
        let assets = AssetServiceServer::new(Assets::default());
        tokio::spawn(Server::builder().add_service(assets).serve_with_incoming(incoming));
        Ok::<_, std::io::Error>(TokioIo::new(client))
    }))
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_its_connection() {
    for stack in Stack::ALL {
        let wire = Wire::default();
        let mut caller = stack.caller(slow_channel(ms(300)), &wire.setup());
        caller.list(request()).await.unwrap();
        caller.list(request()).await.unwrap();
        let recorded = wire.transfers();
        assert!(recorded[0].ends_with("waited 300 ms"), "{stack:?}: {recorded:?}");
        assert!(recorded[1].ends_with("waited 0 ms"), "{stack:?}: {recorded:?}");

        // An attempt whose connection does not come in time has waited all the while, and sent nothing.
        let setup = wire.setup().retrying([Code::Unavailable]);
        stack.caller(slow_channel(ms(5000)), &setup).list(request()).await.unwrap_err();
        assert_eq!(
            wire.take(),
            ["attempt 1 DEADLINE_EXCEEDED: 0 B sent, 0 B received, waited 1000 ms"],
            "{stack:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn over_http_bytes_are_not_known() {
    let wire = Wire::default();
    let (_server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::status(200)]));
    let layer = HttpRetryLayer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().observer(Arc::new(wire.clone())));
    let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    layer.layer(FaultServer::full_client(connector)).send(request).await.unwrap();
    assert_eq!(wire.take(), ["attempt 1 OK: ? B sent, ? B received, waited 0 ms"]);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_watch_is_not_notified_of_it() {
    #[derive(Debug)]
    struct Blind(Wire);
    impl OperationObserver for Blind {
        fn message_sent(&self, operation: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {
            self.0.message_sent(operation, attempt, message);
        }
        fn attempt_transferred(
            &self,
            operation: &OperationInfo,
            attempt: &Attempt,
            transfer: AttemptTransfer,
        ) {
            self.0.attempt_transferred(operation, attempt, transfer);
        }
    }
    let wire = Wire::default();
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let table =
        RetryTable::builder().service("google.cloud.asset.v1.AssetService", settings(), Code::Unavailable);
    let layer = RetryLayer::new(table.build().unwrap())
        .options(OperationOptions::new().observer(Arc::new(Blind(wire.clone()))));
    StockAssets::new(layer.layer(server.channel())).list_assets(request()).await.unwrap();
    assert_eq!(wire.take(), Vec::<String>::new());
}
