//! Panics of observers and listeners, which end here.

use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "tracing")]
use std::sync::atomic::{AtomicBool, Ordering};

/// Catches the panics of one observer or listener, so that they change nothing for calls and for other observers.
///
/// The panic hook prints each of them. With the feature `tracing`, the first one is an event as well.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PanicGuard {
    #[cfg(feature = "tracing")]
    is_recorded: AtomicBool,
}

impl PanicGuard {
    /// Runs the program's code. `None`: it panicked.
    #[inline]
    pub fn run<R>(&self, who: &'static str, code: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(code)) {
            Ok(result) => Some(result),
            Err(payload) => {
                let text = payload.downcast_ref::<&str>().copied();
                self.record(who, text.or(payload.downcast_ref::<String>().map(String::as_str)));
                ignore_panic(|| drop(payload));
                None
            }
        }
    }

    #[cfg(feature = "tracing")]
    #[cold]
    fn record(&self, who: &'static str, message: Option<&str>) {
        if !self.is_recorded.swap(true, Ordering::Relaxed) {
            let message = gax_text::Escaped(message.unwrap_or("without a message"));
            ignore_panic(|| {
                tracing::error!("{who} panicked: {message}; its later panics are not recorded");
            });
        }
    }

    #[cfg(not(feature = "tracing"))]
    #[cold]
    #[expect(clippy::unused_self, reason = "there is nothing to record it with")]
    fn record(&self, _: &'static str, _: Option<&str>) {}
}

/// Subscribers and payloads are the program's code as well, and may panic in their turn.
fn ignore_panic(code: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(code)) {
        std::mem::forget(payload);
    }
}
