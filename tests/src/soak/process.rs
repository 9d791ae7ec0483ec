//! The memory and the tasks of the process.

/// The memory that the process holds, in bytes, where the system says it.
pub(super) fn memory() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<u64>().ok()? * PAGE)
}

/// The tasks of the runtime that this is called in.
pub(super) fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}
