//! The limits of streams, and the calls that wait for one.

use super::network::{
    Network, Reply, Server, call, connected, error, milliseconds, now, pass, ready, reply, retry, soon,
};
use crate::Connection;
use http::Request;
use std::time::Duration;
use tokio::task::JoinHandle;
use tower_service::Service as _;

/// A server that allows one stream at a time.
async fn narrow(network: &mut Network) -> Server {
    let mut server = network.dialed().await;
    server.open(Some(1)).await;
    server
}

#[tokio::test(start_paused = true)]
async fn calls_go_in_order_and_more_connections_are_made_up_to_the_limit() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(2).connect_lazy().unwrap();
    let calls: Vec<_> = (0..4).map(|_| call(&connection)).collect();
    let (mut one, mut other) = (narrow(&mut network).await, narrow(&mut network).await);
    let (first, second) = (one.request().await, other.request().await);
    assert!(network.is_quiet(Duration::from_secs(10)).await);
    other.refuse(second, "0").await;
    let third = other.request().await;
    one.refuse(first, "0").await;
    let fourth = one.request().await;
    one.refuse(fourth, "0").await;
    other.refuse(third, "0").await;
    for call in calls {
        assert!(reply(call).await.is_ok());
    }
    assert_eq!(network.events(), ["1 ready", "1 ready"]);
}

/// A stream that is free goes to the first one that waits, and a later call waits behind it.
#[tokio::test(start_paused = true)]
async fn a_call_that_comes_later_goes_later() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let first = call(&connection);
    let mut server = narrow(&mut network).await;
    let stream = server.request().await;
    let waiting = call(&connection);
    let abandoned = call(&connection);
    let last = call(&connection);
    pass(milliseconds(1)).await;
    abandoned.abort();
    server.refuse(stream, "0").await;
    drop(reply(first).await.unwrap());
    for call in [waiting, last] {
        let stream = server.request().await;
        assert!(!call.is_finished());
        server.refuse(stream, "0").await;
        assert!(reply(call).await.is_ok());
    }
}

/// A response that is dropped gives its stream back, as one that has ended does while it is held.
#[tokio::test(start_paused = true)]
async fn a_stream_is_taken_until_its_response_has_ended() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let first = call(&connection);
    let mut server = narrow(&mut network).await;
    let stream = server.request().await;
    server.respond(stream, &[]).await;
    let response = reply(first).await.unwrap();
    let second = call(&connection);
    pass(milliseconds(1)).await;
    assert!(!second.is_finished());
    drop(response);
    assert_eq!(server.reset().await, stream);
    let stream = server.request().await;
    server.respond(stream, &[]).await;
    let mut body = reply(second).await.unwrap().into_body();
    let third = call(&connection);
    server.end(stream, "0").await;
    let trailers =
        soon(std::future::poll_fn(|cx| http_body::Body::poll_frame(std::pin::Pin::new(&mut body), cx)));
    assert!(trailers.await.unwrap().unwrap().is_trailers());
    server.serve().await;
    assert!(reply(third).await.is_ok());
    drop(body);
}

/// The connection that can't be made was one more only.
#[tokio::test(start_paused = true)]
async fn calls_wait_for_a_stream_while_no_further_connection_can_be_made() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let first = call(&connection);
    let mut server = narrow(&mut network).await;
    let stream = server.request().await;
    network.refuse(&[1]);
    let second = call(&connection);
    pass(Duration::from_secs(100)).await;
    assert!(network.events().iter().any(|event| event.starts_with("1 failed")));
    assert!(!second.is_finished());
    server.refuse(stream, "0").await;
    assert!(reply(first).await.is_ok());
    server.serve().await;
    assert!(reply(second).await.is_ok());
}

/// A server may raise its limit at any time.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_go_as_soon_as_the_limit_is_raised() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let calls = [call(&connection), call(&connection), call(&connection)];
    let mut server = narrow(&mut network).await;
    let first = server.request().await;
    pass(milliseconds(1)).await;
    server.murmur().await;
    pass(milliseconds(1)).await;
    server.limit(Some(3)).await;
    let streams = [first, server.request().await, server.request().await];
    for stream in streams {
        server.refuse(stream, "0").await;
    }
    for call in calls {
        assert!(reply(call).await.is_ok());
    }
}

/// Its connection is all that a caller of `connect` wants, so that it needs no stream.
#[tokio::test(start_paused = true)]
async fn a_connection_without_a_free_stream_is_ready() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let calling = call(&connection);
    let mut server = narrow(&mut network).await;
    server.request().await;
    assert!(soon(ready(&connection)).await.unwrap().is_ok());
    calling.abort();
}

fn call_with(connection: &Connection, bytes: u64) -> JoinHandle<Reply> {
    tokio::spawn(connection.clone().call(Request::new(Sized(bytes))))
}

/// A body that says how large it is.
struct Sized(u64);

impl http_body::Body for Sized {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        std::task::Poll::Pending
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn calls_whose_requests_are_too_large_together_fail_and_a_larger_one_waits_alone() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let large = call_with(&connection, 100 << 20);
    let _server = network.dialed().await;
    pass(milliseconds(1)).await;
    let text = error(call_with(&connection, 0)).await;
    assert!(text.contains("their requests exceed 64 MiB"), "{text}");
    large.abort();
    pass(milliseconds(1)).await;
    let small = call_with(&connection, 0);
    pass(milliseconds(1)).await;
    assert!(!small.is_finished());
}

/// The server is not asked for more than it allows, and it is not asked twice for what it allows already.
#[tokio::test(start_paused = true)]
async fn a_connection_with_a_free_stream_is_enough() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let mut server = connected(&mut network, &connection).await;
    let calls = [call(&connection), call(&connection)];
    for call in calls {
        server.serve().await;
        assert!(reply(call).await.is_ok());
    }
    assert!(network.is_quiet(Duration::from_secs(10)).await);
}

/// Those that waited for a connection don't come all at once, if an operation delays them anyway.
#[tokio::test(start_paused = true)]
async fn retries_that_wait_for_a_connection_are_spread_and_first_attempts_go_at_once() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let second = Duration::from_secs(1);
    let first = call(&connection);
    let retries: Vec<_> = (0..20).map(|_| retry(&connection, second, 100 * second)).collect();
    let mut server = network.server().await;
    let start = now();
    server.request().await;
    assert_eq!(now(), start);
    let mut times = Vec::new();
    for _ in &retries {
        server.request().await;
        times.push((now() - start).as_millis());
    }
    assert!(times[19] <= 1001 && times[19] > times[0] + 100, "{times:?}");
    drop((first, retries));
}

/// They have waited for their turn already.
#[tokio::test(start_paused = true)]
async fn retries_that_wait_for_a_stream_keep_their_turn() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let second = Duration::from_secs(1);
    let first = call(&connection);
    let mut server = narrow(&mut network).await;
    let mut stream = server.request().await;
    let retries: Vec<_> = (0..5).map(|_| retry(&connection, second, 100 * second)).collect();
    let start = now();
    pass(milliseconds(1)).await;
    for _ in &retries {
        server.refuse(stream, "0").await;
        stream = server.request().await;
    }
    assert!(now() - start <= milliseconds(1));
    drop((first, retries));
}
