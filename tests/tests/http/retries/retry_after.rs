//! `Retry-After`: who reads it, how long it may be, and that clients which get one moment don't come back together.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{HttpRetryLayer, presets};
use http_body_util::Full;
use std::time::Duration;
use tonic_gax::{Code, Compatibility, OperationOptions, OperationReport, RetrySettings, StopReason};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, delays, ms};
use tower_service::Service as _;

/// 100 ms between attempts, ten seconds in all.
fn settings() -> RetrySettings {
    delays(100, None).total_timeout(ms(10_000)).build().unwrap()
}

/// One that all presets call safe to retry.
fn request() -> http::Request<Full<Bytes>> {
    let uri = "http://server/storage/v1/b/b1?ifMetagenerationMatch=2&generation=1";
    http::Request::put(uri).body(Full::new(Bytes::from_static(br#"{"etag":"x"}"#))).unwrap()
}

fn asking(value: &str) -> HttpAct {
    HttpAct::status(503).with_header("retry-after", value)
}

/// When the requests came of an operation whose first attempt gets that reply, and why it ended.
async fn sent(layer: &HttpRetryLayer, act: HttpAct) -> (Vec<u128>, Option<StopReason>) {
    let (server, connector) = FaultServer::in_memory(HttpScript::new([act]));
    let response = layer.layer(FaultServer::full_client(connector)).call(request()).await.unwrap();
    let report = response.extensions().get::<OperationReport>().unwrap();
    (server.times(), report.stop_reason())
}

#[tokio::test(start_paused = true)]
async fn without_a_total_a_day_is_too_long() {
    let unlimited = settings().to_builder().total_timeout(None).max_attempts(3).build().unwrap();
    let patient = unlimited.to_builder().max_server_delay(Duration::from_secs(86_400)).build().unwrap();
    let with = |settings: &RetrySettings| {
        HttpRetryLayer::new(settings, [Code::Unavailable]).options(OperationOptions::new().reports(true))
    };
    let too_long = (vec![0], Some(StopReason::ServerDelayExceedsTotalTimeout));
    assert_eq!(sent(&with(&unlimited), asking("86400")).await, too_long);
    assert_eq!(sent(&with(&unlimited), asking("60")).await, (vec![0, 60_100], None));
    assert_eq!(sent(&with(&patient), asking("86400")).await, (vec![0, 86_400_100], None));

    // Presets without a limit by time.
    for preset in [presets::php(), presets::csharp(), presets::go()] {
        let preset = preset.with_server_delays(true);
        assert_eq!(
            sent(
                &HttpRetryLayer::preset(&preset).options(OperationOptions::new().reports(true)),
                asking("86400")
            )
            .await,
            too_long
        );
        let patient = preset.with_max_server_delay(Duration::from_secs(86_400));
        let (times, reason) = sent(
            &HttpRetryLayer::preset(&patient).options(OperationOptions::new().reports(true)),
            asking("86400"),
        )
        .await;
        assert!(reason.is_none() && times[1] >= 86_400_000, "{times:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn documents_heed_it_and_libraries_do_not() {
    for preset in presets::all().filter(|preset| preset.statuses().contains(503)) {
        let is_document =
            ["storage", "docs", "docs-32", "docs-legacy", "memorystore-doc"].contains(&preset.name());
        let (times, _) = sent(
            &HttpRetryLayer::preset(&preset).options(OperationOptions::new().reports(true).jitter_seed(1)),
            asking("40"),
        )
        .await;
        assert_eq!(times[1] >= 40_000, is_document, "{}: {times:?}", preset.name());
        assert_eq!(preset.applies_server_delays(), is_document, "{}", preset.name());
        let switched = HttpRetryLayer::preset(&preset)
            .options(OperationOptions::new().reports(true).jitter_seed(1).server_delays(!is_document));
        let (times, _) = sent(&switched, asking("40")).await;
        assert_eq!(
            times.get(1).is_some_and(|time| *time < 40_000),
            is_document,
            "{}: {times:?}",
            preset.name()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn neither_gax_java_nor_grpc_heed_it_unless_it_is_switched_on() {
    for (compatibility, second) in
        [(Compatibility::Documented, 9100), (Compatibility::GaxJava, 100), (Compatibility::Grpc, 100)]
    {
        let layer = HttpRetryLayer::new(&settings(), [Code::Unavailable])
            .options(OperationOptions::new().reports(true).compatibility(compatibility));
        assert_eq!(sent(&layer, asking("9")).await.0, [0, second], "{compatibility}");
        assert_eq!(
            sent(&layer.options(OperationOptions::new().server_delays(true)), asking("9")).await.0,
            [0, 9100],
            "{compatibility}"
        );
    }
}

/// Five thousand operations get one moment at once: they come back spread over half of the minute that
/// they are to wait.
#[tokio::test(start_paused = true)]
async fn a_herd_that_gets_one_moment_comes_back_apart() {
    const CLIENTS: usize = 5000;
    let settings = settings().to_builder().jittered(true).initial_retry_delay(ms(10_000));
    let settings = settings.total_timeout(ms(120_000)).build().unwrap();
    let date = asking("Sat, 21 Nov 2026 09:01:00 GMT").with_header("date", "Sat, 21 Nov 2026 09:00:00 GMT");
    for act in [date, asking("60")] {
        let (server, connector) = FaultServer::in_memory(HttpScript::new(vec![act.clone(); CLIENTS]));
        let layer = HttpRetryLayer::new(&settings, [Code::Unavailable])
            .options(OperationOptions::new().reports(true).jitter_seed(7));
        let service = layer.layer(FaultServer::full_client(connector));
        let calls: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let mut service = service.clone();
                tokio::spawn(async move { service.call(request()).await.unwrap().status() })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap(), 200);
        }
        let mut times = server.times();
        times.sort_unstable();
        let (asked, back) = times.split_at(CLIENTS);
        assert_eq!((asked.len(), back.len()), (CLIENTS, CLIENTS));
        assert_eq!(*asked.last().unwrap(), 0, "{act:?}");
        assert!(
            back[0] >= 60_000 && *back.last().unwrap() <= 90_001,
            "{act:?}: {} {}",
            back[0],
            back[CLIENTS - 1]
        );
        for from in (60_000_u128..90_000).step_by(3000) {
            let count = back.iter().filter(|time| (from..from + 3000).contains(time)).count();
            assert!((400..600).contains(&count), "{act:?}: {count} from {from} ms");
        }
    }
}
