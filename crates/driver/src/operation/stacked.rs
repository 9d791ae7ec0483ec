//! Retries inside the attempts of another operation.

use std::cell::Cell;

thread_local! {
    /// How many attempts after their operations' first ones this thread has sent.
    static RETRIES: Cell<u32> = const { Cell::new(0) };
}

/// An attempt is sent that is not its operation's first.
pub(super) fn count() {
    RETRIES.with(|retries| retries.set(retries.get().wrapping_add(1)));
}

/// Does a part of an attempt. Returns with its result how many attempts of operations inside it were retries.
#[inline]
pub(super) fn counted<T>(part: impl FnOnce() -> T) -> (T, u32) {
    let before = RETRIES.get();
    let result = part();
    (result, RETRIES.get().wrapping_sub(before))
}

/// Does work whose retries are none of the attempt that it is done for, such as fetching credentials.
#[cfg(feature = "credentials")]
pub(crate) fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    let before = RETRIES.get();
    let result = work();
    RETRIES.set(before);
    result
}
