//! Token endpoints that misbehave: how often they are asked, and what calls make of it.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "what fails here fails a test")]

use super::shapes::table;
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use gax_testing::VirtualServer;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tonic::{Code, Request, Status};
use tonic_gax::{CallOptions, RequestExt as _};
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1::{Row, TableRequest, TablesClient};
use tonic_gax_tests::{BodyPart, Reply, Script, VirtualClock, ms};

/// The endpoint's reply to a fetch.
#[derive(Clone, Copy)]
enum Endpoint {
    /// A token of that lifetime.
    Grants(Duration),
    Fails,
    Hangs,
}

/// Credentials from an endpoint that replies so, and to every later fetch as to the last; and the milliseconds of its fetches.
fn from_endpoint(replies: &[Endpoint]) -> (Credentials, Arc<Mutex<Vec<u128>>>) {
    let (replies, start) = (replies.to_vec(), VirtualClock::start());
    let fetches = Arc::<Mutex<Vec<u128>>>::default();
    let seen = Arc::clone(&fetches);
    let credentials = Credentials::new(move || {
        let mut seen = seen.lock().unwrap();
        let reply = replies[seen.len().min(replies.len() - 1)];
        seen.push(start.elapsed().as_millis());
        let token = format!("token-{}", seen.len());
        async move {
            match reply {
                Endpoint::Grants(lifetime) => Ok(AuthHeaders::bearer(&token).unwrap().expires_in(lifetime)),
                Endpoint::Fails => Err(Status::unavailable("the endpoint is down").into()),
                Endpoint::Hangs => std::future::pending().await,
            }
        }
    });
    (credentials, fetches)
}

const HOUR: Duration = Duration::from_secs(3600);

fn good() -> Reply {
    let row = Row { text: "row".to_owned() };
    Reply::play([BodyPart::message(&row), BodyPart::trailers(&[("grpc-status", "0")])])
}

