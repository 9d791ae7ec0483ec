//! Frequent questions, and what the documentation says.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, RetrySettings, StopReason};
use std::collections::BTreeSet;
use tonic_gax::OperationReport;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{Reply, Script, Setup, Stack, VirtualServer, delays, ms, report_of, row, rows};

/// Waits of 100, 200, 400, 500, 500 ... ms before jitter; 5 s in all.
fn jittered() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(ms(100))
        .retry_delay_multiplier(2.0)
        .max_retry_delay(ms(500))
        .total_timeout(ms(5000))
        .build()
        .unwrap()
}

/// An operation against a server that is down.
async fn outage(stack: Stack, setup: &Setup) -> (OperationReport, usize) {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let mut caller = stack.caller(server.channel(), setup);
    let report = report_of(&caller.list(ListAssetsRequest::default()).await);
    (report, server.seen().len())
}

#[tokio::test(start_paused = true)]
async fn the_number_of_attempts_is_not_fixed() {
    let mut counts = BTreeSet::new();
    let mut low_half = [0; 8];
    for seed in 0..40 {
        let setup = Setup::new(jittered()).seeded(seed);
        let (report, seen) = outage(Stack::Generated, &setup).await;
        assert_eq!(report.attempts().len(), seen);
        assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
        counts.insert(seen);

        let caps = [100, 200, 400].into_iter().chain(std::iter::repeat(500));
        for (index, (attempt, cap)) in report.attempts().iter().skip(1).zip(caps).enumerate() {
            assert!(attempt.delay() >= ms(1) && attempt.delay() <= ms(cap), "{report}");
            if let Some(count) = low_half.get_mut(index) {
                *count += i32::from(attempt.delay() <= ms(cap / 2));
            }
        }
        assert!(report.elapsed() < ms(5000), "{report}");
        assert!(report.elapsed() >= ms(4500), "no wait is longer than 500 ms: {report}");
    }
    assert!(counts.len() > 3, "{counts:?}");
    // With waits of 250 ms on average after the first three: 350 ms and 4650 / 250 more.
    assert!(counts.contains(&21) || counts.contains(&22) || counts.contains(&23), "{counts:?}");
    // Every wait is drawn anew, from both halves of its range.
    assert!(low_half.iter().all(|count| (8..=32).contains(count)), "{low_half:?}");
}

#[tokio::test(start_paused = true)]
async fn a_seed_repeats_a_run_in_every_stack() {
    let setup = Setup::new(jittered()).seeded(7);
    let (first, _) = outage(Stack::Generated, &setup).await;
    for stack in Stack::ALL {
        let (again, _) = outage(stack, &setup).await;
        assert_eq!(again, first, "{stack:?}");
    }
    let other = setup.seeded(8);
    assert_ne!(outage(Stack::Layer, &other).await.0, first);
}

#[tokio::test(start_paused = true)]
async fn an_error_may_come_before_the_total_timeout() {
    let settings = delays(2000, 2.0).total_timeout(ms(5000)).build().unwrap();
    for stack in Stack::ALL {
        let (report, seen) = outage(stack, &Setup::new(settings.clone())).await;
        let down = Code::Unavailable;
        assert_eq!(rows(&report), [row(1, 5000, 0, 0, 0, down), row(2, 3000, 2000, 2000, 2000, down)]);
        assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout), "{stack:?}");
        let refused = report.not_attempted().unwrap();
        assert_eq!((refused.attempt(), refused.delay()), (3, ms(4000)));
        assert_eq!(seen, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn longer_delays_spare_the_quota() {
    let steady = |initial, multiplier| {
        delays(initial, multiplier).max_retry_delay(ms(10_000)).total_timeout(ms(10_000)).build().unwrap()
    };
    // 0, 100, 230, 399 ... ms: thirteen waits of 100 x 1.3^n fit into ten seconds.
    assert_eq!(outage(Stack::Layer, &Setup::new(steady(100, 1.3))).await.1, 14);
    // 0, 1000, 3000, 7000 ms.
    assert_eq!(outage(Stack::Layer, &Setup::new(steady(1000, 2.0))).await.1, 4);
}
