//! Recorded unary operations of gax-java, made by the clients: what a client and a call are given is what Java's were given.
#![expect(clippy::unwrap_used, reason = "a recorded case that can't be read fails its test")]

use crate::rules::goldens::{cases, codes, end, row, settings};
use gax_retry::{Code, Compatibility, RetrySettings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tonic::{Request, Status};
use tonic_gax::{CallOptions, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{Reply, Script, Setup, Stack, VirtualServer, report_of};

/// How many rows a report keeps of the first and the last attempts.
const KEPT: usize = 32;

/// Why a case can't be put to a client whose clock goes by milliseconds.
type Unfit = &'static str;

struct Recorded<'a> {
    case: &'a Value,
    expected: &'a Value,
    setup: Setup,
    options: CallOptions,
}

fn recorded(case: &Value) -> Result<Recorded<'_>, Unfit> {
    let expected =
        if case["expected_callable"] == "same" { &case["expected"] } else { &case["expected_callable"] };
    let times = |row: &Value| ["start_us", "end_us"].map(|name| row[name].as_i64().unwrap());
    let Some(attempts) = expected["attempts"].as_array() else { return Err("an attempt hangs for ever") };
    if attempts.iter().flat_map(times).any(|time| time % 1000 != 0) {
        return Err("the server's time is no whole number of milliseconds");
    }
    // Eight digits of milliseconds.
    if attempts
        .iter()
        .any(|row| row["rpc_timeout_us"].as_u64().is_some_and(|timeout| timeout >= 100_000_000_000))
    {
        return Err("grpc-timeout has no room for the milliseconds of more than a day");
    }
    let unjittered = |settings: RetrySettings| settings.to_builder().jittered(false).build().unwrap();
    let own = settings(&case["settings"]).ok_or("the settings hold no number")?;
    let retryable = codes(&case["retryable_codes"]);
    let unlimited = own.total_timeout().is_none() && own.max_attempts().is_none();
    if unlimited && !retryable.is_empty() {
        return Err("stub settings refuse codes without a limit");
    }
    let is_off = own.max_attempts() == Some(1) || retryable.is_empty();
    let context = &case["call_context"];
    let mut options = CallOptions::new();
    if !context["retry_settings"].is_null() {
        if is_off && attempts.len() > 1 {
            return Err("gax-java draws the waits: the client's own settings turn retries off");
        }
        let brought = settings(&context["retry_settings"]).ok_or("the settings hold no number")?;
        options = options.retry_settings(unjittered(brought));
    }
    if !context["retryable_codes"].is_null() {
        options = options.retryable_codes(codes(&context["retryable_codes"]));
    }
    if let Some(timeout) = context["timeout_us"].as_u64() {
        options = options.attempt_timeout(Duration::from_micros(timeout));
    }
    let setup =
        Setup::new(unjittered(own)).retrying(retryable).compatible(Compatibility::GaxJava).reporting();
    Ok(Recorded { case, expected, setup, options })
}

impl Recorded<'_> {
    /// The server's replies: none to an attempt that they would come too late for.
    fn script(&self) -> Script {
        let entries = self.case["script"].as_array().unwrap();
        let reply = |index: usize, timeout: u64| {
            let entry = entries.get(index).or(entries.last()).unwrap();
            match entry["server_us"].as_u64() {
                Some(after) if timeout / 1000 == 0 || after < timeout / 1000 * 1000 => {
                    let code: Code = entry["code"].as_str().unwrap().parse().unwrap();
                    let reply = match code {
                        Code::Ok => Reply::Serve,
                        code => Reply::status(Status::new(tonic::Code::from(i32::from(code)), "")),
                    };
                    (Duration::from_micros(after), reply)
                }
                _ => (Duration::ZERO, Reply::Hang),
            }
        };
        let attempts = self.expected["attempts"].as_array().unwrap();
        // An attempt without a millisecond never reaches the server.
        let timeouts = attempts.iter().map(|row| row["rpc_timeout_us"].as_u64().unwrap_or(0));
        let sent = timeouts.enumerate().filter(|(_, timeout)| *timeout == 0 || *timeout >= 1000);
        Script::of(sent.map(|(index, timeout)| reply(index, timeout)))
            .then_always(Duration::ZERO, Reply::unavailable())
    }

    async fn compare(&self, stack: Stack) {
        let id = format!("{} {stack:?}", self.case["id"]);
        let server = VirtualServer::start(self.script());
        let mut caller = stack.caller(server.channel(), &self.setup);
        let request = Request::new(ListAssetsRequest::default()).with_call_options(self.options.clone());
        let report = report_of(&caller.list(request).await);
        let expected = self.expected["attempts"].as_array().unwrap();
        let kept: Vec<_> = expected
            .iter()
            .enumerate()
            .filter(|(index, _)| *index < KEPT || index + KEPT >= expected.len())
            .map(|(_, row)| row.clone())
            .collect();
        assert_eq!(report.attempts().iter().map(row).collect::<Vec<_>>(), kept, "{id}");
        assert_eq!(report.attempt_count() as usize, expected.len(), "{id}");
        assert_eq!(end(report.stop_reason()), self.expected["end"].as_str().unwrap(), "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn clients_make_the_attempts_that_were_recorded_of_java_s() {
    let mut counts: BTreeMap<Unfit, u32> = BTreeMap::new();
    for case in cases().into_iter().filter(|case| case["kind"] == "unary") {
        let fit = recorded(&case);
        *counts.entry(fit.as_ref().map_or_else(|unfit| *unfit, |_| "compared")).or_default() += 1;
        let Ok(recorded) = fit else { continue };
        for stack in Stack::ALL {
            recorded.compare(stack).await;
        }
    }
    let expected = [
        ("compared", 603),
        ("gax-java draws the waits: the client's own settings turn retries off", 2),
        ("grpc-timeout has no room for the milliseconds of more than a day", 19),
        ("stub settings refuse codes without a limit", 8),
        ("the server's time is no whole number of milliseconds", 178),
        ("the settings hold no number", 1),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
}
