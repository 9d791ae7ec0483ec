//! The core that a bench stays on.

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
