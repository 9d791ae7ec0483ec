//! Runtimes that end.

use super::network::{Network, call, connected, error, reply};
use crate::Connection;
use std::future::Future;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// A call of whose connection the server is the next one, in a runtime that ends with it.
fn serve_in_a_runtime(network: &mut Network, connection: &Connection) {
    runtime().block_on(async {
        let calling = call(connection);
        let mut server = network.server().await;
        server.serve().await;
        assert!(reply(calling).await.is_ok());
    });
}

#[test]
fn a_connection_is_used_in_one_runtime_after_the_other() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    for _ in 0..3 {
        serve_in_a_runtime(&mut network, &connection);
    }
    assert_eq!(network.resolved(), 3);
    assert_eq!(network.events(), ["1 ready", "1 lost: removed"].repeat(3));
}

/// Its endpoints are forgotten as well, if they had no connection.
#[test]
fn a_runtime_may_end_before_there_is_a_connection() {
    let mut network = Network::new(&[1]);
    network.refuse(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let text = runtime().block_on(async { error(call(&connection)).await });
    assert!(text.contains("refused"), "{text}");
    network.refuse(&[]);
    serve_in_a_runtime(&mut network, &connection);
}

#[test]
fn a_call_that_waits_fails_with_the_runtime_that_connects_for_it() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let (one, other) = (runtime(), runtime());
    let (mut first, mut waiting) = (None, None);
    one.block_on(async {
        first = Some(call(&connection));
        network.dialed().await;
    });
    other.block_on(async {
        waiting = Some(call(&connection));
        tokio::task::yield_now().await;
    });
    drop(one);
    let text = other.block_on(error(waiting.unwrap()));
    assert!(text.contains("the runtime that the connection was used in has shut down"), "{text}");
    other.block_on(async { drop(connected(&mut network, &connection).await) });
}

#[test]
fn without_a_runtime_a_call_fails() {
    let network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let mut calling = Box::pin(tower_service::Service::call(
        &mut connection.clone(),
        http::Request::new(tonic::body::Body::empty()),
    ));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = calling.as_mut().poll(&mut cx) else { panic!("it waits") };
    assert!(gax_wire::__private::text_of(&error).contains("there is no tokio runtime"));
}
