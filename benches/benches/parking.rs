//! Tasks that wait.

use allocation_counter::measure;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tonic_gax_benches::measure::{Cost, Stopwatch};

/// Begins so many tasks, which have run once when it returns: the tasks, the bytes that each holds, and the time that all took.
pub(crate) fn park<T: Send + 'static>(
    runtime: &Runtime,
    count: u32,
    mut start: impl FnMut() -> JoinHandle<T>,
) -> (Vec<JoinHandle<T>>, f64, Duration) {
    let mut tasks = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    let watch = Stopwatch::start(Cost::Processor);
    let info = measure(|| {
        runtime.block_on(async {
            tasks.extend((0..count).map(|_| start()));
            // Every task has run by now: the runtime is fair, and has one thread.
            for _ in 0..count {
                tokio::task::yield_now().await;
            }
        });
    });
    let bytes = f64::from(u32::try_from(info.bytes_current).unwrap_or(u32::MAX));
    (tasks, bytes / f64::from(count), watch.elapsed())
}
