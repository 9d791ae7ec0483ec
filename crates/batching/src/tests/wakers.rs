//! Callers that are woken: the books are done by then.

use super::server::{Server, of_elements};
use crate::{Batcher, BatchingRules, ElementFuture};
use gax_retry::LimitExceeded;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake};
use tonic::Status;

/// A callback: whoever wakes it adds another element in that moment.
struct AddsAgain {
    batcher: Batcher<&'static str, usize, Status>,
    added: Mutex<Option<ElementFuture<usize, Status>>>,
}

impl Wake for AddsAgain {
    fn wake(self: Arc<Self>) {
        // The only place is free again, and nobody has the lock.
        *self.added.lock().unwrap() = Some(self.batcher.try_add("again").unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_callback_that_adds_again_finds_room_and_no_lock() {
    let server = Server::new();
    let settings = of_elements(1).max_outstanding_elements(1).limit_exceeded(LimitExceeded::ThrowException);
    let batcher = Batcher::spawn(server.batching(settings).rules(BatchingRules::Reached)).unwrap();
    let first = batcher.try_add("first").unwrap();
    let callback = Arc::new(AddsAgain { batcher: batcher.clone(), added: Mutex::new(None) });
    let mut first = pin!(first);
    assert!(first.as_mut().poll(&mut Context::from_waker(&Arc::clone(&callback).into())).is_pending());
    batcher.flush().await;
    let again = callback.added.lock().unwrap().take().unwrap();
    assert_eq!(again.await.unwrap().into_value(), 5);
    assert_eq!((first.await.unwrap().into_value(), batcher.totals().batches()), (5, 2));
}
