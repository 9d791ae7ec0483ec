//! Credentials: in every attempt, fetched once for all, and others where a server refuses them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::shapes::{layer, table};
use gax_client::CallSettings;
use gax_client::google::GoogleHeaders;
use gax_driver::Retryer;
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsLayer, CredentialsService};
use gax_driver::report::Delivery;
use gax_retry::Code::Unavailable;
use gax_retry::RetrySettings;
use gax_streams::resumption::{Processed, Resume, StreamResumption};
use gax_streams::subscription::{OnEnd, Opening, Subscriber, SubscriptionStrategy};
use gax_testing::VirtualServer;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tonic::{Code, Request, Status};
use tonic_gax::{OperationError, OperationOptions, StopReason};
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1::{
    Row, TableRequest, TablesClient, TablesSettings, tables_client,
};
use tonic_gax_tests::{BodyPart, Reply, Script, error_report, ms};
use tower_layer::Layer as _;

/// Credentials with the number of their fetch, each of which takes 50 ms, and how many there were.
fn numbered(lifetime: Duration) -> (Credentials, Arc<AtomicU64>) {
    let fetches = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&fetches);
    let credentials = Credentials::new(move || {
        let number = counter.fetch_add(1, Ordering::Relaxed) + 1;
        async move {
            sleep(ms(50)).await;
            let headers = AuthHeaders::bearer(&format!("token-{number}")).unwrap();
            let headers = headers.header("x-goog-user-project", "of-credentials").unwrap();
            Ok(headers.expires_in(lifetime))
        }
    });
    (credentials, fetches)
}

const HOUR: Duration = Duration::from_secs(3600);

fn good() -> Reply {
    let row = Row { text: "row".to_owned() };
    Reply::play([BodyPart::message(&row), BodyPart::trailers(&[("grpc-status", "0")])])
}

fn refusal() -> Reply {
    Reply::code(Code::Unauthenticated)
}

/// When each attempt arrived, and with which token.
fn arrived(server: &VirtualServer) -> Vec<(u64, String)> {
    let arrivals = server.arrivals();
    let token = |value: Option<&str>| value.unwrap_or("-").replace("Bearer ", "");
    let at = |at: Duration| u64::try_from(at.as_millis()).unwrap();
    arrivals.iter().map(|arrival| (at(arrival.at), token(arrival.header("authorization")))).collect()
}

