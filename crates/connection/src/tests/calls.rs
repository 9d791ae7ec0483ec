//! Calls, and what their connections carry back.

use super::network::{Network, call, error, reply, soon};
use http_body::Body as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use tonic::body::Body;

/// The next frame of a body: the bytes of data, or the status of trailers. `None`: it has ended.
async fn frame(body: &mut Body) -> Option<String> {
    let frame = soon(poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx))).await?;
    Some(match frame {
        Err(error) => gax_wire::__private::text_of(&*Box::<dyn std::error::Error>::from(error)),
        Ok(frame) => match frame.into_data() {
            Ok(data) => format!("{} bytes", data.len()),
            Err(frame) => {
                format!("status {}", frame.trailers_ref().unwrap()["grpc-status"].to_str().unwrap())
            }
        },
    })
}

#[tokio::test(start_paused = true)]
async fn a_response_is_passed_on_to_its_end() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let calling = call(&connection);
    let mut server = network.server().await;
    let stream = server.request().await;
    server.respond(stream, &[("content-type", "application/grpc"), ("content-length", "7")]).await;
    let (head, mut body) = reply(calling).await.unwrap().into_parts();
    assert_eq!((head.status.as_u16(), body.size_hint().exact()), (200, Some(7)));
    assert!(!body.is_end_stream());
    server.message(stream, b"ab").await;
    assert_eq!(frame(&mut body).await.unwrap(), "7 bytes");
    server.end(stream, "0").await;
    assert_eq!(frame(&mut body).await.unwrap(), "status 0");
    assert_eq!(frame(&mut body).await, None);
    assert!(body.is_end_stream());
}

#[tokio::test(start_paused = true)]
async fn a_call_names_the_server_at_which_its_response_broke_off() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let calling = call(&connection);
    let mut server = network.server().await;
    let stream = server.request().await;
    server.respond(stream, &[]).await;
    let mut body = reply(calling).await.unwrap().into_body();
    server.crash();
    let text = frame(&mut body).await.unwrap();
    assert!(text.contains("the connection to 127.0.0.1:1 failed"), "{text}");
}

/// The server closes each connection before the request is sent over it.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_back_goes_to_eight_other_connections_at_most() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().wait_for_ready(true).connect_lazy().unwrap();
    let calling = call(&connection);
    for _ in 0..9 {
        network.close_next().await;
    }
    let text = error(calling).await;
    assert!(text.contains("the connection to 127.0.0.1:1 failed"), "{text}");
    let calling = call(&connection);
    network.close_next().await;
    let mut server = network.server().await;
    server.serve().await;
    assert!(reply(calling).await.is_ok(), "a request that was given back once");
}

#[tokio::test(start_paused = true)]
async fn a_connection_says_its_target_and_ends_with_its_last_clone_and_call() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    assert_eq!(connection.target(), "http://library");
    let calling = call(&connection);
    let mut server = network.server().await;
    let stream = server.request().await;
    drop(connection);
    server.respond(stream, &[]).await;
    drop(reply(calling).await.unwrap());
    server.closed().await;
    assert_eq!(network.events(), ["1 ready", "1 lost: removed"]);
    assert!(Arc::strong_count(&network.facts) == 1, "its tasks have ended");
}
