//! Runtimes, and the core that a bench stays on.

use tokio::runtime::{Builder, Runtime};

/// A runtime in this thread.
///
/// # Panics
///
/// It can't be made.
#[must_use]
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}

/// A runtime whose clock is paused, so that nobody waits, and that asks the kernel for nothing. It makes tokio's clock slower for all of the
/// process.
///
/// # Panics
///
/// It can't be made.
#[must_use]
pub fn paused() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime can be made")
}

/// Keeps this thread, and all that it starts from now on, on one core, where the system has that (Linux).
///
/// A thread that wakes another on a second core pays for that in its own time, several times what a small request over the loopback
/// interface costs otherwise. Which thread is where differs from run to run, and would decide what is measured.
pub fn stay_on_one_core() {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(all) = sched_getaffinity(None) else { return };
        let mut one = CpuSet::new();
        if let Some(first) = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)) {
            one.set(first);
            // Where that isn't allowed, times scatter.
            let _ = sched_setaffinity(None, &one);
        }
    }
}
