//! Who sends batches, and when.

use super::server::{MS, Server, of_elements};
use crate::{Batcher, BatcherError, BatchingRules};
use gax_retry::LimitExceeded;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn settings_in_code_send_the_full_batch_before_the_next_element() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(3))).unwrap();
    for word in ["a", "b", "c", "d", "e", "f", "g"] {
        drop(batcher.add(word).await.unwrap());
    }
    sleep(20 * MS).await;
    assert_eq!(server.seen(), ["0 a b c", "0 d e f"]);
    let totals = batcher.close().await;
    assert_eq!(server.seen(), ["20 g"]);
    assert_eq!((totals.batches(), totals.elements(), totals.failed_elements()), (3, 7, 0));
}

#[tokio::test(start_paused = true)]
async fn by_a_descriptor_the_full_batch_is_sent_at_once_and_a_part_after_its_delay() {
    let server = Server::new();
    let settings = of_elements(3).delay_threshold(50 * MS);
    let batcher = Batcher::spawn(server.batching(settings).rules(BatchingRules::Reached)).unwrap();
    for word in ["a", "b", "c", "d"] {
        drop(batcher.add(word).await.unwrap());
        sleep(5 * MS).await;
    }
    sleep(100 * MS).await;
    assert_eq!(server.seen(), ["10 a b c", "65 d"]);
}

#[tokio::test(start_paused = true)]
async fn in_code_the_timer_has_a_fixed_period() {
    let server = Server::new();
    let batcher = Batcher::spawn(server.batching(of_elements(9).delay_threshold(50 * MS))).unwrap();
    sleep(30 * MS).await;
    let a = batcher.add("a").await.unwrap();
    sleep(15 * MS).await;
    drop(batcher.add("b").await.unwrap());
    assert_eq!(a.await.unwrap().batch_elements(), 2);
    assert_eq!(server.seen(), ["50 a b"]);
}

#[tokio::test(start_paused = true)]
async fn discriminators_keep_elements_apart_and_ordering_keys_one_after_the_other() {
    let server = Server::new();
    let batching = server.batching(of_elements(2)).rules(BatchingRules::Reached);
    let batching = batching.discriminator(|word: &&str| word[..1].to_owned());
    let batcher = Batcher::spawn(batching.ordering_key(|word: &&str| word[1..2].trim().to_owned())).unwrap();
    for word in ["a1", "b1", "a1!", "a1?", "a1+", "b1!", "a ", "a .", "a :", "a ,"] {
        drop(batcher.add(word).await.unwrap());
    }
    batcher.close().await;
    assert_eq!(server.seen(), ["0 a1 a1!", "0 b1 b1!", "0 a  a .", "0 a : a ,", "10 a1? a1+"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_unless_the_driver_is_polled() {
    let server = Server::new();
    let (batcher, driver) =
        Batcher::pair(server.batching(of_elements(1)).rules(BatchingRules::Reached)).unwrap();
    let reply = batcher.try_add("abc").unwrap();
    sleep(100 * MS).await;
    assert_eq!(server.seen(), [""; 0]);
    let (reply, _, ()) = tokio::join!(reply, batcher.close(), driver);
    assert_eq!((reply.unwrap().into_value(), &*server.seen()), (3, &["100 abc".to_owned()][..]));
}

#[test]
fn a_batcher_that_cannot_work_is_not_made() {
    let server = Server::new();
    assert_eq!(Batcher::spawn(server.batching(of_elements(1))).unwrap_err(), BatcherError::NoRuntime);
    let below = of_elements(10).max_outstanding_elements(9).limit_exceeded(LimitExceeded::Block);
    let error = Batcher::pair(server.batching(below)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "batching settings are not valid: max_outstanding_elements is 9, but must not be below element_count_threshold (10)"
    );
}
