//! Elements that wait for room, and what they hold.

use super::results::Seen;
use super::server::{MS, Server, of_elements};
use crate::{AddRefusal, BatchCall, Batcher, BatchingRules, OutstandingLimit};
use gax_driver::Retryer;
use gax_retry::batching::BatchingSettingsBuilder;
use gax_retry::{LimitExceeded, RetrySettings};
use std::sync::Arc;
use tokio::time::sleep;

fn of_one(limit: u64, beyond: LimitExceeded) -> BatchingSettingsBuilder {
    of_elements(1).max_outstanding_elements(limit).limit_exceeded(beyond)
}

#[tokio::test(start_paused = true)]
async fn elements_wait_in_the_order_in_which_they_came() {
    let server = Server::new();
    let batching = server.batching(of_one(1, LimitExceeded::Block)).rules(BatchingRules::Reached);
    let batcher = Batcher::spawn(batching).unwrap();
    let add = |word| {
        let batcher = batcher.clone();
        async move { batcher.add(word).await.unwrap().await.unwrap().into_value() }
    };
    assert_eq!(tokio::join!(add("a"), add("bb"), add("ccc")), (1, 2, 3));
    assert_eq!(server.seen(), ["0 a", "10 bb", "20 ccc"]);
}

#[tokio::test(start_paused = true)]
async fn one_who_goes_away_while_waiting_is_not_sent_and_holds_nobody_up() {
    let server = Server::new();
    let batching = server.batching(of_one(1, LimitExceeded::Block)).rules(BatchingRules::Reached);
    let batcher = Batcher::spawn(batching).unwrap();
    let first = batcher.add("a").await.unwrap();
    {
        let mut gone = Box::pin(batcher.add("gone"));
        assert!(futures_util::poll!(&mut gone).is_pending());
    }
    assert_eq!(batcher.add("c").await.unwrap().await.unwrap().into_value(), 1);
    assert_eq!(
        (first.await.unwrap().into_value(), &*server.seen()),
        (1, &["0 a".to_owned(), "10 c".to_owned()][..])
    );
}

/// Room comes, and before the caller has heard of it, it goes away.
#[tokio::test(start_paused = true)]
async fn one_who_goes_away_once_there_is_room_is_taken_back_until_the_batch_is_sent() {
    for others in [&[][..], &["other"][..]] {
        let server = Server::new();
        let settings = of_elements(2).max_outstanding_elements(2).limit_exceeded(LimitExceeded::Block);
        let seen = Arc::new(Seen::default());
        let batching = server.batching(settings).rules(BatchingRules::Reached).observer(seen.clone());
        let batcher = Batcher::spawn(batching).unwrap();
        let first = [batcher.try_add("a").unwrap(), batcher.try_add("b").unwrap()];
        let mut gone = Box::pin(batcher.add("gone"));
        assert!(futures_util::poll!(&mut gone).is_pending());
        sleep(11 * MS).await;
        // Its batch is open, and its caller has not been polled since.
        assert_eq!((batcher.totals().batches(), batcher.outstanding().elements()), (1, 1));
        let others: Vec<_> = others.iter().map(|word| batcher.try_add(word).unwrap()).collect();
        drop(gone);
        assert_eq!(batcher.outstanding().elements(), others.len() as u64);
        let totals = batcher.close().await;
        assert_eq!(totals.elements(), 2 + others.len() as u64);
        let expected = if others.is_empty() { &["0 a b"][..] } else { &["0 a b", "11 other"] };
        assert_eq!(server.seen(), expected);
        for element in first.into_iter().chain(others) {
            element.await.unwrap();
        }
        let sizes: Vec<_> = seen.0.lock().unwrap().clone();
        assert_eq!(sizes.len(), expected.len());
        assert!(sizes[1..].iter().all(|line| line.starts_with("batcher (1, 1, 0)")), "{sizes:?}");
    }
}

/// Elsewhere elements whose futures were cancelled are never counted back, so that shutdown hangs.
#[tokio::test(start_paused = true)]
async fn an_element_whose_future_is_dropped_is_sent_and_counted_back() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_one(1, LimitExceeded::Block))).unwrap();
    for word in ["a", "b", "c"] {
        drop(batcher.add(word).await.unwrap());
    }
    assert_eq!(batcher.close().await.elements(), 3);
    assert_eq!(server.seen(), ["0 a", "10 b", "20 c"]);
}

#[tokio::test(start_paused = true)]
async fn beyond_the_limit_elements_are_handed_back() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_one(2, LimitExceeded::ThrowException))).unwrap();
    let (a, b) = (batcher.add("a").await.unwrap(), batcher.add("b").await.unwrap());
    let refused = batcher.add("c").await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the batcher is full (max_outstanding_elements): add the element again later"
    );
    assert_eq!(
        (refused.reason(), refused.into_element()),
        (AddRefusal::Full(OutstandingLimit::Elements), "c")
    );
    batcher.flush().await;
    assert_eq!((a.await.unwrap().into_value(), b.await.unwrap().into_value()), (1, 1));
    drop(batcher.add("c").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_element_that_does_not_wait_is_refused_where_others_wait() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_one(1, LimitExceeded::Block))).unwrap();
    drop(batcher.add("a").await.unwrap());
    assert_eq!(batcher.try_add("b").unwrap_err().reason(), AddRefusal::Full(OutstandingLimit::Elements));
}

#[tokio::test(start_paused = true)]
async fn an_element_with_too_many_entries_is_handed_back() {
    let server = Server::new();
    let batching = server.batching(of_one(3, LimitExceeded::Block)).entries(|word| word.len() as u64);
    let batcher = Batcher::spawn(batching).unwrap();
    let refused = batcher.add("four").await.unwrap_err();
    assert_eq!(refused.reason(), AddRefusal::NeverHasRoom);
}

#[tokio::test(start_paused = true)]
async fn under_a_server_that_hangs_no_more_is_held_than_the_limit_allows() {
    let alive = Arc::new(());
    let retryer =
        Retryer::new(&RetrySettings::builder().max_attempts(1).build().unwrap(), |_: &String| false);
    let call =
        BatchCall::closure(retryer, |_, _: Arc<[Arc<()>]>| std::future::pending::<Result<(), String>>());
    let settings = of_elements(10).max_outstanding_elements(100).limit_exceeded(LimitExceeded::Block);
    let batcher = Batcher::spawn(call.without_replies().settings(settings.build())).unwrap();
    let callers: Vec<_> = (0..1000)
        .map(|_| {
            let (batcher, element) = (batcher.clone(), Arc::clone(&alive));
            tokio::spawn(async move { batcher.add(element).await.unwrap().await })
        })
        .collect();
    sleep(MS).await;
    assert_eq!(Arc::strong_count(&alive), 1001);
    // Callers that give up take their elements with them, but for those that were sent.
    for caller in callers {
        caller.abort();
    }
    sleep(MS).await;
    assert_eq!(Arc::strong_count(&alive), 101);
    batcher.abort();
    sleep(MS).await;
    assert_eq!(Arc::strong_count(&alive), 1);
}
