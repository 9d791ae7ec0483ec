//! What an operation has behind it.

/// Kept for every call in flight, so it is small. The unit of time is that of the rules that write it:
/// nanoseconds ([`Documented`](super::documented::Documented)) or milliseconds
/// ([`GaxJava`](super::gax_java::GaxJava), the bits of an `i64`).
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// Attempts started so far.
    pub(super) attempts: u32,
    /// How many of them no longer count, since an attempt after them delivered messages.
    pub(super) forgiven: u32,
    /// A delay before jitter.
    pub(super) delay: u64,
    /// An RPC timeout.
    pub(super) timeout: u64,
}

impl Progress {
    /// Attempts that count towards `max_attempts`.
    pub(super) fn counted(&self) -> u32 {
        self.attempts.saturating_sub(self.forgiven)
    }

    /// Counts from the attempt that was started last, as if it had been the first.
    pub(super) fn forgive(&mut self) {
        self.forgiven = self.attempts.saturating_sub(1);
    }
}
