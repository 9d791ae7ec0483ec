use super::{BotoConfig, NodeRetryOptions, Preset, all, named, names};
use crate::http::{HttpFailure, Idempotency, IdempotencyStrategy, RequestFacts, TransportFailure};
use crate::jitter::ScriptedJitter;
use crate::{Attempt, AttemptPlan, Code, Response, StopReason};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

/// An operation whose attempts are all refused with UNAVAILABLE, each `after` so long.
fn refused(preset: &Preset, draws: &[f64], after: Duration) -> AttemptPlan {
    let responses = vec![Response::after(after, Code::Unavailable); 60];
    AttemptPlan::new(&preset.policy(), &responses, &mut ScriptedJitter::new(draws))
}

fn waits(plan: &AttemptPlan) -> Vec<Duration> {
    plan.attempts().iter().skip(1).map(Attempt::delay).collect()
}

/// The waits in seconds, the last of them `times` times, and why it ended.
#[track_caller]
fn assert_waits(name: &str, draws: &[f64], first: &[f64], then: (f64, usize), reason: StopReason) {
    let plan = refused(&named(name).unwrap(), draws, Duration::ZERO);
    let expected: Vec<_> = first.iter().copied().chain(std::iter::repeat_n(then.0, then.1)).collect();
    let expected: Vec<_> = expected.into_iter().map(Duration::from_secs_f64).collect();
    assert_eq!(waits(&plan), expected, "{name}");
    assert_eq!(plan.stop_reason(), Some(reason), "{name}");
}

#[test]
fn the_documents_wait_two_to_the_n_and_random_milliseconds() {
    use StopReason::TotalTimeout;
    let half = [1.5, 2.5, 4.5, 8.5, 16.5];
    for name in ["storage", "docs", "docs-legacy", "memorystore-doc"] {
        assert_waits(name, &[0.5], &[1.5, 2.5, 4.5, 8.5, 16.5, 32.5], (64.0, 8), TotalTimeout);
    }
    assert_waits("docs-32", &[0.5], &half, (32.0, 17), TotalTimeout);
    let draws = [0.0, 0.999_99, 0.001, 0.25, 0.75, 0.1];
    assert_waits("docs", &draws, &[1.0, 3.0, 4.001, 8.25, 16.75, 32.1], (64.0, 8), TotalTimeout);
}

#[test]
fn the_documents_deadline_is_held_and_cuts_an_attempt() {
    let docs = named("docs").unwrap().with_deadline(10 * S);
    let plan = refused(&docs, &[0.0], 2 * S);
    let rows: Vec<_> = plan.attempts().iter().map(|row| (row.start(), row.rpc_timeout().unwrap())).collect();
    assert_eq!(rows, [(Duration::ZERO, 10 * S), (3 * S, 7 * S), (7 * S, 3 * S)]);
    assert_eq!((plan.end(), plan.stop_reason()), (9 * S, Some(StopReason::TotalTimeout)));
    assert_eq!(plan.not_attempted().unwrap().delay(), 4 * S);
    let hanging = AttemptPlan::new(&docs.policy(), &[], &mut ScriptedJitter::new([0.0]));
    assert_eq!((hanging.attempts().len(), hanging.end()), (1, 10 * S));
}

#[test]
fn memorystores_own_config_never_retries() {
    assert_waits("memorystore", &[0.5], &[], (0.0, 0), StopReason::NonRetryable);
    let plan = AttemptPlan::new(&named("memorystore").unwrap().policy(), &[], &mut ScriptedJitter::new([]));
    assert_eq!(plan.end(), 600 * S);
}

#[test]
fn python_draws_from_nothing_to_the_delay_within_its_deadline() {
    let half = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
    for name in ["python", "python-doc", "python-default-retry"] {
        assert_waits(name, &[0.5], &half, (30.0, 2), StopReason::TotalTimeout);
    }
    assert_waits(
        "python",
        &[0.0, 0.25, 0.75, 0.1],
        &[0.0, 0.5, 3.0, 0.8, 0.0, 8.0, 45.0, 6.0, 0.0, 15.0],
        (0.0, 0),
        StopReason::TotalTimeout,
    );
    // A wait may end exactly at the deadline, and a running attempt is not cut.
    let python = named("python").unwrap();
    assert_eq!(
        waits(&refused(&python.clone().with_deadline(1500 * MS), &[0.5], Duration::ZERO)),
        [500 * MS, S]
    );
    assert_eq!(waits(&refused(&python.clone().with_deadline(1499 * MS), &[0.5], Duration::ZERO)), [500 * MS]);
    let slow = refused(&python.with_deadline(2 * S), &[0.5], 1500 * MS);
    assert_eq!((waits(&slow), slow.end()), (vec![500 * MS], 3500 * MS));
}

