//! Batchers, as metrics and events have them.

use super::lines::Lines;
use gax_batching::{BatchCall, Batcher, Batching};
use gax_batching::{BatchingSettings, LimitExceeded};
use gax_driver::observe::{FacadeMetrics, MetricNames};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::sync::Arc;
use tonic::{Response, Status};
use tonic_gax_tests::{ms, virtual_time};
use tracing_subscriber::layer::SubscriberExt as _;

/// Words that are sent two at a time, ten milliseconds a batch.
fn words() -> Batching<&'static str, (), Status> {
    let call = BatchCall::rpc(|_: Vec<&'static str>| async {
        tokio::time::sleep(ms(10)).await;
        Ok(Response::new(()))
    });
    let settings = BatchingSettings::builder()
        .element_count_threshold(2)
        .request_byte_threshold(1000)
        .delay_threshold(ms(1000))
        .max_outstanding_elements(2)
        .limit_exceeded(LimitExceeded::Block);
    call.without_replies().settings(settings.build()).bytes(|word: &&str| word.len() as u64).named("words")
}

#[test]
fn metrics_of_batches() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        virtual_time().block_on(async {
            let observer = Arc::new(FacadeMetrics::new(MetricNames::new()));
            let batcher = Batcher::spawn(words().observer(observer)).unwrap();
            drop(batcher.add("one").await.unwrap());
            tokio::time::sleep(ms(5)).await;
            for word in ["three", "four"] {
                drop(batcher.add(word).await.unwrap());
            }
            batcher.close().await;
        });
    });
    let mut found: Vec<_> = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .filter_map(|(key, _, _, value)| {
            let DebugValue::Histogram(values) = value else { return None };
            let labels: Vec<_> = key.key().labels().map(|label| label.value().to_owned()).collect();
            let values: Vec<_> = values.iter().map(|value| value.into_inner()).collect();
            Some(format!("{} {} {values:?}", key.key().name(), labels.join(" ")))
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "gax.client.batch.elements words close [1.0]",
            "gax.client.batch.elements words held [2.0]",
            "gax.client.batch.size words close [4.0]",
            "gax.client.batch.size words held [8.0]",
            "gax.client.batch.throttled_time words close [0.01]",
            "gax.client.batch.wait words close [0.0]",
            "gax.client.batch.wait words held [0.005]",
        ]
    );
}

#[test]
fn the_last_handle_that_is_dropped_with_open_elements_is_an_event() {
    let lines = Lines::default();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(lines.clone()), || {
        virtual_time().block_on(async {
            let (batcher, driver) = Batcher::pair(words()).unwrap();
            let reply = batcher.add("one").await.unwrap();
            drop(batcher);
            driver.await;
            reply.await.unwrap();
            // Closed, or with nothing open, it is none.
            let (batcher, driver) = Batcher::pair(words()).unwrap();
            drop(batcher);
            driver.await;
            let batcher = Batcher::spawn(words()).unwrap();
            drop(batcher.add("two").await.unwrap());
            batcher.close().await;
        });
    });
    let lines = lines.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("the last handle of words was dropped") && lines[0].contains("elements=1"),
        "{lines:?}"
    );
}
