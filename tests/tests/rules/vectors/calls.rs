//! Calls as a whole: switched off, cancelled, balanced, lost before they left, and the number that each attempt carries.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use hyper_util::rt::{TokioExecutor, TokioIo};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::codegen::StdError;
use tonic::service::interceptor::InterceptedService;
use tonic::{Request, Status};
use tonic_gax::{CallOptions, OperationOptions, RequestExt as _};
use tonic_gax_tests::a6::{DOWN, U, config, layer_of as layer};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{Break, RawFrame, RawServer, Reply, Script, VirtualServer, ms};
use tower_service::Service as _;

const PREVIOUS: &str = "grpc-previous-rpc-attempts";

/// 12: with retries off, transparent ones remain.
#[tokio::test(start_paused = true)]
async fn retries_can_be_off() {
    for (frame, code, requests) in [(U, Some(DOWN), 1), (RawFrame::Reset(7), None, 2)] {
        let server = RawServer::start([vec![frame]]);
        let layer = layer(&config(&[], "")).options(OperationOptions::new().retries_enabled(false));
        let mut client = AssetServiceClient::new(layer.layer(server.channel()));
        let result = client.list_assets(ListAssetsRequest::default()).await;
        assert_eq!((result.err().map(|status| status.code()), server.requests().len()), (code, requests));
    }
}

/// d02: each attempt has what is left of the call's deadline.
#[tokio::test(start_paused = true)]
async fn each_attempt_carries_the_time_that_is_left() {
    let server = VirtualServer::start(Script::at_once([Reply::unavailable(), Reply::unavailable()]));
    let mut client = AssetServiceClient::new(layer(&config(&[], "")).layer(server.channel()));
    let options = CallOptions::new().timeout(ms(1000));
    client.list_assets(Request::new(ListAssetsRequest::default()).with_call_options(options)).await.unwrap();
    let arrivals = server.log().arrivals();
    assert_eq!(arrivals.len(), 3);
    for arrival in arrivals {
        // In the unit that has eight digits for it.
        let timeout = arrival.grpc_timeout().unwrap().to_owned();
        let (number, unit) = timeout.split_at(timeout.len() - 1);
        let number: u64 = number.parse().unwrap();
        let left = match unit {
            "m" => Duration::from_millis(number),
            "u" => Duration::from_micros(number),
            _ => Duration::from_nanos(number),
        };
        let whole = left + arrival.at;
        assert!(whole <= ms(1000) && whole > ms(999), "{timeout} at {:?}", arrival.at);
    }
}

/// 14: a call that is cancelled during a wait is over at once.
#[tokio::test(start_paused = true)]
async fn to_cancel_a_wait_ends_the_call() {
    let server = RawServer::start(vec![vec![U]; 4]);
    let mut client = AssetServiceClient::new(layer(&config(&[], "")).layer(server.channel()));
    let call = client.list_assets(ListAssetsRequest::default());
    tokio::time::timeout(ms(50), call).await.unwrap_err();
    tokio::time::sleep(ms(5000)).await;
    assert_eq!(server.times(), [ms(0)]);
}

/// 15: what a balancer adds to one attempt is not in the next.
#[tokio::test(start_paused = true)]
async fn each_attempt_is_picked_anew() {
    let server = VirtualServer::start(Script::at_once([Reply::unavailable(), Reply::unavailable()]));
    let picks = Arc::new(AtomicU32::new(0));
    let pick = move |mut request: Request<()>| {
        let number = picks.fetch_add(1, Ordering::Relaxed) + 1;
        request.metadata_mut().append("x-pick", number.to_string().parse().unwrap());
        Ok::<_, Status>(request)
    };
    let channel = InterceptedService::new(server.channel(), pick);
    let mut client = AssetServiceClient::new(layer(&config(&[], "")).layer(channel));
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
    let picked: Vec<Vec<_>> = server
        .log()
        .arrivals()
        .iter()
        .map(|arrival| {
            arrival.headers.get_all("x-pick").iter().map(|value| value.to_str().unwrap().to_owned()).collect()
        })
        .collect();
    assert_eq!(picked, [["1"], ["2"], ["3"]]);
}

/// hyper's own error for a request that a connection did not take any more.
async fn lost() -> hyper::Error {
    let (near, far) = tokio::io::duplex(1024);
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(near)).await;
    let (mut sender, connection) = handshake.unwrap();
    drop((connection, far));
    sender.send_request(http::Request::new(tonic::body::Body::empty())).await.unwrap_err()
}

/// 32: a request that never left is sent again at once, without a policy; here three times at most between two attempts.
#[tokio::test(start_paused = true)]
async fn what_never_left_is_sent_again() {
    let without = r#"{"methodConfig": [{"name": [{}]}]}"#.to_owned();
    for (losses, config, code, requests) in
        [(3, without.clone(), None, 1), (4, without, Some(DOWN), 0), (4, config(&[], ""), None, 1)]
    {
        let server = RawServer::start([]);
        let mut errors = Vec::new();
        for _ in 0..losses {
            errors.push(lost().await);
        }
        let (errors, channel) = (Arc::new(Mutex::new(errors)), server.channel());
        let losing = tower::service_fn(move |request: http::Request<tonic::body::Body>| {
            let (lost, mut channel) = (errors.lock().unwrap().pop(), channel.clone());
            Box::pin(async move {
                if let Some(error) = lost {
                    return Err(StdError::from(error));
                }
                std::future::poll_fn(|cx| channel.poll_ready(cx)).await?;
                Ok(channel.call(request).await?)
            })
        });
        let mut client = AssetServiceClient::new(layer(&config).layer(losing));
        let result = client.list_assets(ListAssetsRequest::default()).await;
        assert_eq!((result.err().map(|status| status.code()), server.requests().len()), (code, requests));
    }
}

/// 35: attempts carry how many came before; transparent ones don't count, and a caller's own number is not sent.
#[tokio::test(start_paused = true)]
async fn attempts_tell_how_many_came_before() {
    let replies = [Reply::Break(Break::Reset(7)), Reply::unavailable(), Reply::unavailable()];
    let server = VirtualServer::start(Script::at_once(replies));
    let mut client = AssetServiceClient::new(layer(&config(&[], "")).layer(server.channel()));
    let mut request = Request::new(ListAssetsRequest::default());
    request.metadata_mut().insert(PREVIOUS, "7".parse().unwrap());
    client.list_assets(request).await.unwrap();
    let numbers: Vec<_> =
        server.log().arrivals().iter().map(|arrival| arrival.header(PREVIOUS).map(str::to_owned)).collect();
    assert_eq!(numbers, [None, None, Some("1".to_owned()), Some("2".to_owned())]);
}