#[test]
fn pythons_copies_change_one_thing() {
    let own = named("python-default-retry").unwrap().with_delay(1500 * MS, 1.2, 45 * S);
    let first = waits(&refused(&own.clone().with_deadline(1000 * S), &[0.5], Duration::ZERO));
    assert_eq!(first[..4], [750 * MS, 900 * MS, 1080 * MS, 1296 * MS]);
    assert_eq!(first.last(), Some(&(22_500 * MS)));
    assert_eq!(own.statuses(), named("python").unwrap().statuses());
    let short =
        refused(&named("python-default-retry").unwrap().with_deadline(20 * S), &[0.5], Duration::ZERO);
    assert_eq!(waits(&short), [500 * MS, S, 2 * S, 4 * S, 8 * S]);
    assert_eq!(short.stop_reason(), Some(StopReason::TotalTimeout));
}

#[test]
fn pythons_media_adds_to_the_capped_wait_and_counts_waits_only() {
    let expected = [1.5, 2.5, 4.5, 8.5, 16.5, 32.5];
    assert_waits("python-media-2", &[0.5], &expected, (64.5, 8), StopReason::TotalTimeout);
    let slow = refused(&named("python-media-2").unwrap(), &[0.5], 1000 * S);
    assert_eq!(waits(&slow).len(), 14);
    let exact = named("python-media-2").unwrap().with_deadline(4 * S);
    assert_eq!(waits(&refused(&exact, &[0.5], S)), [1500 * MS, 2500 * MS]);
}

#[test]
fn node_waits_from_two_seconds_and_is_cut_to_what_is_left() {
    assert_waits("node", &[0.5, 0.999_9, 0.0], &[2.5, 4.999, 8.0], (0.0, 0), StopReason::MaxAttempts);
    assert_waits(
        "node-upload",
        &[0.5, 0.999_6, 0.000_4],
        &[1.5, 3.0, 4.0],
        (0.0, 0),
        StopReason::MaxAttempts,
    );
    let options = NodeRetryOptions::default().with_max_retries(20).with_total_timeout(100 * S);
    let plan = refused(&options.preset(), &[0.0], Duration::ZERO);
    assert_eq!(waits(&plan), [2, 4, 8, 16, 32, 38].map(Duration::from_secs));
    assert_eq!(plan.stop_reason(), Some(StopReason::TotalTimeout));
    let options = options.with_max_retry_delay(3 * S).with_max_retries(0);
    assert_eq!(waits(&refused(&options.preset(), &[0.9], Duration::ZERO)), [2900 * MS, 3 * S, 3 * S]);
    let off = options.with_auto_retry(false);
    assert_eq!(off.preset().strategy(), IdempotencyStrategy::Never);
}

#[test]
fn javas_random_part_compounds() {
    use StopReason::{MaxAttempts, TotalTimeout};
    assert_waits("java-storage", &[0.0], &[1.0, 2.0, 4.0, 8.0, 16.0], (0.0, 0), MaxAttempts);
    assert_waits("java-storage", &[0.5], &[1.5, 4.5, 13.5, 30.5], (0.0, 0), TotalTimeout);
    assert_waits(
        "java-storage",
        &[0.25],
        &[1.25, 3.125, 7.8125, 19.531_25, 18.281_25],
        (0.0, 0),
        TotalTimeout,
    );
}

