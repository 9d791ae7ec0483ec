//! The settings, which are replaced all the time.

use crate::clock::ms;
use gax_retry::{Code, Hedging, RetrySettings};
use gax_table::live::SettingsHandle;
use gax_table::{Dialect, RetryTable};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The service that HTTP requests run by.
pub(super) const HTTP: &str = "soak";

/// The service that closures run by.
pub(super) const CLOSURES: &str = "closures";

/// Short delays and timeouts, so that nothing is under way for long.
fn settings(attempts: u32) -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(ms(2))
        .retry_delay_multiplier(1.5)
        .max_retry_delay(ms(20))
        .initial_rpc_timeout(ms(300))
        .total_timeout(ms(1500))
        .max_attempts(attempts)
        .build()
        .unwrap()
}

/// One table after the other: with more attempts or fewer, with hedges and without.
pub(super) fn table(turn: u64) -> RetryTable {
    let attempts = if turn.is_multiple_of(3) { 2 } else { 4 };
    let codes = [Code::Unavailable, Code::DeadlineExceeded];
    let table = RetryTable::builder()
        .service("test.talk.v1.Talk", settings(attempts), codes)
        .service(HTTP, settings(attempts), codes)
        .service(CLOSURES, settings(attempts), codes)
        .method("/test.talk.v1.Talk/Ask", settings(attempts), codes);
    let hedging = Hedging::new(3).delay(ms(5)).non_fatal_codes(Code::Unavailable).allow_non_idempotent();
    let table = if turn.is_multiple_of(2) { table.hedged(hedging) } else { table };
    table.build().unwrap()
}

/// Replaces the table until somebody says that it is enough; returns how many tables were taken and refused.
pub(super) async fn replace(handle: SettingsHandle, is_over: Arc<AtomicBool>) -> (u64, u64) {
    let (mut taken, mut refused) = (0, 0);
    while !is_over.load(Ordering::SeqCst) {
        tokio::time::sleep(ms(50)).await;
        if (taken + refused) % 10 == 9 {
            let other = RetryTable::reader().dialect(Dialect::GaxJava).read(br#"{"methodConfig": []}"#);
            handle.replace(other.unwrap()).unwrap_err();
            refused += 1;
        } else {
            handle.replace(table(taken)).unwrap();
            taken += 1;
        }
    }
    (taken, refused)
}
