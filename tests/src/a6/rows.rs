//! Cases of one server each: retries, pushback, commit, transparent retries, throttling and deadlines.
use super::client::A6Client;
use super::config::{DOWN, FIRST, U, config, pushed};
use crate::generated::google::cloud::asset::v1::ListAssetsRequest;
use crate::{RawFrame, RawServer, VirtualClock, ms};
use tonic::Code;
use tonic_gax::ReplayOptions;

/// A row: its name, the config, what the server does with each request, the waits between requests (lowest and highest, in
/// milliseconds), and the code.
struct Row {
    name: &'static str,
    config: String,
    plays: Vec<Vec<RawFrame>>,
    gaps: Vec<(u64, u64)>,
    code: Code,
}

fn row(name: &'static str, plays: &[RawFrame], gaps: &[(u64, u64)], code: Code) -> Row {
    let plays = plays.iter().map(|frame| vec![*frame]).collect();
    Row { name, config: config(&[], ""), plays, gaps: gaps.to_vec(), code }
}

impl Row {
    fn with(self, changes: &[(&str, &str)]) -> Self {
        Self { config: config(changes, ""), ..self }
    }

    fn playing(self, plays: Vec<Vec<RawFrame>>) -> Self {
        Self { plays, ..self }
    }

    fn without_policy(self) -> Self {
        Self { config: r#"{"methodConfig": [{"name": [{}]}]}"#.to_owned(), ..self }
    }

    async fn run<C: A6Client>(self) {
        let Self { name, config, plays, gaps, code } = self;
        let server = RawServer::start(plays);
        let client = C::connect(&server, &config, ReplayOptions::new());
        assert_eq!(client.list(ListAssetsRequest::default(), None).await, code, "{name}");
        let times: Vec<u64> =
            server.times().iter().map(|time| u64::try_from(time.as_millis()).unwrap()).collect();
        let made: Vec<u64> =
            times.iter().skip(1).zip(&times).map(|(later, earlier)| later - earlier).collect();
        assert_eq!(made.len(), gaps.len(), "{name}: {times:?}");
        for (gap, (least, most)) in made.iter().zip(&gaps) {
            // The timer's grain is a millisecond.
            assert!((*least..=most + 1).contains(gap), "{name}: {made:?}");
        }
    }
}

const SECOND: (u64, u64) = (160, 240);
const THIRD: (u64, u64) = (320, 480);
const AT_ONCE: (u64, u64) = (0, 0);

/// Which codes are retried, after which waits, and how often.
pub async fn retries<C: A6Client>() {
    let capped = [FIRST, (120, 180), (120, 180)];
    let shrinking = [SECOND, FIRST, (40, 60)];
    for row in [
        row("r01", &[U, U], &[FIRST, SECOND], Code::Ok),
        row("r02", &[U; 6], &[FIRST, SECOND, THIRD], DOWN),
        row("r03", &[U; 12], &[(0, 2), (0, 2), (0, 2), (0, 2)], DOWN).with(&[
            ("maxAttempts", "9"),
            ("initialBackoff", "\"0.001s\""),
            ("maxBackoff", "\"0.001s\""),
        ]),
        row("r04", &[RawFrame::Status(13, None)], &[], Code::Internal),
        row("r05", &[U; 6], &capped, DOWN).with(&[("maxBackoff", "\"0.15s\""), ("backoffMultiplier", "10")]),
        row("r06", &[U; 6], &shrinking, DOWN)
            .with(&[("initialBackoff", "\"0.2s\""), ("backoffMultiplier", "0.5")]),
        row("r07", &[U], &[], DOWN).without_policy(),
    ] {
        row.run::<C>().await;
    }
}

/// A server's pushback is heeded.
pub async fn pushback<C: A6Client>() {
    let quadrupled = [("backoffMultiplier", "4"), ("maxBackoff", "\"10s\"")];
    for row in [
        row("p01", &[pushed("300"), U, U], &[(300, 300), FIRST, THIRD], Code::Ok).with(&quadrupled),
        row("p02", &[U, pushed("300"), U], &[FIRST, (300, 300), FIRST], Code::Ok),
        row("p03", &[pushed("0")], &[AT_ONCE], Code::Ok),
        row("p04", &[pushed("-1")], &[], DOWN),
        row("p05", &[pushed("abc")], &[], DOWN),
        row("p07", &[pushed("1.5")], &[], DOWN),
        row("p08", &[pushed("2147483648")], &[], DOWN),
        row("p09", &[RawFrame::Pushed { code: 14, pushbacks: &["10", "20"], alone: true }], &[], DOWN),
        row("p10", &[RawFrame::Status(13, Some("10"))], &[], Code::Internal),
        row("p11", &[pushed("10"); 9], &[(10, 10); 3], DOWN),
    ] {
        row.run::<C>().await;
    }
}

/// A pushback without a value is none that can be read.
pub async fn empty_pushback<C: A6Client>() {
    row("p06", &[pushed("")], &[], DOWN).run::<C>().await;
}

/// A response commits by its headers.
pub async fn commit<C: A6Client>() {
    let head = RawFrame::Headers;
    let commits = |name, frames: Vec<RawFrame>| row(name, &[], &[], DOWN).playing(vec![frames]);
    for row in [
        commits("c01", vec![head, RawFrame::Trailers(14)]),
        commits("c02", vec![head, RawFrame::Message, RawFrame::Trailers(14)]),
        // Requirement 22: a pushback has no effect any more.
        commits("c01 pushed", vec![head, RawFrame::Pushed { code: 14, pushbacks: &["10"], alone: false }]),
        row("t06", &[RawFrame::Reset(2)], &[], Code::Internal),
    ] {
        row.run::<C>().await;
    }
}

/// A request that the server has not looked at is sent again without a policy.
pub async fn transparent_retries<C: A6Client>() {
    const REFUSED: RawFrame = RawFrame::Reset(7);
    let good = RawFrame::Good;
    let away = RawFrame::GoAway { reason: 0, taken: false };
    for row in [
        row("t01", &[REFUSED, good], &[AT_ONCE], Code::Ok).without_policy(),
        row("t02", &[REFUSED, REFUSED], &[AT_ONCE], DOWN).without_policy(),
        row("t03", &[REFUSED, REFUSED, good], &[AT_ONCE, FIRST], Code::Ok),
        row("t04", &[REFUSED, U, good], &[AT_ONCE, FIRST], Code::Ok).with(&[("maxAttempts", "2")]),
        row("t05", &[away, good], &[AT_ONCE], Code::Ok).without_policy(),
        // Requirement 33: either of the two, once.
        row("t02 away", &[REFUSED, away], &[AT_ONCE], DOWN).without_policy(),
    ] {
        row.run::<C>().await;
    }
    throttled::<C>("k06", "4", "0.001", "RO2 RO2 RO2 UO2").await;
}

/// Retry throttling.
pub async fn throttling<C: A6Client>() {
    for (name, max, ratio, calls) in [
        ("k01", "10", "0.5", "O1 UUO3 UUO3 UU2 U1 O1 O1 O1 O1 O1 UO2 U1"),
        ("k02", "4", "1", "UU2"),
        ("k03", "4", "0.3339", "UU2 U1 O1 O1 O1 U1"),
        ("k04", "4", "0.001", "I1 I1 I1 I1 UO2"),
        ("k05", "4", "0.001", "-1 -1 U1"),
        ("k07", "4", "1", "O1 O1 O1 UU2"),
        ("k08", "4", "1", "UU2 U1 U1 U1 U1 O1 O1 O1 O1 UO2"),
    ] {
        throttled::<C>(name, max, ratio, calls).await;
    }
}

/// Calls one after the other against one bucket: U, O and I are the server's statuses, R is a refusal of the stream, the digits are
/// the attempts of each call.
async fn throttled<C: A6Client>(name: &str, max: &str, ratio: &str, calls: &str) {
    const FAST: [(&str, &str); 2] = [("initialBackoff", "\"0.001s\""), ("maxBackoff", "\"0.001s\"")];
    let throttling = format!(r#", "retryThrottling": {{"maxTokens": {max}, "tokenRatio": {ratio}}}"#);
    let plays = calls.chars().filter(char::is_ascii_uppercase).collect::<String>();
    let plays = if name == "k05" { "--U".to_owned() } else { plays };
    let server = RawServer::start(plays.chars().map(|letter| {
        vec![match letter {
            'O' => RawFrame::Good,
            'U' => U,
            'R' => RawFrame::Reset(7),
            '-' => pushed("-1"),
            _ => RawFrame::Status(13, None),
        }]
    }));
    let client = C::connect(&server, &config(&FAST, &throttling), ReplayOptions::new());
    let mut made = Vec::new();
    for call in calls.split(' ') {
        let before = server.requests().len();
        client.list(ListAssetsRequest::default(), None).await;
        let attempts = server.requests().len() - before;
        let letters = call.trim_end_matches(|last: char| last.is_ascii_digit());
        made.push(format!("{letters}{attempts}"));
    }
    assert_eq!(made.join(" "), calls, "{name}");
}

/// d01: the deadline spans attempts and waits. p12: a pushback beyond it ends the call, here at once.
pub async fn deadlines<C: A6Client>() {
    for (name, frame, requests, end) in [("d01", U, 2, 250), ("p12", pushed("300"), 1, 0)] {
        let server = RawServer::start(vec![vec![frame]; 9]);
        let client = C::connect(&server, &config(&[], ""), ReplayOptions::new());
        let began = VirtualClock::start();
        let code = client.list(ListAssetsRequest::default(), Some(ms(250))).await;
        assert_eq!((code, server.requests().len()), (Code::DeadlineExceeded, requests), "{name}");
        assert_eq!(began.elapsed(), ms(end), "{name}");
    }
}