#[test]
fn go_draws_whole_nanoseconds_without_any_limit() {
    let plan = refused(&named("go").unwrap(), &[0.5], Duration::ZERO);
    let nanos: Vec<u128> = waits(&plan).iter().map(Duration::as_nanos).collect();
    assert_eq!(
        nanos[..7],
        [
            500_000_001,
            1_000_000_001,
            2_000_000_001,
            4_000_000_001,
            8_000_000_001,
            15_000_000_001,
            15_000_000_001
        ]
    );
    assert_eq!((plan.attempts().len(), plan.endless().len()), (60, 1));
    let policy = named("go").unwrap().policy();
    let responses = [Response::after(Duration::ZERO, Code::Unavailable); 60];
    let plan = AttemptPlan::within(Some(3 * S), &policy, &responses, &mut ScriptedJitter::new([0.5]));
    assert_eq!((plan.attempts().len(), plan.stop_reason()), (3, Some(StopReason::TotalTimeout)));
}

#[test]
fn gsutil_as_documented_and_as_it_is() {
    use StopReason::MaxAttempts;
    assert_waits("gsutil-doc", &[0.5], &[0.5, 1.0, 2.0, 4.0, 8.0, 16.0], (30.0, 17), MaxAttempts);
    assert_waits("gsutil", &[0.5], &[2.0, 4.0, 8.0, 16.0], (32.0, 18), MaxAttempts);
    assert_waits("gsutil", &[0.0], &[1.5, 3.0, 6.0, 12.0, 24.0], (32.0, 17), MaxAttempts);
    assert_waits("gsutil-xml", &[0.5], &[0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0], (60.0, 16), MaxAttempts);
    let seconds = |draws: &[f64], name| refused(&named(name).unwrap(), draws, Duration::ZERO).end().as_secs();
    assert_eq!(seconds(&[0.5], "gsutil"), 606);
    assert_eq!(seconds(&[1.0], "gsutil-xml"), 1083);
}

#[test]
fn a_boto_file_sets_gsutils_numbers() {
    let config: BotoConfig = "[Boto]\nnum_retries = 3\nmax_retry_delay = 3\n".parse().unwrap();
    let of = |preset: Preset| waits(&refused(&preset, &[0.75], Duration::ZERO));
    assert_eq!(of(config.gsutil()), [2250 * MS, 3 * S]);
    assert_eq!(of(config.gsutil_xml()), [750 * MS, 1500 * MS, 3 * S]);
    assert_eq!(of(config.gsutil_doc()), [750 * MS, 1500 * MS, 2250 * MS]);
    let none: BotoConfig = "[Boto]\nnum_retries = 2\nmax_retry_delay = 0\n".parse().unwrap();
    assert_eq!(of(none.gsutil()), [S]);
}

#[test]
fn the_other_libraries() {
    use StopReason::{MaxAttempts, TotalTimeout};
    let plan = refused(&named("gax-node").unwrap(), &[0.5], Duration::ZERO);
    assert_eq!(waits(&plan)[..4], [50_000, 65_000, 84_500, 109_850].map(Duration::from_micros));
    let windows = [1.5, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0, 192.0, 225.0, 225.0];
    assert_waits("cpp", &[0.5], &windows, (0.0, 0), TotalTimeout);
    assert_waits("csharp", &[0.9], &[1.0, 2.0], (0.0, 0), MaxAttempts);
    assert_waits("php", &[0.5, 0.0, 0.999_999_9], &[1.5, 2.0, 5.0], (0.0, 0), MaxAttempts);
    assert_waits("ruby", &[0.5, 0.0, 0.75], &[1.0, 1.0, 5.0], (0.0, 0), MaxAttempts);
    assert_waits("rust", &[0.5], &[0.5, 1.0, 2.0, 4.0, 8.0, 16.0], (30.0, 8), TotalTimeout);
}

#[test]
fn each_retries_its_own_statuses() {
    for (name, statuses) in [
        ("storage", "408, 429, 500, 502, 503, 504"),
        ("docs", "408, 429, 5xx"),
        ("docs-legacy", "429, 5xx"),
        ("memorystore-doc", "429, 5xx"),
        ("memorystore", ""),
        ("python", "408, 429, 500, 502, 503, 504"),
        ("node", "408, 429, 500, 502, 503, 504"),
        ("java-storage", "408, 429, 500, 502, 503, 504"),
        ("php", "408, 429, 500, 502, 503, 504"),
        ("go", "408, 429, 5xx"),
        ("rust", "408, 429, 5xx"),
        ("gsutil", "429, 5xx"),
        ("gsutil-xml", "500, 502, 503, 504"),
    ] {
        assert_eq!(named(name).unwrap().statuses().to_string(), statuses, "{name}");
    }
    let reset = HttpFailure::Transport(TransportFailure::Reset);
    assert!(named("storage").unwrap().retries(reset));
    assert!(!named("docs-legacy").unwrap().retries(reset));
    assert!(!named("docs").unwrap().retries(HttpFailure::Status(404)));
    assert_eq!(
        named("storage").unwrap().retryable_codes().to_string(),
        "DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE"
    );
}

