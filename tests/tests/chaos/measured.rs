//! Metrics count the attempts that arrived at the server, no more and no fewer.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use crate::chaos::grpc::{GrpcRun, finish};
use gax_retry::{Attempt, Compatibility};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::collections::{BTreeSet, HashMap};
use tonic_gax_tests::chaos::{FinishedCall, FinishedRun, SeedOutcome, Seeds, WitnessedAttempt};
use tonic_gax_tests::{Stack, virtual_time};

/// The sum of each counter and histogram over all its labels; they begin anew.
fn take(recorder: &DebuggingRecorder) -> HashMap<String, usize> {
    let mut sums = HashMap::new();
    for (key, _, _, value) in recorder.snapshotter().snapshot().into_vec() {
        let sum = match value {
            DebugValue::Counter(count) => usize::try_from(count).unwrap(),
            DebugValue::Gauge(_) => continue,
            DebugValue::Histogram(values) => whole(values.into_iter().map(f64::from).sum()),
        };
        *sums.entry(key.key().name().to_owned()).or_default() += sum;
    }
    sums
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is compared are counts")]
fn whole(sum: f64) -> usize {
    sum.round() as usize
}

/// Returns whether the attempt's requests have left for certain: one that is dropped as it starts may not have.
fn has_left(attempt: &WitnessedAttempt) -> bool {
    let ended = attempt.ends.first().map(Attempt::end).unwrap_or_default();
    attempt.sent.iter().all(|sent| *sent < ended)
}

fn broken(run: &GrpcRun, finished: &FinishedRun, sums: &HashMap<String, usize>) -> Vec<String> {
    let measured = |name: &str| sums.get(name).copied().unwrap_or_default();
    let calls = &finished.calls;
    let operations = || calls.iter().flat_map(|call| &call.witnessed);
    let attempts = || operations().flat_map(|operation| &operation.attempts);
    let (started, sent) =
        (measured("grpc.client.attempt.started"), measured("grpc.client.call.transparent_retries"));
    let mut broken = Vec::new();
    let mut hold = |holds: bool, sentence: String| broken.extend((!holds).then_some(sentence));
    let made = attempts().count();
    hold(started == made, format!("{started} attempts were counted in place of {made}"));
    let arrived: usize = calls.iter().map(|call| call.seen.len()).sum();
    // A transparent retry is a request more, and one of a call that is not over yet is not counted.
    let resent: usize = operations().map(|operation| operation.transparent_retries as usize).sum();
    hold(sent <= resent, format!("{sent} transparent retries were counted of {resent}"));
    hold(
        arrived <= started + resent,
        format!("{arrived} requests arrived of {started} attempts and {resent} transparent retries"),
    );
    if run.is_calm() {
        let least: usize =
            attempts().filter(|attempt| has_left(attempt)).map(|attempt| attempt.sent.len()).sum();
        hold(arrived >= least, format!("{arrived} requests arrived of {least} that were sent"));
        let unsent = attempts().filter(|attempt| attempt.sent.is_empty() || !has_left(attempt)).count();
        hold(
            started <= arrived + unsent,
            format!(
                "{started} attempts were counted, but {arrived} requests arrived and {unsent} attempts may not have left"
            ),
        );
        // Each but the first carries its number, also when it is sent again.
        let of_call = |call: &FinishedCall| {
            let later = call.seen.iter().filter(|seen| seen.previous.is_some());
            later.map(|seen| seen.attempt).collect::<BTreeSet<u32>>().len()
        };
        let later: usize = calls.iter().map(of_call).sum();
        let more = measured("grpc.client.call.retries") + measured("grpc.client.call.hedges");
        let may_be_more = run.policy.compatibility == Compatibility::GaxJava;
        hold(
            may_be_more || (later..=later + unsent).contains(&more),
            format!("{more} retries and hedges were counted, and the server saw {later}"),
        );
    }
    broken
}

fn outcome(recorder: &DebuggingRecorder, seed: u64) -> SeedOutcome {
    let run = GrpcRun::draw(seed);
    let finished = virtual_time().block_on(finish(&run, Stack::Generated));
    let mut outcome = SeedOutcome::of(format!("{:?}\n{:#?}\n", run.policy, run.server));
    outcome.story.extend(finished.calls.iter().map(ToString::to_string));
    outcome.broken = broken(&run, &finished, &take(recorder));
    outcome
}

#[test]
fn what_is_counted_arrived() {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || {
        Seeds::of("what_is_counted_arrived", 400).run(|seed| outcome(&recorder, seed));
    });
}
