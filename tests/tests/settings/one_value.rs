//! One value that stands for several limits: what a call, a program or operators change of it changes all of them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{
    Attempt, AttemptPlan, Code, Compatibility, Environment, NoJitter, Policy, Response, RetrySettings,
    StopReason,
};
use gax_table::{Dialect, RetryTable};
use std::time::Duration;
use tonic::Request;
use tonic_gax::{CallOptions, OperationOptions, RequestExt as _, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{Reply, Script, Setup, Stack, VirtualServer, delays, ms, report_of};

const SERVICE: &str = "google.cloud.asset.v1.AssetService";
const CODES: [Code; 2] = [Code::Unavailable, Code::DeadlineExceeded];

/// Where settings came from, and the limits in milliseconds that they stand for: in all, and of the first and of any attempt as
/// far as they were written separately.
struct Source {
    name: &'static str,
    settings: RetrySettings,
    total: Option<u64>,
    own: [Option<u64>; 2],
}

fn of_table(text: &str, dialect: Dialect) -> RetrySettings {
    let table = RetryTable::reader().dialect(dialect).read(text.as_bytes()).unwrap();
    table.lookup(SERVICE, "ListAssets").unwrap().settings().to_builder().jittered(false).build().unwrap()
}

/// Four attempts, 100 ms between the first two, and these timeouts.
fn toml(timeouts: &str) -> String {
    format!(
        "[[entry]]\nfor = [\"{SERVICE}\"]\ncodes = [\"UNAVAILABLE\", \"DEADLINE_EXCEEDED\"]\nmax_attempts = 4\n\
         initial_retry_delay = \"100ms\"\nretry_delay_multiplier = 2\nmax_retry_delay = \"300ms\"\n{timeouts}"
    )
}

fn service_config() -> String {
    format!(
        r#"{{"methodConfig": [{{"name": [{{"service": "{SERVICE}"}}], "timeout": "1s", "retryPolicy": {{
            "maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "0.3s", "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE", "DEADLINE_EXCEEDED"]}}}}]}}"#
    )
}

fn client_config(method: &str) -> String {
    format!(
        r#"{{"interfaces": {{"{SERVICE}": {{"retry_codes": {{"c": ["UNAVAILABLE", "DEADLINE_EXCEEDED"]}},
            "retry_params": {{"p": {{"initial_retry_delay_millis": 100, "retry_delay_multiplier": 2,
                "max_retry_delay_millis": 300, "initial_rpc_timeout_millis": 1000, "rpc_timeout_multiplier": 1,
                "max_rpc_timeout_millis": 1000, "total_timeout_millis": 1000}}}},
            "methods": {{"ListAssets": {{{method} "retry_codes_name": "c", "retry_params_name": "p"}}}}}}}}}}"#
    )
}

fn gapic_yaml() -> String {
    format!(
        "interfaces:\n- name: {SERVICE}\n  retry_codes_def:\n  - name: c\n    retry_codes: [UNAVAILABLE, DEADLINE_EXCEEDED]\n  \
         retry_params_def:\n  - name: p\n    initial_retry_delay_millis: 100\n    retry_delay_multiplier: 2\n    \
         max_retry_delay_millis: 300\n    initial_rpc_timeout_millis: 1000\n    rpc_timeout_multiplier: 1\n    \
         max_rpc_timeout_millis: 1000\n    total_timeout_millis: 1000\n  methods:\n  - name: ListAssets\n    \
         retry_codes_name: c\n    retry_params_name: p\n"
    )
}

