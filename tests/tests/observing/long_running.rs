//! A long-running operation, as spans and metrics have it: the handle, its first call and its polls.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::lines::Lines;
use gax_client::longrunning::{self, Operation, PollingSettings, operation};
use gax_driver::observe::{FacadeMetrics, MetricNames, OperationObserver, TracingObserver};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::sync::Arc;
use tonic_gax::OperationOptions;
use tonic_gax_tests::virtual_time;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;

/// An operation that is done when it is asked for the third time.
fn run(observer: Arc<dyn OperationObserver>) {
    virtual_time().block_on(async {
        let mut polls = 0;
        let options = OperationOptions::new().without_jitter().observer(observer);
        let settings = PollingSettings::new().options(options);
        let export = longrunning::poll("operations/7", settings, move |name| {
            polls += 1;
            let done = polls == 3;
            let response = prost_types::Any::from_msg(&41_i64).unwrap();
            let result = done.then_some(operation::Result::Response(response));
            async move { Ok::<_, tonic::Status>(Operation { name, done, result, ..Operation::default() }) }
        });
        assert_eq!(export.typed::<i64, ()>().await.unwrap(), 41);
    });
}

#[test]
fn spans_of_a_long_running_operation() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    run(Arc::new(TracingObserver::new()));
    let name = "otel.name=\"long-running operation\" otel.kind=\"client\"";
    let attempt = |previous: u32| {
        format!(
            "attempt in operation: otel.name=\"Attempt.long-running operation\" otel.kind=\"client\" \
             previous-rpc-attempts={previous}i64 transparent-retry=false hedge=false"
        )
    };
    let operation = format!("operation in nothing: {name}");
    let [ok, ends] = ["attempt: rpc.response.status_code=\"OK\"", "attempt closes"].map(str::to_owned);
    let over = |attempts: u32| {
        let attempts = format!("operation: attempts={attempts}i64");
        ["operation: rpc.response.status_code=\"OK\"".to_owned(), attempts, "operation closes".to_owned()]
    };
    let asked_again = |attempt: u32, delay: &str| {
        format!("DEBUG in operation: message=not done yet attempt={attempt}i64 code=\"OK\" delay={delay}")
    };
    // The closure is called in an operation of its own each time.
    let inner = format!("operation in attempt: {name}");
    let call = || [inner.clone(), attempt(0), ok.clone(), ends.clone()].into_iter().chain(over(1));
    let mut expected = vec![operation.clone()];
    for (poll, delay) in [(1, "5 s"), (2, "7.5 s")] {
        expected.push(attempt(poll - 1));
        expected.extend(call());
        expected.extend([asked_again(poll, delay), ok.clone(), ends.clone()]);
    }
    expected.push(attempt(2));
    expected.extend(call());
    expected.extend([ok.clone(), ends.clone()]);
    expected.extend(over(3));
    assert_eq!(lines.take(), expected);
}

#[test]
fn metrics_of_a_long_running_operation() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || run(Arc::new(FacadeMetrics::new(MetricNames::new()))));
    let mut found: Vec<_> = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            let labels: Vec<_> = key.key().labels().map(|label| label.value().to_owned()).collect();
            let value = match value {
                DebugValue::Histogram(values) => {
                    format!("{:?}", values.iter().map(|value| value.into_inner()).collect::<Vec<_>>())
                }
                DebugValue::Counter(count) => count.to_string(),
                DebugValue::Gauge(value) => value.to_string(),
            };
            format!("{} {} {value}", key.key().name(), labels.join(" "))
        })
        .collect();
    found.sort();
    let expected = [
        "gax.client.attempt.duration long-running operation OK [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]",
        "gax.client.attempt.started long-running operation 6",
        "gax.client.call.duration long-running operation OK [0.0, 0.0, 0.0, 12.5]",
        "gax.client.call.retries long-running operation [2.0]",
        "gax.client.call.retry_delay long-running operation [12.5]",
    ];
    assert_eq!(found, expected);
}