fn seen(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
    rows.iter().map(|(at, token)| (*at, (*token).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_one_fetch_and_use_what_it_brings() {
    let server = VirtualServer::start(Script::always(good()));
    let (credentials, fetches) = numbered(HOUR);
    let client = TablesClient::new(CredentialsLayer::new(credentials).layer(server.channel()));
    // The call that has begun the fetch goes away.
    timeout(ms(20), client.read(table("t"))).await.unwrap_err();
    let (first, second) = tokio::join!(client.read(table("t")), client.watch(table("t")));
    assert_eq!(first.unwrap().into_inner().text, "row");
    second.unwrap();
    client.read(table("t")).await.unwrap();
    assert_eq!(arrived(&server), seen(&[(50, "token-1"), (50, "token-1"), (50, "token-1")]));
    assert_eq!(fetches.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_the_credentials_of_its_moment() {
    let late = ms(1_200);
    let script = [(late, Reply::unavailable()), (late, Reply::unavailable()), (late, good())];
    let server = VirtualServer::start(Script::of(script));
    // They expire within each attempt.
    let (credentials, _) = numbered(Duration::from_secs(1));
    let channel = CredentialsService::new(server.channel(), credentials);
    let settings = TablesSettings::default().with_options(OperationOptions::new().without_jitter());
    TablesClient::with_settings(channel, settings).read(table("t")).await.unwrap();
    let tokens: Vec<String> = arrived(&server).into_iter().map(|(_, token)| token).collect();
    assert_eq!(tokens, ["token-1", "token-2", "token-3"]);
}

#[tokio::test(start_paused = true)]
async fn others_are_fetched_before_they_expire_while_calls_go_on() {
    let server = VirtualServer::start(Script::always(good()));
    let (credentials, fetches) = numbered(Duration::from_secs(100));
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    for (wait, fetched) in [(0, 1), (89_000, 1), (1_500, 2), (100, 2), (200_000, 3)] {
        sleep(ms(wait)).await;
        client.read(table("t")).await.unwrap();
        tokio::task::yield_now().await;
        assert_eq!(fetches.load(Ordering::Relaxed), fetched, "{wait}");
    }
    let expected = [
        (50, "token-1"),
        (89_050, "token-1"),
        (90_550, "token-1"),
        (90_650, "token-2"),
        (290_700, "token-3"),
    ];
    assert_eq!(arrived(&server), seen(&expected));
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_fetched_anew_and_the_request_is_repeated_once() {
    for is_layered in [false, true] {
        let server =
            VirtualServer::start(Script::of([refusal(), good(), refusal(), refusal(), refusal(), good()]));
        let (credentials, fetches) = numbered(HOUR);
        let channel = CredentialsService::new(server.channel(), credentials);
        let generated = TablesClient::new(channel.clone());
        let mut tonic = tables_client::TablesClient::new(layer(&GoogleHeaders::new()).layer(channel));
        let mut call = async || {
            if is_layered { tonic.read(table("t")).await } else { generated.read(table("t")).await }
        };
        let report = call().await.unwrap();
        assert_eq!(report.get_ref().text, "row");
        // Another call is refused within ten seconds: the fresh ones stay, and it ends.
        let status = call().await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated);
        assert_eq!(error_report(&status).attempts().len(), 1);
        assert_eq!(OperationError::of(&status).unwrap().stop_reason(), Some(StopReason::NonRetryable));
        // Later it is repeated once more, and ends when it is refused again.
        sleep(Duration::from_secs(10)).await;
        let status = call().await.unwrap_err();
        let report = error_report(&status);
        assert_eq!((report.attempts().len(), report.transparent_retries()), (1, 1));
        sleep(Duration::from_secs(10)).await;
        call().await.unwrap();
        assert_eq!(fetches.load(Ordering::Relaxed), 3, "layer: {is_layered}");
        // The second attempt waits for its credentials alone.
        let expected = [
            (50, "token-1"),
            (100, "token-2"),
            (100, "token-2"),
            (10_100, "token-2"),
            (10_150, "token-3"),
            (20_150, "token-3"),
        ];
        assert_eq!(arrived(&server), seen(&expected), "layer: {is_layered}");
    }
}

/// All of them were sent with the credentials that one of them has found to be refused.
#[tokio::test(start_paused = true)]
async fn calls_that_are_refused_together_share_one_fetch() {
    let replies = [refusal(), refusal(), refusal(), good(), good(), good()];
    let server = VirtualServer::start(Script::of(replies));
    let (credentials, fetches) = numbered(HOUR);
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    let read = || client.read(table("t"));
    let (a, b, c) = tokio::join!(read(), read(), read());
    a.and(b).and(c).unwrap();
    assert_eq!(fetches.load(Ordering::Relaxed), 2);
}

/// Whoever makes the call: it is repeated by what retries around the credentials. What nothing retries there fails, and the next
/// call has others.
#[tokio::test(start_paused = true)]
async fn refused_credentials_are_dropped_whoever_makes_the_call() {
    for (caller, is_repeated) in [
        ("a subscription over a generated client", true),
        ("a subscription over the layer", true),
        ("a subscription over tonic's client", false),
        ("a closure over a generated client", true),
        ("a closure over tonic's client", false),
        ("tonic's client", false),
    ] {
        let server = VirtualServer::start(Script::of([refusal(), good(), good()]));
        let (credentials, fetches) = numbered(HOUR);
        let channel = CredentialsService::new(server.channel(), credentials);
        let generated = TablesClient::new(channel.clone());
        let layered = tables_client::TablesClient::new(layer(&GoogleHeaders::new()).layer(channel.clone()));
        let mut tonic = tables_client::TablesClient::new(channel);
        let settings = RetrySettings::builder().max_attempts(1).build().unwrap();
        let subscriber = Subscriber::new(&CallSettings::new(settings.clone(), [Unavailable]));
        let retryer = Retryer::new(&settings, [Unavailable]);
        let mut call = async || match caller {
            "a subscription over a generated client" => {
                let client = generated.clone();
                let connect = move |opening: Opening<TableRequest, ()>| {
                    let client = client.clone();
                    async move { client.watch(opening.into_request()).await }
                };
                subscriber.subscribe(table("t"), OneRow, connect).update().await.map(drop)
            }
            "a subscription over the layer" => {
                let client = layered.clone();
                let connect = move |opening: Opening<TableRequest, ()>| {
                    let mut client = client.clone();
                    async move { client.watch(opening.into_request()).await }
                };
                subscriber.subscribe(table("t"), OneRow, connect).update().await.map(drop)
            }
            "a subscription over tonic's client" => {
                let client = tonic.clone();
                let connect = move |opening: Opening<TableRequest, ()>| {
                    let mut client = client.clone();
                    async move { client.watch(opening.into_request()).await }
                };
                subscriber.subscribe(table("t"), OneRow, connect).update().await.map(drop)
            }
            "a closure over a generated client" => retryer
                .run(|_| generated.read(table("t")))
                .await
                .map(drop)
                .map_err(|error| error.into_last().unwrap()),
            "a closure over tonic's client" => {
                let read = |_| {
                    let mut tonic = tonic.clone();
                    async move { tonic.read(table("t")).await }
                };
                retryer.run(read).await.map(drop).map_err(|error| error.into_last().unwrap())
            }
            _ => tonic.read(table("t")).await.map(drop),
        };
        let first = call().await.map_err(|status| status.code());
        assert_eq!(first, if is_repeated { Ok(()) } else { Err(Code::Unauthenticated) }, "{caller}");
        call().await.unwrap();
        let tokens: Vec<String> = arrived(&server).into_iter().map(|(_, token)| token).collect();
        let expected = ["token-1", "token-2", "token-2"];
        assert_eq!(tokens, expected[..if is_repeated { 3 } else { 2 }], "{caller}");
        assert_eq!(fetches.load(Ordering::Relaxed), 2, "{caller}");
    }
}

/// Takes one message.
struct OneRow;

impl StreamResumption for OneRow {
    type Request = TableRequest;
    type Response = Row;

    fn process(&mut self, _: &mut Row) -> Processed {
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<TableRequest> {
        Resume::Again(table("t"))
    }
}

impl SubscriptionStrategy for OneRow {
    type Message = ();

    fn ended(&mut self) -> OnEnd {
        OnEnd::End
    }
}

/// The code of the failure decides what follows, and the request was not sent.
#[tokio::test(start_paused = true)]
async fn a_source_that_fails_is_asked_again_as_its_code_says() {
    let server = VirtualServer::start(Script::always(good()));
    let results = Arc::new(Mutex::new(vec![
        Status::unauthenticated("revoked"),
        Status::unavailable("token server"),
        Status::unavailable("token server"),
    ]));
    let source = Arc::clone(&results);
    let credentials = Credentials::new(move || {
        let failure = source.lock().unwrap().pop();
        async move { failure.map_or_else(|| Ok(AuthHeaders::bearer("t").unwrap()), |status| Err(status.into())) }
    });
    let settings = TablesSettings::default().with_options(OperationOptions::new().without_jitter());
    let channel = CredentialsService::new(server.channel(), credentials);
    let client = TablesClient::with_settings(channel, settings);
    let status = client.read(table("t")).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Unauthenticated, "revoked"));
    // At 0, 100, 230 (within the pause after the second failure) and 399 ms.
    let report = error_report(&status);
    assert_eq!(report.attempts().len(), 4);
    assert_eq!(OperationError::of(&status).unwrap().delivery(), Delivery::NotSent);
    assert!(server.arrivals().is_empty());
    sleep(ms(400)).await;
    client.read(table("t")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_source_that_panics_fails_the_calls_that_wait_and_is_asked_again() {
    let server = VirtualServer::start(Script::always(good()));
    let calls = AtomicU64::new(0);
    let credentials = Credentials::new(move || {
        let is_first = calls.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            tokio::task::yield_now().await;
            assert!(!is_first, "a source of credentials panics on purpose");
            Ok(AuthHeaders::bearer("t").unwrap())
        }
    });
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    let status = client.read(table("t")).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    assert!(status.message().contains("panicked"), "{status:?}");
    sleep(ms(100)).await;
    client.read(table("t")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_the_call_sets_goes_over_the_credentials() {
    let server = VirtualServer::start(Script::always(good()));
    let (credentials, _) = numbered(HOUR);
    let client = TablesClient::new(CredentialsService::new(server.channel(), credentials));
    let mut request = Request::new(table("t"));
    request.metadata_mut().insert("x-goog-user-project", "of-call".parse().unwrap());
    client.read(request).await.unwrap();
    client.read(table("t")).await.unwrap();
    let arrivals = server.arrivals();
    let projects: Vec<Vec<&str>> = arrivals
        .iter()
        .map(|arrival| {
            arrival
                .headers
                .get_all("x-goog-user-project")
                .iter()
                .map(|value| value.to_str().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(projects, [["of-call"], ["of-credentials"]]);
}

#[tokio::test(start_paused = true)]
async fn credentials_of_another_universe_are_not_sent() {
    let server = VirtualServer::start(Script::always(good()));
    let source = || async { Ok(AuthHeaders::bearer("t").unwrap().universe_domain("u.example")) };
    let of = |domain: &str| {
        let credentials = Credentials::new(source).universe_domain(domain);
        TablesClient::new(CredentialsService::new(server.channel(), credentials))
    };
    of("u.example").read(table("t")).await.unwrap();
    let status = of("googleapis.com").read(table("t")).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert_eq!(
        status.message(),
        "the credentials are for the universe \"u.example\", but the client is for \"googleapis.com\": use credentials \
         for that universe"
    );
    assert_eq!(server.arrivals().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_prints_a_token() {
    let server = VirtualServer::start(Script::always(refusal()));
    let (credentials, _) = numbered(HOUR);
    let headers = AuthHeaders::bearer("token-0").unwrap();
    let service = CredentialsService::new(server.channel(), credentials.clone());
    let client = TablesClient::new(service.clone());
    let status = client.read(table("t")).await.unwrap_err();
    let report = error_report(&status);
    let texts =
        format!("{headers:?} {credentials:?} {service:?} {client:?} {status:?} {status} {report:?} {report}");
    assert!(!texts.contains("token-"), "{texts}");
}
