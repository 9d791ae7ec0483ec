//! The number that each attempt carries, and the attempt that has no time at all.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{AttemptKind, Code, Compatibility, RetrySettings, StartedAttempt, StopReason};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::service::interceptor::InterceptedService;
use tonic::{Request, Status};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::{Reply, Script, Setup, Stack, VirtualServer, delays, error_report, ms};
use tower::limit::ConcurrencyLimit;

const PREVIOUS: &str = "grpc-previous-rpc-attempts";

fn settings() -> RetrySettings {
    delays(100, 1.0).max_attempts(4).total_timeout(ms(9000)).build().unwrap()
}

fn counts(server: &VirtualServer) -> Vec<Option<String>> {
    server.log().arrivals().iter().map(|arrival| arrival.header(PREVIOUS).map(str::to_owned)).collect()
}

fn counted(most: usize) -> Vec<Option<String>> {
    [None].into_iter().chain((1..most).map(|number| Some(number.to_string()))).collect()
}

#[tokio::test(start_paused = true)]
async fn attempts_after_the_first_tell_how_many_came_before() {
    for stack in Stack::ALL {
        for compatibility in [Compatibility::Documented, Compatibility::Grpc, Compatibility::GaxJava] {
            let server = VirtualServer::start(Script::always(Reply::unavailable()));
            let setup = Setup::new(settings()).compatible(compatibility);
            let mut caller = stack.caller(server.channel(), &setup);
            caller.list(ListAssetsRequest::default()).await.unwrap_err();
            let expected = if compatibility == Compatibility::GaxJava { vec![None; 4] } else { counted(4) };
            assert_eq!(counts(&server), expected, "{stack:?} {compatibility:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_header_is_switched() {
    for (compatibility, is_sent) in [(Compatibility::Documented, false), (Compatibility::GaxJava, true)] {
        let mut setup = Setup::new(settings()).compatible(compatibility);
        setup.replay = setup.replay.previous_attempts_header(is_sent);
        let expected = if is_sent { counted(4) } else { vec![None; 4] };
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        TonicClient::new(setup.layer().layer(server.channel()))
            .list_assets(ListAssetsRequest::default())
            .await
            .unwrap_err();
        assert_eq!(counts(&server), expected);

        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let client = AssetServiceClient::with_settings(server.channel(), setup.client());
        client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(counts(&server), expected);
    }
}

/// A value that a caller sets under the header's name is not sent, unless nobody else sends one.
#[tokio::test(start_paused = true)]
async fn a_caller_s_own_count_is_overwritten() {
    for stack in Stack::ALL {
        for compatibility in [Compatibility::Documented, Compatibility::GaxJava] {
            let server = VirtualServer::start(Script::always(Reply::unavailable()));
            let setup = Setup::new(settings()).compatible(compatibility);
            let mut request = Request::new(ListAssetsRequest::default());
            request.metadata_mut().append(PREVIOUS, "7".parse().unwrap());
            request.metadata_mut().append(PREVIOUS, "8".parse().unwrap());
            stack.caller(server.channel(), &setup).list(request).await.unwrap_err();
            let arrivals = server.log().arrivals();
            let values: Vec<Vec<&str>> = arrivals
                .iter()
                .map(|arrival| {
                    arrival.headers.get_all(PREVIOUS).iter().map(|v| v.to_str().unwrap()).collect()
                })
                .collect();
            let expected: [&[&str]; 4] = match compatibility {
                Compatibility::GaxJava => [&["7", "8"]; 4],
                _ => [&[], &["1"], &["2"], &["3"]],
            };
            assert_eq!(values, expected, "{stack:?} {compatibility:?}");
        }
    }
}

type Seen = Arc<Mutex<Vec<Option<(u32, AttemptKind, Duration)>>>>;

fn watching(
    seen: &Seen,
) -> impl Fn(Request<()>) -> Result<Request<()>, Status> + Clone + Send + Sync + 'static {
    let seen = Arc::clone(seen);
    move |request| {
        let started = request.extensions().get::<StartedAttempt>();
        let facts = started.map(|started| (started.number(), started.kind(), started.delay()));
        seen.lock().unwrap().push(facts);
        Ok(request)
    }
}

#[tokio::test(start_paused = true)]
async fn an_interceptor_inside_sees_which_attempt_it_is() {
    for stack in Stack::ALL {
        let seen = Seen::default();
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let channel = InterceptedService::new(server.channel(), watching(&seen));
        let setup = Setup::new(settings());
        stack.caller(channel, &setup).list(ListAssetsRequest::default()).await.unwrap_err();
        let retry = |number| Some((number, AttemptKind::Retry, ms(100)));
        assert_eq!(*seen.lock().unwrap(), [None, retry(2), retry(3), retry(4)], "{stack:?}");
    }
}

/// The second call waits until the service has done with the first.
#[tokio::test(start_paused = true)]
async fn a_first_attempt_that_waits_for_its_service_is_marked_no_more_than_others() {
    for stack in Stack::ALL {
        let seen = Seen::default();
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let single = ConcurrencyLimit::new(InterceptedService::new(server.channel(), watching(&seen)), 1);
        let mut callers =
            [single.clone(), single].map(|service| stack.caller(service, &Setup::new(settings())));
        let [first, second] = callers.each_mut().map(|caller| caller.list(ListAssetsRequest::default()));
        let (first, second) = tokio::join!(first, second);
        assert!(first.is_ok() && second.is_ok(), "{stack:?}");
        assert_eq!(*seen.lock().unwrap(), [None, None], "{stack:?}");
    }
}

#[test]
fn names_that_descriptors_do_not_have_are_findings() {
    let table = |method: &str| {
        gax_table::RetryTable::builder()
            .method(&format!("/test.talk.v1.Talk/{method}"), settings(), Code::Unavailable)
            .build()
            .unwrap()
    };
    let facts = tonic_gax_tests::generated::facts();
    // Nobody knows without descriptors.
    assert!(table("Lisen").deny_unknown_methods([""; 0]).is_ok());
    assert!(table("Listen").deny_unknown_methods(facts.paths()).is_ok());
    let error = table("Lisen").deny_unknown_methods(facts.paths()).unwrap_err();
    assert_eq!(error.findings()[0].rule(), "unknown-method");
    assert_eq!(
        error.to_string(),
        "the table names methods or services that are not known\n\
         warning[unknown-method]: the service test.talk.v1.Talk has no method \"Lisen\"; did you mean \"Listen\"?"
    );
}

/// A stream that is sent once has the caller's own headers, but for the count.
#[tokio::test(start_paused = true)]
async fn a_stream_of_requests_is_the_first_attempt() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let mut client = TalkClient::new(Setup::new(settings()).layer().layer(server.channel()));
    let mut request = Request::new(tokio_stream::iter([Line::default(), Line::default()]));
    request.metadata_mut().insert(PREVIOUS, "7".parse().unwrap());
    let status = client.tell(request).await.unwrap_err();
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NotReplayable));
    assert_eq!(counts(&server), [None]);
}
