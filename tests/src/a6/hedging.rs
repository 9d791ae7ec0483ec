//! Hedging in gRFC A6 as rows: what the config says, what the server does frame by frame, and what must be seen on the wire: when
//! each attempt comes, and when it is reset. The names are those of the cases that were run against grpc-go, grpc-java and
//! grpc-js; h10 rests on the text alone.

use super::client::A6Client;
use crate::generated::google::cloud::asset::v1::ListAssetsRequest;
use crate::{RawFrame, RawServer, VirtualClock, ms};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tonic::Code;
use tonic_gax::ReplayOptions;

const BASE: &str = r#""maxAttempts": 4, "hedgingDelay": "0.1s", "nonFatalStatusCodes": ["UNAVAILABLE"]"#;
const CANCEL: u32 = 8;
/// UNAVAILABLE, and INTERNAL, which is fatal.
const U: RawFrame = RawFrame::Status(14, None);
const I: RawFrame = RawFrame::Status(13, None);
const GOOD: RawFrame = RawFrame::Good;

fn client<C: A6Client>(server: &RawServer, policy: &str, throttling: &str) -> C {
    let config =
        format!(r#"{{"methodConfig": [{{"name": [{{}}], "hedgingPolicy": {{{policy}}}}}]{throttling}}}"#);
    C::connect(server, &config, ReplayOptions::new())
}

/// A frame so many milliseconds after the request.
fn after(time: u64, frame: RawFrame) -> Vec<RawFrame> {
    vec![RawFrame::Wait(ms(time)), frame]
}

/// Nothing at all.
fn hangs() -> Vec<RawFrame> {
    Vec::new()
}

/// A row: its name, the policy, what the server does with each request, when the requests come and when they are reset, in
/// milliseconds, and how and when the call ends.
struct Row {
    name: &'static str,
    policy: &'static str,
    plays: Vec<Vec<RawFrame>>,
    deadline: Option<u64>,
    seen: Vec<(u64, Option<u64>)>,
    end: (Code, u64),
}

fn row(name: &'static str, plays: Vec<Vec<RawFrame>>, seen: &[(u64, Option<u64>)], end: (Code, u64)) -> Row {
    Row { name, policy: BASE, plays, deadline: None, seen: seen.to_vec(), end }
}

impl Row {
    fn policy(self, policy: &'static str) -> Self {
        Self { policy, ..self }
    }

    fn within(self, deadline: u64) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    async fn run<C: A6Client>(self) {
        let Self { name, policy, plays, deadline, seen, end } = self;
        let server = RawServer::start(plays);
        let clock = VirtualClock::start();
        let call = client::<C>(&server, policy, "");
        let code = call.list(ListAssetsRequest::default(), deadline.map(ms)).await;
        let ended = (code, millis(clock.elapsed()));
        assert_eq!(ended, end, "{name}");
        sleep(ms(1000)).await;
        assert_eq!(requests(&server), seen, "{name}");
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap()
}

/// When each request came, and when it was reset, which has to be by CANCEL.
fn requests(server: &RawServer) -> Vec<(u64, Option<u64>)> {
    let requests = server.seen().into_iter().map(|request| {
        let reset = request.reset.map(|(reason, at)| {
            assert_eq!(reason, CANCEL);
            millis(at)
        });
        (millis(request.at), reset)
    });
    requests.collect()
}

/// 36: attempts go out, a delay apart, until one has the reply; the others are reset. On the wire a hedge comes a millisecond
/// after the moment that it was due, as a timer rounds up: a reply that is there at that moment wins.
pub async fn the_first_good_reply_wins<C: A6Client>() {
    for row in [
        row(
            "h01",
            vec![hangs(), hangs(), hangs(), after(50, GOOD)],
            &[(0, Some(351)), (101, Some(351)), (201, Some(351)), (301, None)],
            (Code::Ok, 351),
        ),
        row("h02", vec![after(99, GOOD)], &[(0, None)], (Code::Ok, 99)),
        row(
            "h03",
            vec![after(250, GOOD), hangs(), hangs()],
            &[(0, None), (101, Some(250)), (201, Some(250))],
            (Code::Ok, 250),
        ),
        row(
            "h11",
            vec![hangs(), after(20, GOOD), hangs(), hangs()],
            &[(0, Some(20)), (0, None), (0, Some(20)), (0, Some(20))],
            (Code::Ok, 20),
        )
        .policy(r#""maxAttempts": 4, "nonFatalStatusCodes": ["UNAVAILABLE"]"#),
        row(
            "h12",
            vec![hangs(), hangs(), hangs(), hangs(), after(10, GOOD), hangs()],
            &[(0, Some(51)), (11, Some(51)), (21, Some(51)), (31, Some(51)), (41, None)],
            (Code::Ok, 51),
        )
        .policy(r#""maxAttempts": 99, "hedgingDelay": "0.01s""#),
    ] {
        row.run::<C>().await;
    }
}

/// 37 and 38: an error that is not fatal brings the next attempt at once, any other ends the call, and so does the last.
pub async fn errors_bring_the_next_attempt_or_the_end<C: A6Client>() {
    for row in [
        row(
            "h04",
            vec![after(30, U), hangs(), after(50, GOOD)],
            &[(0, None), (30, Some(181)), (131, None)],
            (Code::Ok, 181),
        ),
        row(
            "h05",
            vec![hangs(), after(30, U), after(60, GOOD)],
            &[(0, Some(191)), (101, None), (131, None)],
            (Code::Ok, 191),
        ),
        row("h06", vec![hangs(), after(30, I)], &[(0, Some(131)), (101, None)], (Code::Internal, 131)),
        row(
            "h07",
            vec![after(30, U), after(30, U), after(30, U), after(30, U), vec![GOOD]],
            &[(0, None), (30, None), (60, None), (90, None)],
            (Code::Unavailable, 120),
        ),
        // The last status, not the first; the fifth play is never begun.
        row(
            "h07 with two codes",
            vec![after(30, U), after(30, U), after(30, U), after(30, RawFrame::Status(10, None)), vec![GOOD]],
            &[(0, None), (30, None), (60, None), (90, None)],
            (Code::Aborted, 120),
        )
        .policy(
            r#""maxAttempts": 4, "hedgingDelay": "0.1s", "nonFatalStatusCodes": ["UNAVAILABLE", "ABORTED"]"#,
        ),
        row("h16", vec![after(30, U), vec![GOOD]], &[(0, None)], (Code::Unavailable, 30))
            .policy(r#""maxAttempts": 4, "hedgingDelay": "0.1s""#),
    ] {
        row.run::<C>().await;
    }
}

/// 39: a server that wants no more gets no more, but what is in flight may win; one that names a time gets it.
pub async fn pushback_holds_hedges_back<C: A6Client>() {
    let never = RawFrame::Status(14, Some("-1"));
    for row in [
        row("h08", vec![after(30, never), vec![GOOD]], &[(0, None)], (Code::Unavailable, 30)),
        row(
            "h09",
            vec![after(400, GOOD), after(30, never), vec![GOOD]],
            &[(0, None), (101, None)],
            (Code::Ok, 400),
        ),
        row(
            "h10",
            vec![after(30, RawFrame::Status(14, Some("200"))), hangs(), after(10, GOOD)],
            &[(0, None), (231, Some(341)), (331, None)],
            (Code::Ok, 341),
        ),
    ] {
        row.run::<C>().await;
    }
}

/// 40: without tokens no hedge is sent, but always the first attempt; and with nothing in flight its error is the end.
pub async fn h15_throttled_hedges_are_withheld<C: A6Client>() {
    let throttling = r#", "retryThrottling": {"maxTokens": 4, "tokenRatio": 0.001}"#;
    // Two errors leave two of four tokens, which is not more than half.
    let plays = vec![vec![U], vec![U], vec![U], after(350, GOOD), vec![GOOD]];
    let server = RawServer::start(plays);
    let client = client::<C>(&server, BASE, throttling);
    for (code, requests) in [(Code::Unavailable, 2), (Code::Unavailable, 3), (Code::Ok, 4)] {
        assert_eq!(client.list(ListAssetsRequest::default(), None).await, code);
        assert_eq!(server.seen().len(), requests);
    }
    assert_eq!(requests(&server), [(0, None), (0, None), (0, None), (0, None)]);
}

/// 41: the deadline ends all, headers commit, and of two good replies one is the call's.
pub async fn the_deadline_and_the_commit_end_all<C: A6Client>() {
    let headers_then_good =
        [after(120, RawFrame::Headers), after(200, RawFrame::Message), vec![RawFrame::Trailers(0)]];
    for row in [
        row(
            "h13",
            vec![hangs(), hangs(), hangs()],
            &[(0, Some(250)), (101, Some(250)), (201, Some(250))],
            (Code::DeadlineExceeded, 250),
        )
        .within(250),
        row(
            "h14",
            vec![headers_then_good.concat(), hangs(), hangs()],
            &[(0, None), (101, Some(120))],
            (Code::Ok, 320),
        ),
        row(
            "one reply and the headers of another at once",
            vec![after(151, GOOD), after(50, RawFrame::Headers)],
            &[(0, None), (101, Some(151))],
            (Code::Ok, 151),
        ),
        // The stream of the one that lost is over as well, so that there is nothing to reset.
        row(
            "two replies at once",
            vec![after(151, GOOD), after(50, GOOD)],
            &[(0, None), (101, None)],
            (Code::Ok, 151),
        ),
    ] {
        row.run::<C>().await;
    }
}

/// A call that is dropped ends all its attempts.
pub async fn to_drop_the_call_resets_every_attempt<C: A6Client>() {
    let server = RawServer::start([hangs(), hangs(), hangs()]);
    let client = client::<C>(&server, BASE, "");
    timeout(ms(250), client.list(ListAssetsRequest::default(), None)).await.unwrap_err();
    sleep(ms(1000)).await;
    assert_eq!(requests(&server), [(0, Some(250)), (101, Some(250)), (201, Some(250))]);
}
