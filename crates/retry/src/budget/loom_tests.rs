//! All orders in which threads can use a budget: `RUSTFLAGS='--cfg loom' cargo test -p gax-retry budget`.

use super::tokens::Tokens;
use super::window::Window;
use super::word::Word;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::time::Duration;

impl Word for AtomicU64 {
    fn new(value: u64) -> Self {
        AtomicU64::new(value)
    }

    fn load(&self) -> u64 {
        AtomicU64::load(self, Ordering::Relaxed)
    }

    fn replace(&self, current: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange_weak(current, new, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
    }
}

#[test]
fn budget_tokens_are_never_lost() {
    loom::model(|| {
        let tokens = Arc::new(Tokens::<AtomicU64>::new(4.0, 0.5));
        let other = Arc::clone(&tokens);
        let thread = thread::spawn(move || {
            other.failed();
            other.succeeded();
        });
        tokens.failed();
        assert!(tokens.left() >= 2000);
        thread.join().unwrap();
        assert_eq!(tokens.left(), 2500);
    });
}

#[test]
fn budget_of_one_retry_gives_it_to_one_thread() {
    loom::model(|| {
        let window = Arc::new(Window::<AtomicU64, 2>::new(1.0, 0));
        let now = Duration::from_secs(7);
        window.succeeded(now);
        let other = Arc::clone(&window);
        let thread = thread::spawn(move || other.take(now));
        let own = window.take(now);
        assert_ne!(own, thread.join().unwrap());
        assert!(!window.allows(now));
    });
}

#[test]
fn budget_keeps_what_a_success_brings_beside_a_retry() {
    loom::model(|| {
        let window = Arc::new(Window::<AtomicU64, 2>::new(0.5, 0));
        let now = Duration::from_secs(1);
        window.succeeded(now);
        window.succeeded(now);
        let other = Arc::clone(&window);
        let thread = thread::spawn(move || other.succeeded(now));
        assert!(window.take(now));
        thread.join().unwrap();
        window.succeeded(now);
        assert!(window.take(now) && !window.take(now));
    });
}