/// A request that is sent once, within five seconds.
fn once() -> Request<TableRequest> {
    Request::new(table("t")).with_call_options(CallOptions::new().max_attempts(1).timeout(ms(5_000)))
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_fails_is_asked_with_back_off_and_calls_fail_at_once() {
    let server = VirtualServer::start(Script::always(good()));
    let (credentials, fetches) = from_endpoint(&[Endpoint::Fails]);
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    let start = VirtualClock::start();
    for call in 0..6_000 {
        let status = client.read(once()).await.unwrap_err();
        assert_eq!((status.code(), status.message()), (Code::Unavailable, "the endpoint is down"));
        assert_eq!(start.elapsed(), ms(10 * call));
        sleep(ms(10)).await;
    }
    let expected = [0, 100, 300, 700, 1_500, 3_100, 6_300, 12_700, 22_700, 32_700, 42_700, 52_700];
    assert_eq!(*fetches.lock().unwrap(), expected);
    assert!(server.arrivals().is_empty());
}

/// Whether the endpoint fails or hangs: calls go on with the token that they have.
#[tokio::test(start_paused = true)]
async fn a_refresh_that_fails_or_hangs_delays_no_call_while_the_token_is_valid() {
    for (trouble, expected) in [
        (Endpoint::Fails, vec![0, 90_000, 90_100, 90_300, 90_700, 91_500, 93_100, 96_300]),
        (Endpoint::Hangs, vec![0, 90_000]),
    ] {
        let server = VirtualServer::start(Script::always(good()));
        let (credentials, fetches) = from_endpoint(&[Endpoint::Grants(Duration::from_secs(100)), trouble]);
        let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
        let start = VirtualClock::start();
        for call in 0..1_000 {
            client.read(once()).await.unwrap();
            assert_eq!(start.elapsed(), ms(100 * call));
            sleep(ms(100)).await;
        }
        assert_eq!(*fetches.lock().unwrap(), expected);
        assert_eq!(server.arrivals().len(), 1_000);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_hangs_is_given_up_after_a_minute() {
    let server = VirtualServer::start(Script::always(good()));
    let (credentials, fetches) = from_endpoint(&[Endpoint::Hangs, Endpoint::Grants(HOUR)]);
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    // The calls wait for it as long as they may.
    for _ in 0..11 {
        assert_eq!(client.read(once()).await.unwrap_err().code(), Code::DeadlineExceeded);
    }
    sleep(ms(1_000)).await;
    let status = client.read(once()).await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Unavailable, "fetching the credentials took longer than 60s")
    );
    sleep(ms(100)).await;
    client.read(once()).await.unwrap();
    assert_eq!(*fetches.lock().unwrap(), [0, 60_100]);
    assert_eq!(server.arrivals().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tokens_without_a_lifetime_are_used_for_a_second() {
    let server = VirtualServer::start(Script::always(good()));
    let (credentials, fetches) = from_endpoint(&[Endpoint::Grants(Duration::ZERO)]);
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    for _ in 0..100 {
        client.read(once()).await.unwrap();
        sleep(ms(50)).await;
    }
    // Others are fetched in the last tenth of it.
    assert_eq!(*fetches.lock().unwrap(), [0, 900, 1_800, 2_700, 3_600, 4_500]);
}

/// One refresh in ten seconds, and one a call, however many calls there are and however soon the tokens expire.
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_all_tokens_gets_each_call_twice_at_most() {
    for lifetime in [Duration::ZERO, HOUR] {
        for (is_together, requests) in [(false, 21), (true, 40)] {
            let server = VirtualServer::start(Script::always(Reply::code(Code::Unauthenticated)));
            let (credentials, fetches) = from_endpoint(&[Endpoint::Grants(lifetime)]);
            let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
            let mut calls = JoinSet::new();
            for _ in 0..20 {
                let client = client.clone();
                calls.spawn(async move { client.read(table("t")).await.unwrap_err().code() });
                if !is_together {
                    calls.join_next().await;
                }
            }
            assert!(calls.join_all().await.iter().all(|code| *code == Code::Unauthenticated));
            assert_eq!(fetches.lock().unwrap().len(), 2);
            assert_eq!(server.arrivals().len(), requests);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_refused_for_one_method_is_refreshed_once_in_ten_seconds() {
    let refusals = std::iter::repeat_n(Reply::code(Code::Unauthenticated), 1_000);
    let server = VirtualServer::start(Script::always(good()).on("Read", refusals));
    let (credentials, fetches) = from_endpoint(&[Endpoint::Grants(HOUR)]);
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    for _ in 0..300 {
        assert_eq!(client.read(table("t")).await.unwrap_err().code(), Code::Unauthenticated);
        client.watch(table("t")).await.unwrap();
        sleep(ms(100)).await;
    }
    assert_eq!(*fetches.lock().unwrap(), [0, 0, 10_000, 20_000]);
    assert_eq!(server.arrivals().len(), 603);
}

/// A refusal of a call's own `authorization` says nothing of the credentials that calls share.
#[tokio::test(start_paused = true)]
async fn a_call_with_its_own_authorization_drops_no_shared_token() {
    let server =
        VirtualServer::start(Script::always(good()).on("Read", [Reply::code(Code::Unauthenticated)]));
    let (credentials, fetches) = from_endpoint(&[Endpoint::Grants(HOUR)]);
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    let mut request = Request::new(table("t"));
    request.metadata_mut().insert("authorization", "Bearer mine".parse().unwrap());
    assert_eq!(client.read(request).await.unwrap_err().code(), Code::Unauthenticated);
    client.read(table("t")).await.unwrap();
    assert_eq!(fetches.lock().unwrap().len(), 1);
    let arrivals = server.arrivals();
    let tokens: Vec<_> = arrivals.iter().map(|arrival| arrival.header("authorization").unwrap()).collect();
    assert_eq!(tokens, ["Bearer mine", "Bearer token-1"]);
}
