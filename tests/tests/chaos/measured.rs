//! What is measured is what happened: the metrics count the attempts that were made, which are those that arrived.

use crate::grpc::{Run, Stack};
use crate::virtual_time;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use tonic_gax_tests::chaos::{FinishedCall, SeedOutcome, Seeds};

/// The sum of a counter over all its labels, which begins anew.
fn take(recorder: &DebuggingRecorder, name: &str) -> usize {
    let metrics = recorder.snapshotter().snapshot().into_vec().into_iter();
    let of_name = metrics.filter(|(key, ..)| key.key().name() == name);
    let counts = of_name.map(|(.., value)| if let DebugValue::Counter(count) = value { count } else { 0 });
    usize::try_from(counts.sum::<u64>()).unwrap()
}

fn outcome(recorder: &DebuggingRecorder, seed: u64) -> SeedOutcome {
    let run = Run::draw(seed);
    let (calls, _) = virtual_time().block_on(run.finish(Stack::Generated));
    let sum = |of: &dyn Fn(&FinishedCall) -> usize| calls.iter().map(of).sum::<usize>();
    let attempts = sum(&|call| call.witnessed.iter().map(|one| one.attempts.len()).sum());
    let counted = take(recorder, "grpc.client.attempt.started");
    let mut outcome = SeedOutcome::default();
    if counted != attempts {
        outcome.broken.push(format!("{counted} attempts were counted in place of {attempts}"));
    }
    outcome.story = calls.iter().map(ToString::to_string).collect();
    outcome
}

#[test]
fn attempts_are_counted() {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || {
        Seeds::of("attempts_are_counted", 200).run(|seed| outcome(&recorder, seed));
    });
}