fn sources() -> Vec<Source> {
    let (one, all) = ([None; 2], [Some(1000); 2]);
    let as_written = |text: &str| of_table(text, Dialect::AsWritten);
    let built = || delays(100, 2.0).max_retry_delay(ms(300)).max_attempts(4);
    let serde = |timeouts: &str| -> RetrySettings {
        let text = format!(
            r#"{{{timeouts}, "initial_retry_delay": "100ms", "retry_delay_multiplier": 2,
                "max_retry_delay": "300ms", "max_attempts": 4, "jittered": false}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let named = |timeout: &str| as_written(&client_config(timeout));
    let listed = [
        ("a service config", as_written(&service_config()), Some(1000), one),
        ("a service config by gax-java", of_table(&service_config(), Dialect::GaxJava), Some(1000), one),
        ("TOML, timeout", as_written(&toml("timeout = \"1s\"")), Some(1000), one),
        ("TOML, total_timeout", as_written(&toml("total_timeout = \"1s\"")), Some(1000), one),
        (
            "TOML by gax-java",
            of_table(&toml("timeout = \"1s\"\ninitial_rpc_timeout = \"400ms\""), Dialect::GaxJava),
            Some(1000),
            [Some(400), None],
        ),
        (
            "TOML, the first attempt's own",
            as_written(&toml("timeout = \"1s\"\ninitial_rpc_timeout = \"400ms\"")),
            Some(1000),
            [Some(400), None],
        ),
        (
            "TOML, a longer first attempt",
            as_written(&toml("timeout = \"1s\"\ninitial_rpc_timeout = \"4s\"")),
            Some(1000),
            [Some(4000), None],
        ),
        (
            "TOML, each by itself",
            as_written(&toml(
                "total_timeout = \"1s\"\ninitial_rpc_timeout = \"1s\"\nmax_rpc_timeout = \"1s\"",
            )),
            Some(1000),
            all,
        ),
        (
            "TOML, an attempt and the operation",
            as_written(&toml("timeout = \"1s\"\ntotal_timeout = \"5s\"")),
            Some(5000),
            all,
        ),
        ("a client config's method", named("\"timeout_millis\": 1000,"), Some(1000), one),
        // What Node does without a timeout of the method.
        ("a client config without a timeout", named(""), Some(30_000), one),
        ("GAPIC YAML", as_written(&gapic_yaml()), Some(1000), all),
        ("code", built().timeout(ms(1000)).build().unwrap(), Some(1000), one),
        ("code, total_timeout", built().total_timeout(ms(1000)).build().unwrap(), Some(1000), one),
        ("serde, timeout", serde(r#""timeout": "1s""#), Some(1000), one),
        ("serde, total_timeout", serde(r#""total_timeout": "1s""#), Some(1000), one),
        (
            "serde, both",
            serde(r#""timeout": "1s", "total_timeout": "5s", "max_rpc_timeout": "2s""#),
            Some(5000),
            [Some(1000), Some(2000)],
        ),
    ];
    listed
        .into_iter()
        .map(|(name, settings, total, own)| {
            // Client configs have no number of attempts, and gax-java reads none.
            let settings = settings.to_builder().max_attempts(4).build().unwrap();
            Source { name, settings, total, own }
        })
        .collect()
}

/// What the limits are after an option, and the option.
type Case = (&'static str, CallOptions, fn(&mut Limits));

#[derive(Clone, Copy)]
struct Limits {
    total: Option<u64>,
    own: [Option<u64>; 2],
    attempts: Option<u32>,
}

fn cases() -> [Case; 12] {
    let none = CallOptions::new;
    [
        ("none", none(), |_| {}),
        ("longer", none().timeout(ms(10_000)), |limits| limits.total = Some(10_000)),
        ("shorter", none().timeout(ms(300)), |limits| limits.total = Some(300)),
        ("no timeout", none().without_timeout(), |limits| limits.total = None),
        ("longer attempts", none().attempt_timeout(ms(5000)), |limits| limits.own = [Some(5000); 2]),
        ("shorter attempts", none().attempt_timeout(ms(250)), |limits| limits.own = [Some(250); 2]),
        ("no attempt timeout", none().without_attempt_timeout(), |limits| limits.own = [None; 2]),
        ("both longer", none().timeout(ms(10_000)).attempt_timeout(ms(2000)), |limits| {
            *limits = Limits { total: Some(10_000), own: [Some(2000); 2], ..*limits };
        }),
        ("two attempts", none().timeout(ms(10_000)).max_attempts(2), |limits| {
            *limits = Limits { total: Some(10_000), attempts: Some(2), ..*limits };
        }),
        ("any number", none().timeout(ms(2000)).without_max_attempts(), |limits| {
            *limits = Limits { total: Some(2000), attempts: None, ..*limits };
        }),
        ("nothing", none().without_timeout().without_max_attempts(), |limits| {
            *limits = Limits { total: None, attempts: None, ..*limits };
        }),
        ("no retries", none().timeout(ms(10_000)).without_retries(), |limits| {
            *limits = Limits { total: Some(10_000), attempts: Some(1), ..*limits };
        }),
    ]
}

/// The settings that the limits are, each written by itself.
fn written(limits: Limits) -> RetrySettings {
    let time = |time: Option<u64>| time.map(ms);
    let [initial, max] = limits.own.map(time);
    let settings = delays(100, 2.0).max_retry_delay(ms(300)).max_attempts(limits.attempts);
    let settings = settings.total_timeout(time(limits.total)).initial_rpc_timeout(initial);
    settings.max_rpc_timeout(max).build_unchecked()
}

/// The server takes that long, and then refuses.
const SLOW: u64 = 700;

fn plan(policy: &Policy) -> (Vec<Row>, Option<StopReason>) {
    let refusals = [Response::after(ms(SLOW), Code::Unavailable); 100];
    let plan = AttemptPlan::new(policy, &refusals, &mut NoJitter);
    (plan.attempts().iter().map(row).collect(), plan.stop_reason())
}

type Row = (Option<Duration>, Duration, Duration, Code);

fn row(attempt: &Attempt) -> Row {
    (attempt.rpc_timeout(), attempt.start(), attempt.end(), attempt.code())
}

/// Over every stack, the attempts that run are those that are planned for the settings after the override.
#[tokio::test(start_paused = true)]
async fn what_runs_is_what_is_planned_for_the_settings_after_the_override() {
    for source in sources() {
        for (option, options, change) in cases() {
            let mut limits = Limits { total: source.total, own: source.own, attempts: Some(4) };
            change(&mut limits);
            let expected = plan(&Policy::new(&written(limits), CODES));
            for stack in Stack::ALL {
                let slow = (ms(SLOW), Reply::unavailable());
                let server = VirtualServer::start(Script::cycle([slow]));
                let mut caller = stack.caller(server.channel(), &Setup::new(source.settings.clone()));
                let request = Request::new(ListAssetsRequest::default());
                let report = report_of(&caller.list(request.with_call_options(options.clone())).await);
                let ran: Vec<_> = report.attempts().iter().map(row).collect();
                assert_eq!((ran, report.stop_reason()), expected, "{}, {option}, {stack:?}", source.name);
            }
            // As a program changes them, and as they are stored.
            let stored = serde_json::to_string(&source.settings).unwrap();
            let stored: RetrySettings = serde_json::from_str(&stored).unwrap();
            let overrides = options.overrides;
            for settings in [&source.settings, &stored] {
                let policy = Policy::new(settings, CODES).with_overrides(&overrides);
                assert_eq!(plan(&policy), expected, "{}, {option}", source.name);
            }
        }
    }
}

/// A program that changes the total timeout of settings changes no other value that it has not written.
#[test]
fn what_a_program_changes_is_what_a_call_changes() {
    for source in sources() {
        for total in [Some(10_000), Some(300), None] {
            let limits = Limits { total, own: source.own, attempts: Some(4) };
            let changed = source.settings.to_builder().total_timeout(total.map(ms)).build().unwrap();
            let expected = plan(&Policy::new(&written(limits), CODES));
            assert_eq!(plan(&Policy::new(&changed, CODES)), expected, "{}, {total:?}", source.name);
        }
    }
}

/// Operators can lower a limit, and never raise one.
#[test]
fn the_environment_only_lowers() {
    let variables = |value: &'static str| {
        Environment::from_variables(|name| (name == "GAX_TOTAL_TIMEOUT").then(|| value.into()))
            .expect("variables")
    };
    for source in sources() {
        for (most, caps) in [(400, variables("400ms")), (20_000, variables("20s"))] {
            for (option, options, change) in cases() {
                let mut limits = Limits { total: source.total, own: source.own, attempts: Some(4) };
                change(&mut limits);
                let had_limits = limits.total.is_some() || limits.attempts.is_some();
                let own = Policy::new(&source.settings, CODES).with_overrides(&options.overrides);
                let expected = plan(&Policy::new(&written(limits), CODES).with_environment(&caps));
                assert_eq!(plan(&own.with_environment(&caps)), expected, "{}, {option}", source.name);
                let longest = expected.0.last().map(|(_, _, end, _)| *end).unwrap_or_default();
                assert!(longest <= ms(most) || !had_limits, "{}, {option}: {longest:?}", source.name);
            }
        }
    }
}

/// In gax-java a timeout that a call changes leaves all others alone, and so it does by its rules.
#[test]
fn gax_java_lifts_nothing() {
    let java = Compatibility::GaxJava;
    for source in sources() {
        let [initial, max] = [source.settings.initial_rpc_timeout(), source.settings.max_rpc_timeout()];
        let builder = source.settings.to_builder();
        let separate = builder.initial_rpc_timeout(initial).max_rpc_timeout(max).build_unchecked();
        for (option, options, _) in cases() {
            let of = |settings: &RetrySettings| {
                let policy = Policy::with_compatibility(settings, CODES, java);
                plan(&policy.with_overrides(&options.overrides))
            };
            assert_eq!(of(&source.settings), of(&separate), "{}, {option}", source.name);
        }
        let of = |settings: &RetrySettings| {
            let longer = settings.to_builder().total_timeout(ms(10_000)).build_unchecked();
            plan(&Policy::with_compatibility(&longer, CODES, java))
        };
        assert_eq!(of(&source.settings), of(&separate), "{}", source.name);
    }
}

/// A table without a number of attempts, as nearly all are.
#[tokio::test(start_paused = true)]
async fn without_a_timeout_and_a_number_of_attempts_there_is_one_attempt_of_any_length() {
    let table = service_config().replace(r#""maxAttempts": 4,"#, "");
    for (after, reply) in
        [(ms(3000), Reply::message(&ListAssetsRequest::default())), (ms(0), Reply::unavailable())]
    {
        let server = VirtualServer::start(Script::cycle([(after, reply)]));
        let layer = RetryLayer::new(RetryTable::parse(&table).unwrap());
        let layer = layer.options(OperationOptions::new().reports(true));
        let mut client = AssetServiceClient::new(layer.layer(server.channel()));
        let request = Request::new(ListAssetsRequest::default());
        let result =
            client.list_assets(request.with_call_options(CallOptions::new().without_timeout())).await;
        assert_eq!(result.is_ok(), after == ms(3000));
        let report = report_of(&result);
        assert_eq!(report.stop_reason(), result.is_err().then_some(StopReason::NoLimits));
        assert_eq!(server.seen(), [(0, None)]);
    }
}
