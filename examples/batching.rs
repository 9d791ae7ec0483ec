//! Log entries of many tasks, written together: one call for each batch, and a reply for each entry.
//!
//! ```text
//! cargo run --example batching
//! ```

use gax_batching::{BatchCall, Batcher};
use gax_batching::{BatchingSettings, LimitExceeded};
use gax_driver::Retryer;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tonic::Status;
use tonic_gax::{Code, RetrySettings};

/// A log server: its first call fails, and it rejects empty lines.
#[derive(Default)]
struct LogServer {
    calls: AtomicU64,
    lines: AtomicU64,
}

impl LogServer {
    /// The number of each line, or why it was rejected.
    fn write(&self, lines: &[String]) -> Result<Vec<Result<u64, Status>>, Status> {
        if self.calls.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(Status::unavailable("the log is being opened"));
        }
        let write = |line: &String| match &**line {
            "" => Err(Status::invalid_argument("the line is empty")),
            _ => Ok(self.lines.fetch_add(1, Ordering::Relaxed)),
        };
        Ok(lines.iter().map(write).collect())
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let server = Arc::new(LogServer::default());
    let settings =
        RetrySettings::builder().initial_retry_delay(Duration::from_millis(5)).max_attempts(3).build()?;
    let retryer = Retryer::new(&settings, [Code::Unavailable]).named("write log");
    let call = BatchCall::closure(retryer, {
        let server = Arc::clone(&server);
        move |_, lines: Arc<[String]>| {
            let server = Arc::clone(&server);
            async move { server.write(&lines) }
        }
    });

    // A batch has up to 100 lines, no line waits for more than 20 ms, and at most 500 lines are without a reply.
    let batching = BatchingSettings::builder()
        .element_count_threshold(100)
        .request_byte_threshold(1 << 20)
        .delay_threshold(Duration::from_millis(20))
        .max_outstanding_elements(500)
        .limit_exceeded(LimitExceeded::Block);
    let batching = call.split(|results, _| results).settings(batching.build()).named("log");
    let batcher = Batcher::spawn(batching.bytes(|line: &String| line.len() as u64))?;

    let tasks = (0..10).map(|task| {
        let batcher = batcher.clone();
        tokio::spawn(async move {
            let mut replies = Vec::new();
            for line in 0..25 {
                replies.push(batcher.add(format!("task {task}, line {line}")).await);
            }
            replies
        })
    });
    let mut last = None;
    for task in tasks.collect::<Vec<_>>() {
        for reply in task.await? {
            last = Some(reply?.await?);
        }
    }
    if let Some(report) = last.as_ref().and_then(|last| last.report()) {
        println!("the last line's batch:\n{report}");
    }

    // A single entry can fail although its batch succeeds.
    let refused = batcher.add(String::new()).await?;
    let totals = batcher.close().await;
    if let Err(error) = refused.await {
        println!("an empty line: {error}");
    }
    println!("{totals:?}");
    assert_eq!((totals.elements(), totals.failed_elements(), totals.failed_batches()), (251, 1, 0));
    Ok(())
}