/// Returns whether the preset retries a request at all.
fn safe(name: &str, method: &str, target: &str, body: &str) -> bool {
    let preset = named(name).unwrap();
    let request = RequestFacts::new(method, target).with_body(body.as_bytes());
    preset.idempotency_table().classify(&request).permits(preset.strategy())
}

#[test]
fn libraries_differ_from_the_document_in_what_is_safe() {
    let object = "/storage/v1/b/b1/o/x";
    let versioned = "/storage/v1/b/b1/o/x?generation=1";
    let restore = "/storage/v1/b/b1/o/x/restore";
    let moved = "/storage/v1/b/b1/o/x/moveTo/o/y";
    let acl = "/storage/v1/b/b1/o/x/acl/allUsers";
    let key = "/storage/v1/projects/p/hmacKeys/k";
    let etag = r#"{"etag":"x"}"#;
    for (method, target, body, names) in [
        ("DELETE", object, "", "python cpp gsutil java-storage-uniform"),
        ("DELETE", versioned, "", "storage docs python python-doc java-storage go cpp-strict"),
        ("PATCH", object, etag, "storage docs python python-doc cpp-strict"),
        ("POST", restore, "", "java-storage cpp"),
        ("POST", moved, "", "go cpp"),
        ("DELETE", acl, "", "node node-upload cpp"),
        ("PUT", key, etag, "storage docs python-doc go cpp-strict"),
        ("PUT", "/storage/v1/b/b1/iam", etag, "storage python node java-storage go"),
    ] {
        for name in names.split(' ') {
            assert!(safe(name, method, target, body), "{name} {method} {target}");
        }
    }
    for (method, target, body, names) in [
        ("DELETE", object, "", "storage docs python-doc node java-storage go cpp-strict"),
        ("DELETE", versioned, "", "node"),
        ("PATCH", object, etag, "node java-storage go"),
        ("POST", restore, "", "storage go node"),
        ("POST", moved, "", "storage java-storage"),
        ("DELETE", acl, "", "storage go java-storage"),
        ("PUT", key, etag, "python node java-storage"),
    ] {
        for name in names.split(' ') {
            assert!(!safe(name, method, target, body), "{name} {method} {target}");
        }
    }
}

