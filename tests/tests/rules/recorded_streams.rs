//! Recorded streams of gax-java, made by the clients: by the generated one, by tonic's own over the layer, and by
//! subscriptions.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a recorded case that can't be read fails its test"
)]

use crate::rules::goldens::{cases, codes, end, row, settings};
use gax_client::CallSettings;
use gax_driver::observe::{OperationInfo, OperationObserver};
use gax_retry::{Attempt, Code, Compatibility, StartedAttempt, StopReason};
use gax_streams::ResumptionExt as _;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::subscription::{Opening, Subscriber, SubscriptionStrategy};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_stream::StreamExt as _;
use tonic::{Request, Status};
use tonic_gax::{OperationError, OperationOptions, OperationReport};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::{BodyPart, Reply, Script, Setup, VirtualServer, line};

/// Resumes always, as the recorded strategy does.
struct Always;

impl StreamResumption for Always {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, _: &mut Line) -> Processed {
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Line> {
        Resume::Again(line(0))
    }
}

/// A subscription's strategy: resumes always, or only before the first message.
struct Recalled {
    is_resumable: bool,
    has_delivered: bool,
}

impl StreamResumption for Recalled {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, _: &mut Line) -> Processed {
        self.has_delivered = true;
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Line> {
        if self.is_resumable || !self.has_delivered { Resume::Again(line(0)) } else { Resume::Stop }
    }
}

impl SubscriptionStrategy for Recalled {
    type Message = ();
}

/// Calls as gax-java's tracer gets them.
#[derive(Debug, Clone, Default)]
struct Tracer(Arc<Mutex<Vec<String>>>);

impl Tracer {
    fn call(&self, call: String) {
        self.0.lock().unwrap().push(call);
    }

    /// The calls so far, which are forgotten.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl OperationObserver for Tracer {
    fn attempt_started(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.call(format!("attemptStarted({})", attempt.number() - 1));
    }

    fn attempt_succeeded(&self, _: &OperationInfo, _: &Attempt) {
        self.call("attemptSucceeded".to_owned());
    }

    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, delay: Option<Duration>) {
        let delay = delay.unwrap_or_default().as_micros();
        self.call(format!("attemptFailed({},delay_us={delay})", attempt.code().name()));
    }

    /// gax-java's streams know no exhausted retries.
    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.call(format!("attemptPermanentFailure({})", attempt.code().name()));
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.call(format!("attemptPermanentFailure({})", attempt.code().name()));
    }
}

/// Why a case can't be put to a client whose clock goes by milliseconds.
type Unfit = &'static str;

struct Recorded<'a> {
    case: &'a Value,
    attempts: &'a [Value],
    setup: Setup,
    tracer: Tracer,
}

fn recorded(case: &Value) -> Result<Recorded<'_>, Unfit> {
    let times = |row: &Value| ["start_us", "end_us"].map(|name| row[name].as_i64().unwrap());
    let Some(attempts) = case["expected"]["attempts"].as_array() else {
        return Err("an attempt hangs for ever");
    };
    if attempts.iter().flat_map(times).any(|time| time % 1000 != 0) {
        return Err("the server's time is no whole number of milliseconds");
    }
    let timeouts = || attempts.iter().filter_map(|row| row["rpc_timeout_us"].as_u64());
    if timeouts().any(|timeout| timeout >= 100_000_000_000) {
        return Err("grpc-timeout has no room for the milliseconds of more than a day");
    }
    let own = settings(&case["settings"]).ok_or("the settings hold no number")?;
    let retryable = codes(&case["retryable_codes"]);
    let unlimited = own.total_timeout().is_none() && own.max_attempts().is_none();
    if unlimited && !retryable.is_empty() {
        return Err("stub settings refuse codes without a limit");
    }
    let own = own.to_builder().jittered(false).build().unwrap();
    let tracer = Tracer::default();
    let setup = Setup::new(own).retrying(retryable).compatible(Compatibility::GaxJava).reporting();
    let setup = setup.observed(Arc::new(tracer.clone()));
    Ok(Recorded { case, attempts, setup, tracer })
}

