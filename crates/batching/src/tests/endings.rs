//! How batchers end.

use super::server::{MS, Server, of_elements};
use crate::{AddRefusal, Batcher, BatchingRules, ElementFailure};
use gax_retry::LimitExceeded;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn flush_waits_for_what_was_added_and_takes_more() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(10))).unwrap();
    let a = batcher.try_add("a").unwrap();
    batcher.flush().await;
    let b = batcher.try_add("hang").unwrap();
    assert_eq!(a.await.unwrap().into_value(), 1);
    // There is nothing open, but a batch in flight that came after.
    let flush = batcher.flush();
    server.go_on();
    flush.await;
    assert_eq!((b.await.unwrap().into_value(), batcher.totals().batches()), (4, 2));
    assert_eq!(server.seen(), ["0 a", "10 hang"]);
    batcher.flush().await;
}

#[tokio::test(start_paused = true)]
async fn closing_counts_batches_and_elements() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(2)).rules(BatchingRules::Reached)).unwrap();
    for word in ["fail", "b", "fail", "d", "e", "f", "g"] {
        drop(batcher.add(word).await.unwrap());
    }
    let totals = batcher.close().await;
    // gax-java counts classes of exceptions here, as if they were batches.
    assert_eq!((totals.batches(), totals.failed_batches()), (4, 2));
    assert_eq!((totals.elements(), totals.failed_elements()), (7, 4));
    assert_eq!(batcher.try_add("h").unwrap_err().reason(), AddRefusal::Closed);
    assert_eq!(batcher.close().await, totals);
}

/// In gax-java such an element lies in a batch that nobody sends, and its future never ends.
#[tokio::test(start_paused = true)]
async fn who_waits_for_room_while_the_batcher_closes_gets_the_element_back() {
    let server = Server::new();
    let settings = of_elements(1).max_outstanding_elements(1).limit_exceeded(LimitExceeded::Block);
    let batcher = Batcher::spawn(server.batching(settings)).unwrap();
    let a = batcher.add("a").await.unwrap();
    let waiting = tokio::spawn({
        let batcher = batcher.clone();
        async move { batcher.add("b").await }
    });
    sleep(5 * MS).await;
    let totals = batcher.close().await;
    let refused = waiting.await.unwrap().unwrap_err();
    assert_eq!((refused.reason(), refused.into_element()), (AddRefusal::Closed, "b"));
    assert_eq!((a.await.unwrap().into_value(), totals.elements()), (1, 1));
    // Nothing is sent later.
    assert_eq!(server.seen(), ["0 a"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_sent_is_given_back() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(2)).rules(BatchingRules::Reached)).unwrap();
    let mut replies = Vec::new();
    for word in ["a", "b", "c"] {
        replies.push(batcher.add(word).await.unwrap());
    }
    sleep(5 * MS).await;
    assert_eq!(batcher.give_back(), ["c"]);
    assert_eq!(replies.pop().unwrap().await.unwrap_err().failure(), ElementFailure::GivenBack);
    let totals = batcher.close().await;
    assert_eq!((totals.batches(), totals.elements(), totals.failed_elements()), (1, 3, 1));
    assert_eq!(replies.pop().unwrap().await.unwrap().into_value(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_the_driver_has_not_begun_is_given_back_as_well() {
    let server = Server::new();
    let (batcher, driver) = Batcher::pair(server.batching(of_elements(1)).ordering_key(|_| "one")).unwrap();
    let a = batcher.try_add("a").unwrap();
    let b = batcher.try_add("b").unwrap();
    assert_eq!(batcher.give_back(), ["a", "b"]);
    driver.await;
    for element in [a, b] {
        assert_eq!(element.await.unwrap_err().failure(), ElementFailure::GivenBack);
    }
    assert_eq!(server.seen(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn abort_ends_everything_at_once() {
    let server = Server::new();
    let settings = of_elements(1).max_outstanding_elements(2).limit_exceeded(LimitExceeded::Block);
    let (batcher, driver) = Batcher::pair(server.batching(settings).rules(BatchingRules::Exceeded)).unwrap();
    let driver = tokio::spawn(driver);
    let hangs = batcher.add("hang").await.unwrap();
    let open = batcher.add("open").await.unwrap();
    let mut waits = Box::pin(batcher.add("waits"));
    assert!(futures_util::poll!(&mut waits).is_pending());
    sleep(5 * MS).await;
    batcher.abort();
    assert_eq!(hangs.await.unwrap_err().failure(), ElementFailure::Aborted);
    assert_eq!(open.await.unwrap_err().failure(), ElementFailure::Aborted);
    assert_eq!(waits.await.unwrap_err().reason(), AddRefusal::Closed);
    driver.await.unwrap();
    let totals = batcher.close().await;
    assert_eq!((totals.batches(), totals.elements(), totals.failed_elements()), (0, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn when_the_last_handle_is_dropped_the_task_sends_what_is_open() {
    let server = Server::new();
    let (batcher, driver) = Batcher::pair(server.batching(of_elements(10))).unwrap();
    let driver = tokio::spawn(driver);
    let other = batcher.clone();
    let reply = batcher.add("abc").await.unwrap();
    drop(batcher);
    sleep(5 * MS).await;
    assert_eq!(server.seen(), [""; 0]);
    drop(other);
    assert_eq!(reply.await.unwrap().into_value(), 3);
    driver.await.unwrap();
    assert_eq!(server.seen(), ["5 abc"]);
}

#[tokio::test(start_paused = true)]
async fn without_its_task_a_batcher_ends_each_element_with_an_error_of_its_own() {
    let server = Server::new();
    let settings = of_elements(1).max_outstanding_elements(2).limit_exceeded(LimitExceeded::Block);
    let (batcher, driver) = Batcher::pair(server.batching(settings)).unwrap();
    let driver = tokio::spawn(driver);
    let sent = batcher.add("hang").await.unwrap();
    let open = batcher.add("open").await.unwrap();
    let mut waits = Box::pin(batcher.add("waits"));
    assert!(futures_util::poll!(&mut waits).is_pending());
    sleep(5 * MS).await;
    driver.abort();
    let error = sent.await.unwrap_err();
    assert_eq!(error.failure(), ElementFailure::TaskGone);
    assert_eq!(error.to_string(), "the batcher's task has ended before the element had a reply");
    assert_eq!(open.await.unwrap_err().failure(), ElementFailure::TaskGone);
    let refused = waits.await.unwrap_err();
    assert_eq!((refused.reason(), refused.into_element()), (AddRefusal::TaskGone, "waits"));
    assert_eq!(batcher.try_add("late").unwrap_err().reason(), AddRefusal::TaskGone);
    batcher.flush().await;
    assert_eq!(batcher.close().await.failed_elements(), 2);
}
