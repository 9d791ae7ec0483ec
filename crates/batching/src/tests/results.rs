//! Replies and errors of elements.

use super::server::{MS, Server, of_elements};
use crate::{BatchCall, BatchTrigger, Batcher, BatchingRules, ElementFailure};
use gax_driver::observe::{BatchInfo, OperationObserver};
use gax_retry::{Attempt, Code, LimitExceeded, StopReason};
use std::sync::{Arc, Mutex};
use tokio::time::sleep;
use tonic::{Response, Status};

#[tokio::test(start_paused = true)]
async fn a_batch_is_an_operation_whose_report_each_element_has() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(10))).unwrap();
    let (a, busy) = (batcher.try_add("abc").unwrap(), batcher.try_add("busy").unwrap());
    batcher.close().await;
    for element in [a.await.unwrap(), busy.await.unwrap()] {
        let report = element.report().unwrap();
        let codes: Vec<_> = report.attempts().iter().map(Attempt::code).collect();
        assert_eq!((report.method(), codes), ("words", vec![Code::Unavailable, Code::Ok]));
        assert_eq!((element.batch_elements(), *element.value() > 2), (2, true));
    }
    assert_eq!(server.seen(), ["0 abc busy", "11 abc busy"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_fails_its_elements_with_its_error() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(2)).rules(BatchingRules::Reached)).unwrap();
    let elements = ["a", "fail", "c", "d"].map(|word| batcher.try_add(word).unwrap());
    let [a, fail, c, d] = elements;
    for failed in [a.await.unwrap_err(), fail.await.unwrap_err()] {
        assert_eq!(failed.failure(), ElementFailure::Batch);
        assert_eq!(failed.cause().unwrap().message(), "broken");
        assert_eq!(failed.report().unwrap().stop_reason(), Some(StopReason::NonRetryable));
        let text = failed.clone().to_string();
        assert!(text.starts_with("the batch of the element failed: words failed after 1 attempt"), "{text}");
        assert!(text.contains("broken"), "{text}");
    }
    assert_eq!((c.await.unwrap().into_value(), d.await.unwrap().into_value()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_reply_may_have_failures_of_single_elements() {
    let server = Server::new();
    let even =
        |length: usize| if length.is_multiple_of(2) { Ok(length) } else { Err(Status::aborted("odd")) };
    let batching = server.call().split(move |lengths, sizes| {
        assert_eq!(sizes.len(), lengths.len());
        lengths.into_iter().map(even).collect()
    });
    let batcher = Batcher::spawn(batching.settings(of_elements(9).build())).unwrap();
    let (odd, even) = (batcher.try_add("odd").unwrap(), batcher.try_add("even").unwrap());
    let totals = batcher.close().await;
    let odd = odd.await.unwrap_err();
    assert_eq!((odd.failure(), odd.cause().unwrap().message()), (ElementFailure::Element, "odd"));
    assert_eq!(odd.report().unwrap().attempts().len(), 1);
    assert_eq!(even.await.unwrap().into_value(), 4);
    assert_eq!((totals.failed_batches(), totals.failed_elements()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_error_may_say_which_elements_failed() {
    let server = Server::new();
    let batching =
        server.batching(of_elements(2)).rules(BatchingRules::Reached).split_failure(|status, sizes| {
            let second = |index| if index == 1 { Err(Status::aborted("second")) } else { Ok(7) };
            (status.code() == tonic::Code::DataLoss).then(|| (0..sizes.len()).map(second).collect())
        });
    let batcher = Batcher::spawn(batching).unwrap();
    let (a, fail) = (batcher.try_add("a").unwrap(), batcher.try_add("fail").unwrap());
    assert_eq!(a.await.unwrap().into_value(), 7);
    let failed = fail.await.unwrap_err();
    assert_eq!((failed.failure(), failed.cause().unwrap().message()), (ElementFailure::Element, "second"));
    let totals = batcher.close().await;
    assert_eq!((totals.batches(), totals.failed_batches(), totals.failed_elements()), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn another_number_of_replies_fails_all_elements() {
    let server = Server::new();
    let batching = server.call().split(|lengths, _| lengths.into_iter().skip(1).map(Ok).collect());
    let batcher = Batcher::spawn(batching.settings(of_elements(9).build())).unwrap();
    let (a, b) = (batcher.try_add("a").unwrap(), batcher.try_add("b").unwrap());
    batcher.close().await;
    let error = a.await.unwrap_err();
    assert_eq!(error.failure(), ElementFailure::WrongReplies { elements: 2, replies: 1 });
    let text = "the batch of 2 elements has 1 replies: the server omitted some, or the response is split incorrectly";
    assert_eq!(error.to_string(), text);
    assert_eq!(b.await.unwrap_err().failure(), error.failure());
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_split_wrongly_stays_the_cause() {
    let server = Server::new();
    let batching = server.batching(of_elements(9)).split_failure(|_, _| Some(Vec::new()));
    let batcher = Batcher::spawn(batching).unwrap();
    let fail = batcher.try_add("fail").unwrap();
    batcher.close().await;
    let error = fail.await.unwrap_err();
    assert_eq!(error.failure(), ElementFailure::WrongReplies { elements: 1, replies: 0 });
    assert_eq!(error.cause().unwrap().message(), "broken");
}

#[tokio::test(start_paused = true)]
async fn entries_have_a_reply_each_or_none_has() {
    // A list of so many items, whatever was sent.
    let sent = async |count: usize| {
        let call = BatchCall::rpc(move |_: Vec<u64>| async move { Ok(Response::new(vec![7_u8; count])) });
        let batching = call.split_entries(|list| list, |items| items.len()).entries(|entries| *entries);
        let batcher = Batcher::spawn(batching.settings(of_elements(9).build())).unwrap();
        let elements = [1, 3, 0].map(|entries| batcher.try_add(entries).unwrap());
        batcher.close().await;
        let mut replies = Vec::new();
        for element in elements {
            replies.push(element.await.map(|reply| *reply.value()).map_err(|error| error.failure()));
        }
        replies
    };
    assert_eq!(sent(4).await, [Ok(1), Ok(3), Ok(0)]);
    for replies in [0, 3, 5] {
        assert_eq!(sent(replies).await, [Err(ElementFailure::WrongReplies { elements: 4, replies }); 3]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_its_batch_alone() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(1)).rules(BatchingRules::Reached)).unwrap();
    let [now, later, fine] = ["panic at once", "panic", "fine"].map(|word| batcher.try_add(word).unwrap());
    assert_eq!(now.await.unwrap_err().failure(), ElementFailure::Panicked);
    assert_eq!(later.await.unwrap_err().failure(), ElementFailure::Panicked);
    assert_eq!(fine.await.unwrap().into_value(), 4);
    assert_eq!(batcher.close().await.failed_batches(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_rpc_gets_the_elements_by_value_and_its_error_is_the_status() {
    struct NotClone(u64);
    let call = BatchCall::rpc(|numbers: Vec<NotClone>| async move {
        let sum = numbers.iter().map(|number| number.0).sum::<u64>();
        if sum > 10 { Err(Status::out_of_range("too much")) } else { Ok(Response::new(sum)) }
    });
    let batching = call.split(|sum, sizes| sizes.iter().map(|_| Ok(sum)).collect());
    let batcher =
        Batcher::spawn(batching.settings(of_elements(2).build()).rules(BatchingRules::Reached)).unwrap();
    let [a, b, c, d] = [1, 2, 8, 9].map(|number| batcher.try_add(NotClone(number)).unwrap());
    assert_eq!((a.await.unwrap().into_value(), b.await.unwrap().into_value()), (3, 3));
    for failed in [c.await.unwrap_err(), d.await.unwrap_err()] {
        assert_eq!(failed.cause().unwrap().code(), tonic::Code::OutOfRange);
    }
}

#[derive(Default)]
pub(super) struct Seen(pub(super) Mutex<Vec<String>>);

impl OperationObserver for Seen {
    fn batch_sent(&self, batch: &BatchInfo<'_>) {
        let numbers = (batch.elements(), batch.entries(), batch.bytes());
        let waits = (batch.waited().as_millis(), batch.throttled().as_millis());
        let line = format!("{} {numbers:?} {waits:?} {}", batch.batcher(), batch.trigger());
        self.0.lock().unwrap().push(line);
    }
}

#[tokio::test(start_paused = true)]
async fn observers_are_notified_of_batches() {
    let (server, seen) = (Server::new(), Arc::new(Seen::default()));
    let settings = of_elements(4).max_outstanding_elements(4).limit_exceeded(LimitExceeded::Block);
    let batching = server.batching(settings).entries(|_| 2).bytes(|word| word.len() as u64);
    let batcher = Batcher::spawn(batching.named("log").observer(seen.clone())).unwrap();
    drop((batcher.add("a").await.unwrap(), batcher.add("bb").await.unwrap()));
    sleep(5 * MS).await;
    drop(batcher.add("ccc").await.unwrap());
    sleep(3 * MS).await;
    batcher.close().await;
    let held = BatchTrigger::Held;
    assert_eq!(
        *seen.0.lock().unwrap(),
        [format!("log (2, 4, 3) (5, 0) {held}"), "log (1, 2, 3) (3, 10) close".to_owned()]
    );
}
