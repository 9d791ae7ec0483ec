//! Percentiles of latencies, over the tables that replace each other.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{HttpRetryLayer, IdempotencyRule, OperationClass};
use gax_retry::http::IdempotencyTable;
use gax_retry::{Code, Hedging, RetrySettings};
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use http_body_util::Full;
use std::iter::repeat_n;
use tonic_gax::RetryLayer;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, Reply, Script, VirtualServer, ms};

/// A table by which that method, or all of that service, is hedged after a percentile of its latencies.
fn table(name: &str, percentile: f64) -> RetryTable {
    let settings = RetrySettings::logical_timeout(ms(10_000));
    let table = RetryTable::builder();
    let table = match name.split_once('/') {
        Some(_) => table.method(name, settings, Code::Unavailable),
        None => table.service(name, settings, Code::Unavailable),
    };
    table.hedged(Hedging::new(2).percentile(percentile)).idempotent(true).build().unwrap()
}

#[derive(Debug, Clone, Copy)]
enum User {
    Generated,
    Layer,
    LayerWithDescriptors,
}

/// How long after the first attempts of two calls their hedges were sent, if they were: by an equal table, and by one with
/// another percentile.
async fn hedged_after(name: &str, user: User) -> [Option<u64>; 2] {
    let handle = SettingsHandle::new(table(name, 0.5));
    let steps = repeat_n((ms(300), Reply::Serve), 20).chain(repeat_n((ms(900), Reply::Serve), 9));
    let server = VirtualServer::start(Script::of(steps));
    let settings = TalkSettings::default().live(&handle);
    let generated = TalkClient::with_settings(server.channel(), settings);
    let layer = RetryLayer::live(&handle);
    let layer = match user {
        User::LayerWithDescriptors => layer.facts(&tonic_gax_tests::generated::facts()),
        _ => layer,
    };
    let layered = TonicClient::new(layer.layer(server.channel()));
    let call = || async {
        let before = server.seen().len();
        match user {
            User::Generated => generated.guess(Line::default()).await.unwrap(),
            _ => layered.clone().guess(Line::default()).await.unwrap(),
        };
        let seen = server.seen();
        let hedge = seen.get(before + 1).map(|(at, _)| *at);
        hedge.map(|at| at - seen[before].0)
    };
    for _ in 0..20 {
        assert_eq!(call().await, None);
    }
    handle.replace(table(name, 0.5)).unwrap();
    let equal = call().await;
    handle.replace(table(name, 0.9)).unwrap();
    [equal, call().await]
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_equal_to_the_one_before_keeps_the_latencies_of_its_methods() {
    for user in [User::Generated, User::Layer, User::LayerWithDescriptors] {
        for name in ["test.talk.v1.Talk/Guess", "test.talk.v1.Talk"] {
            assert_eq!(hedged_after(name, user).await, [Some(301), None], "{user:?} {name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_equal_to_the_one_before_keeps_the_latencies_of_http_rules() {
    let handle = SettingsHandle::new(table("photos", 0.5));
    let rule = IdempotencyRule::new("things", "GET", "/things/{id}", OperationClass::Always).unwrap();
    let layer = HttpRetryLayer::live(&handle, "photos");
    let layer = layer.idempotency(IdempotencyTable::new().with_rule(rule));
    let slow = HttpAct::Slow(vec![(ms(300), "piece")]);
    let acts = repeat_n(slow, 20).chain([HttpAct::Stall, HttpAct::status(200)]);
    let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
    let client = layer.layer(FaultServer::full_client(connector));
    let get =
        || client.send(http::Request::get("http://server/things/1").body(Full::<Bytes>::default()).unwrap());
    for _ in 0..20 {
        get().await.unwrap();
    }
    handle.replace(table("photos", 0.5)).unwrap();
    get().await.unwrap();
    let times = server.times();
    let [.., first, hedge] = times[..] else { unreachable!("there were 22 requests") };
    assert_eq!((times.len(), hedge - first), (22, 301));
}
