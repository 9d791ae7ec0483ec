//! Streams of requests whose first message says where the call is routed to.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::shapes::{layer, table};
use gax_client::google::GoogleHeaders;
use gax_testing::VirtualServer;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use tonic_gax::ReplayOptions;
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1::{
    Row, TableRequest, TablesClient, TablesSettings, tables_client,
};
use tonic_gax_tests::{BodyPart, Reply, Script, ms};

const PARAMS: &str = "x-goog-request-params";

fn echo() -> VirtualServer {
    let row = Row { text: "row".to_owned() };
    VirtualServer::start(Script::always(Reply::play([
        BodyPart::message(&row),
        BodyPart::trailers(&[("grpc-status", "0")]),
    ])))
}

/// A stream whose first message comes after so much time, and another one later.
fn slow(first: Duration) -> ReceiverStream<TableRequest> {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        tokio::time::sleep(first).await;
        sender.send(table("t")).await.unwrap();
        tokio::time::sleep(ms(5)).await;
        // Nobody may be there any more.
        drop(sender.send(table("u")).await);
    });
    ReceiverStream::new(receiver)
}

/// When the call arrived, and what it was routed by.
fn arrived(server: &VirtualServer) -> Vec<(u128, String)> {
    let arrivals = server.arrivals();
    let params = |value: Option<&str>| value.unwrap_or("-").to_owned();
    arrivals.iter().map(|arrival| (arrival.at.as_millis(), params(arrival.header(PARAMS)))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_is_sent_when_its_first_message_is_there() {
    for is_layered in [false, true] {
        let server = echo();
        let row = if is_layered {
            let channel = layer(&GoogleHeaders::new()).layer(server.channel());
            let mut client = tables_client::TablesClient::new(channel);
            client.append_rows(slow(ms(30))).await.unwrap().get_mut().message().await
        } else {
            let client = TablesClient::new(server.channel());
            client.append_rows(slow(ms(30))).await.unwrap().get_mut().message().await
        };
        assert_eq!(row.unwrap().unwrap().text, "row");
        assert_eq!(arrived(&server), [(30, "table_name=t".to_owned())]);
    }
}

/// The buffered messages of a stream are sent again, with the same headers.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_replayed_has_its_headers_in_every_attempt() {
    let replay = ReplayOptions::new().replay_streams(true);
    for is_layered in [false, true] {
        for wait in [ms(0), ms(30)] {
            let server = VirtualServer::start(Script::always(Reply::unavailable()));
            let status = if is_layered {
                let channel = layer(&GoogleHeaders::new()).replay(replay).layer(server.channel());
                tables_client::TablesClient::new(channel).collect(slow(wait)).await.unwrap_err()
            } else {
                let settings = TablesSettings::default().with_replay(replay);
                TablesClient::with_settings(server.channel(), settings).collect(slow(wait)).await.unwrap_err()
            };
            assert_eq!(status.code(), Code::Unavailable);
            let params: Vec<String> = arrived(&server).into_iter().map(|(_, params)| params).collect();
            assert_eq!(params, ["table_name=t"; 5], "layer: {is_layered}, {wait:?}");
        }
    }
}

/// The total timeout covers the wait for the first message.
#[tokio::test(start_paused = true)]
async fn a_stream_without_a_message_ends_with_the_call_s_time() {
    for is_layered in [false, true] {
        let server = echo();
        let (begun, never) = (server.log().elapsed(), || slow(Duration::from_secs(1000)));
        let status = if is_layered {
            let channel = layer(&GoogleHeaders::new()).layer(server.channel());
            tables_client::TablesClient::new(channel).append_rows(never()).await.map(drop).unwrap_err()
        } else {
            TablesClient::new(server.channel()).append_rows(never()).await.map(drop).unwrap_err()
        };
        assert_eq!(
            (status.code(), server.log().elapsed().saturating_sub(begun)),
            (Code::DeadlineExceeded, Duration::from_secs(60))
        );
        assert_eq!(arrived(&server), []);
    }
}