#[test]
fn pythons_conditional_policies_ask_for_their_own_condition() {
    let bucket = "/storage/v1/b/b1";
    for (name, query, body) in [
        ("python-default-retry-if-generation-specified", "?generation=1", ""),
        ("python-default-retry-if-generation-specified", "?ifGenerationMatch=1", ""),
        ("python-default-retry-if-metageneration-specified", "?ifMetagenerationMatch=1", ""),
        ("python-default-retry-if-etag-in-json", "", r#"{"etag":"x"}"#),
    ] {
        assert!(safe(name, "POST", &format!("{bucket}{query}"), body), "{name}");
        assert!(!safe(name, "POST", bucket, "{}"), "{name}");
        assert!(!safe(name, "POST", &format!("{bucket}?userProject=p"), ""), "{name}");
    }
    assert!(safe("python-default-retry", "POST", bucket, ""));
}

#[test]
fn every_preset_has_its_name_and_its_source() {
    let mut seen: Vec<&str> = names().collect();
    assert_eq!(seen.len(), 29);
    for preset in all() {
        assert_eq!(named(preset.name()).as_ref(), Ok(&preset));
        assert!(!preset.source().is_empty());
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 29);
    let error = named("gcloud").unwrap_err().to_string();
    assert!(error.starts_with("there is no preset \"gcloud\"; there are storage, docs, "), "{error}");
    let unknown = Idempotency::Unknown;
    assert!(!named("storage").unwrap().strategy().permits(&unknown));
}

/// The library's reading of requests by each of its strategies, read from its source.
#[test]
fn nodes_strategies_are_the_librarys() {
    use IdempotencyStrategy::{Always, Conditional, Never};
    let iam = "/storage/v1/b/x/iam";
    for (method, target, body, by_strategy) in [
        // Never repeated, not by RetryAlways either.
        ("POST", "/storage/v1/projects/p/hmacKeys?serviceAccountEmail=e", "", [false; 3]),
        ("POST", "/storage/v1/b/x/acl", "{}", [false; 3]),
        ("POST", "/storage/v1/b/x/defaultObjectAcl", "{}", [false; 3]),
        ("POST", "/storage/v1/b/x/notificationConfigs", "{}", [false; 3]),
        ("PUT", iam, "{}", [false; 3]),
        // Repeated without asking, by RetryNever too.
        ("PUT", iam, r#"{"etag":"e"}"#, [true; 3]),
        ("GET", "/storage/v1/b", "", [true; 3]),
        ("DELETE", "/storage/v1/b/x", "", [true; 3]),
        ("DELETE", "/storage/v1/b/x/acl/e", "", [true; 3]),
        ("POST", "/storage/v1/b/x/o/watch", "{}", [true; 3]),
        ("POST", "/storage/v1/channels/stop", "{}", [true; 3]),
        // As the strategy says.
        ("PUT", "/storage/v1/projects/p/hmacKeys/k", "{}", [false, true, false]),
        ("PATCH", "/storage/v1/b/x/o/y", "{}", [false, true, false]),
        ("PATCH", "/storage/v1/b/x/o/y?ifMetagenerationMatch=1", "{}", [true, true, false]),
        ("DELETE", "/storage/v1/b/x/o/y?ifGenerationMatch=1", "", [true, true, false]),
        ("DELETE", "/storage/v1/b/x/o/y?generation=1", "", [false, true, false]),
        ("POST", "/upload/storage/v1/b/x/o?ifGenerationMatch=0", "", [true, true, false]),
        ("POST", "/storage/v1/b/x/o/y/moveTo/o/z?generation=1", "", [false, true, false]),
    ] {
        for (strategy, expected) in [Conditional, Always, Never].into_iter().zip(by_strategy) {
            let preset = NodeRetryOptions::default().with_idempotency_strategy(strategy).preset();
            let request = RequestFacts::new(method, target).with_body(body.as_bytes());
            let permitted = preset.idempotency_table().classify(&request).permits(preset.strategy());
            assert_eq!(permitted, expected, "{method} {target} {body} {strategy}");
        }
    }
    let off = NodeRetryOptions::default().with_auto_retry(false).preset();
    assert_eq!(refused(&off, &[0.5], Duration::ZERO).attempts().len(), 1);
}

#[test]
fn nodes_upload_sessions_wait_up_to_twice_the_delay_in_whole_milliseconds() {
    let draws = [0.5, 0.000_4, 0.999_6];
    assert_waits("node-upload-session", &draws, &[1.5, 2.001, 7.998], (0.0, 0), StopReason::MaxAttempts);
}

#[test]
fn go_repeats_chunks_of_an_upload_and_other_uploads_with_one_condition_only() {
    let go = named("go").unwrap();
    for (target, expected) in [
        ("/upload/storage/v1/b/x/o?uploadType=resumable&upload_id=7", true),
        ("/upload/storage/v1/b/x/o?uploadType=resumable", false),
        ("/upload/storage/v1/b/x/o?uploadType=resumable&ifMetagenerationNotMatch=7", true),
        // An upload in one request has one condition only.
        ("/upload/storage/v1/b/x/o?uploadType=multipart&ifGenerationMatch=0", true),
        ("/upload/storage/v1/b/x/o?uploadType=multipart&ifMetagenerationNotMatch=7", false),
        ("/upload/storage/v1/b/x/o?uploadType=media&ifGenerationNotMatch=7", false),
        ("/upload/storage/v1/b/x/o?uploadType=multipart&ifMetagenerationMatch=7", false),
        ("/upload/storage/v1/b/x/o?uploadType=media", false),
    ] {
        let classification = go.idempotency_table().classify(&RequestFacts::new("POST", target));
        assert_eq!(classification.permits(go.strategy()), expected, "{target}");
    }
}

#[test]
fn memorystores_document_excludes_nothing() {
    let preset = named("memorystore-doc").unwrap();
    for method in ["POST", "PATCH", "GET", "DELETE"] {
        let request = RequestFacts::new(method, "/v1/projects/p/locations/l/instances?instanceId=i");
        assert!(preset.idempotency_table().classify(&request).permits(preset.strategy()), "{method}");
    }
    assert!(preset.note().unwrap().contains("may run twice"));
}

#[test]
fn other_delays_scale_what_is_added_at_random() {
    let quick = |name| named(name).unwrap().with_delay(10 * MS, 2.0, 640 * MS);
    let us = Duration::from_micros;
    let plan = refused(&quick("storage"), &[0.5], Duration::ZERO);
    assert_eq!(waits(&plan)[..4], [us(15_000), us(25_000), us(45_000), us(85_000)]);
    let plan = refused(&quick("node-upload"), &[0.000_4, 0.999_6, 0.5], Duration::ZERO);
    assert_eq!(waits(&plan), [us(10_000), us(30_000), us(45_000)]);
    // Its least wait of a second is ten milliseconds now.
    let plan = refused(&quick("gsutil"), &[0.0], Duration::ZERO);
    assert_eq!(waits(&plan)[..3], [us(15_000), us(30_000), us(60_000)]);
}

#[test]
fn without_a_deadline_the_number_of_attempts_ends_it() {
    let endless = named("storage").unwrap().without_deadline().with_max_attempts(30);
    let plan = refused(&endless, &[0.5], 100 * S);
    assert_eq!((plan.attempts().len(), plan.stop_reason()), (30, Some(StopReason::MaxAttempts)));
}

#[test]
fn attempts_have_the_timeouts_of_pythons_decorators() {
    use crate::Policy;
    use crate::strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Limits};
    let timeouts = |timeouts: AttemptTimeouts| -> Vec<u128> {
        let waits = Backoff::exponential(S, 1.0, S);
        let strategy =
            BackoffStrategy::new(waits, Limits::none().with_max_attempts(5)).with_attempt_timeouts(timeouts);
        let policy = Policy::from_strategy(&strategy, Code::DeadlineExceeded);
        let plan = AttemptPlan::new(&policy, &[], &mut ScriptedJitter::new([0.5]));
        plan.attempts().iter().map(|attempt| attempt.rpc_timeout().unwrap().as_millis()).collect()
    };
    assert_eq!(timeouts(AttemptTimeouts::constant(3 * S)), [3000; 5]);
    assert_eq!(timeouts(AttemptTimeouts::exponential(2 * S, 1.5, 6 * S)), [2000, 3000, 4500, 6000, 6000]);
    // The attempts end at 2, 6 (3 s + 3 s), 11.5 and the deadline, at which there is no fourth.
    assert_eq!(timeouts(AttemptTimeouts::exponential(2 * S, 1.5, 6 * S).within(10 * S)), [2000, 3000, 3000]);
    let slow = |after, timeouts: AttemptTimeouts| -> Vec<u128> {
        let waits = Backoff::exponential(S, 1.0, S);
        let strategy =
            BackoffStrategy::new(waits, Limits::none().with_max_attempts(4)).with_attempt_timeouts(timeouts);
        let policy = Policy::from_strategy(&strategy, Code::Unavailable);
        let responses = [Response::after(after, Code::Unavailable); 4];
        let plan = AttemptPlan::new(&policy, &responses, &mut ScriptedJitter::new([0.5]));
        plan.attempts().iter().map(|attempt| attempt.rpc_timeout().unwrap().as_millis()).collect()
    };
    assert_eq!(slow(2 * S, AttemptTimeouts::to_deadline(9500 * MS)), [9500, 6500, 3500, 9500]);
    // A call's own takes their place.
    let strategy =
        named("storage").unwrap().backoff_strategy().with_attempt_timeouts(AttemptTimeouts::constant(S));
    let policy = Policy::from_strategy(&strategy, Code::Unavailable);
    let first = |policy: Policy| policy.first_attempt().unwrap().rpc_timeout();
    assert_eq!(first(policy.clone()), Some(S));
    assert_eq!(first(policy.clone().with_attempt_timeout(5 * S)), Some(5 * S));
    assert_eq!(first(policy.without_rpc_timeouts()), Some(600 * S));
    assert_eq!(strategy.to_string().rsplit("; ").next(), Some("each attempt 1s"));
}