impl Recorded<'_> {
    /// The server's streams: the messages at once, and the status where it is in time.
    fn script(&self) -> Script {
        let entries = self.case["script"].as_array().unwrap();
        let reply = |index: usize, timeout: u64| {
            let entry = entries.get(index).or(entries.last()).unwrap();
            let messages = entry["responses"].as_u64().unwrap();
            let mut beats: Vec<BodyPart> = (0..messages).map(|_| BodyPart::message(&line(1))).collect();
            match entry["server_us"].as_u64() {
                Some(after) if timeout / 1000 == 0 || after < timeout / 1000 * 1000 => {
                    let code: Code = entry["code"].as_str().unwrap().parse().unwrap();
                    beats.push(BodyPart::Wait(Duration::from_micros(after)));
                    beats.push(match code {
                        Code::Ok => BodyPart::trailers(&[("grpc-status", "0")]),
                        code => BodyPart::status(&Status::new(tonic::Code::from(i32::from(code)), "")),
                    });
                }
                _ => beats.push(BodyPart::Hang),
            }
            Reply::play(beats)
        };
        // An attempt without a millisecond never reaches the server.
        let timeouts = self.attempts.iter().map(|row| row["rpc_timeout_us"].as_u64().unwrap_or(0));
        let sent = timeouts.enumerate().filter(|(_, timeout)| *timeout == 0 || *timeout >= 1000);
        Script::at_once(sent.map(|(index, timeout)| reply(index, timeout)))
    }

    fn resumption(&self) -> Option<Resumption> {
        self.case["resumable"].as_bool().unwrap().then(|| Resumption::new(|_: &Line| Always))
    }

    /// The report of the call, by the generated client.
    async fn generated(&self, server: &VirtualServer) -> OperationReport {
        let resumption = self.resumption();
        let settings = self.setup.talk_listening(|listen| {
            // A limit that never comes: the stream has the report where it is one that resumes.
            listen.set_resumption(resumption).set_wait_timeout(Duration::from_secs(1_000_000));
        });
        let client = TalkClient::with_settings(server.channel(), settings);
        match client.listen(line(0)).await {
            Ok(response) => {
                let mut stream = response.into_inner();
                while let Some(Ok(_)) = stream.next().await {}
                stream.report().unwrap()
            }
            Err(status) => OperationError::of(&status).unwrap().report().clone(),
        }
    }

    /// The call by tonic's own client over the layer.
    async fn layered(&self, server: &VirtualServer) {
        let mut client = TonicTalkClient::new(self.setup.layer_with_descriptors().layer(server.channel()));
        let request = Request::new(line(0));
        let request = match self.resumption() {
            Some(resumption) => request.with_resumption(resumption),
            None => request,
        };
        if let Ok(response) = client.listen(request).await {
            let mut stream = response.into_inner();
            while let Some(Ok(_)) = stream.next().await {}
        }
    }

    /// The report of a subscription over tonic's own client.
    async fn subscribed(&self, server: &VirtualServer) -> OperationReport {
        let client = TonicTalkClient::new(server.channel());
        let is_resumable = self.case["resumable"].as_bool().unwrap();
        let connect = move |opening: Opening<Line, ()>| {
            let mut client = client.clone();
            async move { client.listen(opening.into_request()).await }
        };
        let options = OperationOptions::new().compatibility(Compatibility::GaxJava);
        let options = options.observer(Arc::new(self.tracer.clone()));
        let settings = CallSettings::new(self.setup.settings.clone(), self.setup.codes);
        let mut subscription = Subscriber::new(&settings).options(options).subscribe(
            line(0),
            Recalled { is_resumable, has_delivered: false },
            connect,
        );
        while let Ok(Some(_)) = subscription.update().await {}
        subscription.report().unwrap()
    }

    /// The client's tracer got the calls that were recorded, where any were.
    fn compare_calls(&self, id: &str) -> bool {
        let calls = self.tracer.take();
        let expected = self.case["expected"]["tracer"].as_array();
        if let Some(expected) = expected {
            assert_eq!(calls, expected.iter().map(|call| call.as_str().unwrap()).collect::<Vec<_>>(), "{id}");
        }
        expected.is_some()
    }

    /// Returns whether its tracer's calls were recorded.
    async fn compare(&self) -> bool {
        let id = self.case["id"].as_str().unwrap();
        let server = VirtualServer::start(self.script());
        let report = self.generated(&server).await;
        self.compare_calls(id);
        let rows = self.attempts.iter().map(|row| {
            let mut row = row.as_object().unwrap().clone();
            // Java's own counters: rows are numbered through.
            row.retain(|name, _| !["attempt_count", "overall_attempt_count"].contains(&name.as_str()));
            Value::from(row)
        });
        assert_eq!(report.attempts().iter().map(row).collect::<Vec<_>>(), rows.collect::<Vec<_>>(), "{id}");
        let expected = match self.case["expected"]["end"].as_str().unwrap() {
            "not_resumable" => "COMMITTED",
            end => end,
        };
        assert_eq!(end(report.stop_reason()), expected, "{id}");
        // The server sees the same attempts of the other client.
        let other = VirtualServer::start(self.script());
        self.layered(&other).await;
        self.compare_calls(id);
        assert_eq!(other.seen(), server.seen(), "{id}");
        // And of a subscription, whose rows are those of the stream.
        let other = VirtualServer::start(self.script());
        let subscribed = self.subscribed(&other).await;
        assert_eq!(other.seen(), server.seen(), "{id}");
        assert_eq!(subscribed.attempts(), report.attempts(), "{id}");
        assert_eq!(subscribed.stop_reason(), report.stop_reason(), "{id}");
        self.compare_calls(id)
    }
}

#[tokio::test(start_paused = true)]
async fn streams_make_the_attempts_that_were_recorded_of_java_s() {
    let mut counts: BTreeMap<Unfit, u32> = BTreeMap::new();
    let mut traced = 0;
    for case in cases().into_iter().filter(|case| case["kind"] == "streaming") {
        let fit = recorded(&case);
        *counts.entry(fit.as_ref().map_or_else(|unfit| *unfit, |_| "compared")).or_default() += 1;
        if let Ok(recorded) = fit {
            traced += u32::from(recorded.compare().await);
        }
    }
    let expected = [("compared", 55), ("the server's time is no whole number of milliseconds", 5)];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
    assert!(traced > 10, "{traced}");
}
