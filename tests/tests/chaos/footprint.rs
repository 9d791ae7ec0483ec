//! Some hundred runs leave nothing behind: no task, no request that a server is busy with, and no memory.

use crate::chaos::grpc::{self, GrpcRun};
use crate::chaos::http;
use allocation_counter::measure;
use std::future::Future;
use tokio::runtime::Handle;
use tonic_gax_tests::{Stack, ms, virtual_time};

/// Enough for eleven bytes that each run leaves to be seen.
const RUNS: u64 = 400;

/// Runs these seeds: how many requests or connections are open then, and how many tasks alive.
async fn left_by<F: Future<Output = usize>>(seeds: u64, run: impl Fn(u64) -> F) -> (usize, usize) {
    let mut open = 0;
    for seed in 0..seeds {
        open += run(seed).await;
    }
    // The tasks of the last connections hear that nobody is there, and channels give up connections that stall.
    tokio::time::sleep(ms(25_000)).await;
    (open, Handle::current().metrics().num_alive_tasks())
}

fn leaves_nothing<F: Future<Output = usize>>(run: impl Fn(u64) -> F) {
    let runtime = virtual_time();
    // The first runs allocate everything that is made once and kept.
    assert_eq!(runtime.block_on(left_by(100, &run)), (0, 0));
    let left = measure(|| assert_eq!(runtime.block_on(left_by(RUNS, &run)), (0, 0)));
    // A runtime keeps room for as many tasks as there were at most.
    assert!(left.bytes_current.abs() < 4096, "{} bytes are left by {RUNS} runs", left.bytes_current);
}

#[test]
fn runs_of_the_generated_client() {
    leaves_nothing(|seed| async move { grpc::finish(&GrpcRun::draw(seed), Stack::Generated).await.open });
}

#[test]
fn runs_of_the_layer() {
    leaves_nothing(|seed| async move { grpc::finish(&GrpcRun::draw(seed), Stack::Layer).await.open });
}

#[test]
fn runs_over_http() {
    leaves_nothing(|seed| async move { http::finish(&http::draw(seed)).await.open });
}

#[test]
fn runs_over_http2() {
    leaves_nothing(|seed| async move { http::finish_http2(&http::draw(seed)).await.open });
}
