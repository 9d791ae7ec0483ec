//! A server that takes batches of words.

use crate::{BatchCall, Batching};
use gax_driver::__private::Clock;
use gax_driver::Retryer;
use gax_retry::batching::BatchingSettingsBuilder;
use gax_retry::{BatchingSettings, Code, RetrySettings};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tonic::Status;

pub(super) const MS: Duration = Duration::from_millis(1);

/// Batches of that many words at most, sent by nothing else than their number and by endings.
pub(super) fn of_elements(elements: u64) -> BatchingSettingsBuilder {
    BatchingSettings::builder()
        .element_count_threshold(elements)
        .request_byte_threshold(u64::MAX)
        .delay_threshold(Duration::MAX)
}

/// Replies with the length of each word after 10 ms. A batch with the word `fail` fails, one with `panic` panics, one with `busy` fails
/// at its first attempt, and one with `hang` hangs until somebody [continues](Self::go_on).
#[derive(Clone)]
pub(super) struct Server {
    clock: Clock,
    seen: Arc<Mutex<Vec<String>>>,
    hanging: Arc<Semaphore>,
}

impl Server {
    pub(super) fn new() -> Self {
        Self { clock: Clock::start(), seen: Arc::default(), hanging: Arc::new(Semaphore::new(0)) }
    }

    /// The batches that it has seen since this was last asked, with the times at which they came.
    pub(super) fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    pub(super) fn go_on(&self) {
        self.hanging.close();
    }

    /// Batches that are sent to it; up to three attempts each.
    pub(super) fn batching(
        &self,
        settings: BatchingSettingsBuilder,
    ) -> Batching<&'static str, usize, Status> {
        self.call().replies_in_order().settings(settings.build())
    }

    pub(super) fn call(&self) -> BatchCall<&'static str, Vec<usize>, Status> {
        let settings = RetrySettings::builder().max_attempts(3).initial_retry_delay(MS).jittered(false);
        let retryer = Retryer::new(&settings.build().unwrap(), [Code::Unavailable]).named("words");
        let server = self.clone();
        BatchCall::closure(retryer, move |attempt, words: Arc<[&'static str]>| {
            let server = server.clone();
            let at = server.clock.elapsed().as_millis();
            server.seen.lock().unwrap().push(format!("{at} {}", words.join(" ")));
            assert!(!words.contains(&"panic at once"), "at once");
            async move {
                sleep(10 * MS).await;
                let has = |word| words.contains(&word);
                if has("hang") {
                    drop(server.hanging.acquire().await);
                }
                assert!(!has("panic"), "later");
                if has("fail") {
                    return Err(Status::data_loss("broken"));
                }
                if has("busy") && attempt.number() == 1 {
                    return Err(Status::unavailable("busy"));
                }
                Ok(words.iter().map(|word| word.len()).collect())
            }
        })
    }
}
