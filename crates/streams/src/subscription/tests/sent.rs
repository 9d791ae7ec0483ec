//! Messages that a subscription sends.

use super::numbers::{MS, Numbers, open, read, settings};
use super::server::{Hang, Hear, Message, Server, Wait, down, lines};
use crate::resumption::{Processed, Resume, StreamResumption};
use crate::subscription::{
    OnEnd, Opening, Subscriber, SubscriptionClosed, SubscriptionSender, SubscriptionStrategy, Update,
};
use std::future::Future as _;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Waker};
use tokio::time::{sleep, timeout};
use tokio_stream::StreamExt as _;
use tonic::{Response, Status};

#[tokio::test(start_paused = true)]
async fn what_is_sent_goes_out_once_over_each_connection() {
    let server = Server::new([
        vec![Hear, Message(1), Hear, Wait(10), down()],
        vec![Hear, Hear, Message(2), Hear, Message(3)],
    ]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let sender = subscription.sender();
    // Before there is a connection.
    sender.send(50).await.unwrap();
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    sender.send(51).await.unwrap();
    let next = tokio::spawn(async move {
        assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(2)));
        subscription
    });
    // While it waits: behind what the strategy says again.
    sleep(50 * MS).await;
    assert_eq!(server.heard(), [50, 51]);
    sender.send(52).await.unwrap();
    sender.clone().send(53).await.unwrap();
    let mut subscription = next.await.unwrap();
    sender.half_close();
    assert_eq!(sender.send(54).await.unwrap_err().message, 54);
    assert_eq!(read(&mut subscription).await, (vec![3], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (110, vec![1, 50, 51])]);
    assert_eq!(server.heard(), [50, 51, 52, 53, 0]);
}

/// The strategy, which would say them again, is notified as a connection takes them.
#[tokio::test(start_paused = true)]
async fn what_is_sent_while_a_connection_opens_goes_out_once_though_that_fails() {
    let server = Server::new([
        vec![Wait(10), down()],
        vec![Wait(10), down()],
        vec![Wait(10), Hear, Hear, Message(1), Wait(10), down()],
        vec![Message(2), Hear],
    ]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let sender = subscription.sender();
    sender.send(50).await.unwrap();
    let reading = tokio::spawn(async move { read(&mut subscription).await });
    sleep(5 * MS).await;
    sender.send(51).await.unwrap();
    sleep(500 * MS).await;
    sender.half_close();
    assert_eq!(reading.await.unwrap(), (vec![1, 2], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (110, vec![0]), (320, vec![0]), (440, vec![1, 50, 51])]);
    assert_eq!(server.heard(), [50, 51, 0]);
}

/// Sends each number back, and no more behind the last.
#[derive(Clone, Default)]
struct Echo(Arc<OnceLock<SubscriptionSender<Self>>>);

impl StreamResumption for Echo {
    type Request = Vec<u64>;
    type Response = u64;

    fn process(&mut self, number: &mut u64) -> Processed {
        if let Some(sender) = self.0.get() {
            let sent = pin!(sender.send(*number)).poll(&mut Context::from_waker(Waker::noop()));
            assert!(sent.is_ready());
            if *number == 2 {
                sender.half_close();
            }
        }
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Vec<u64>> {
        Resume::Stop
    }
}

impl SubscriptionStrategy for Echo {
    type Message = u64;

    fn ended(&mut self) -> OnEnd {
        OnEnd::End
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_may_use_a_sender_of_its_own() {
    let server = Server::new([vec![Message(1), Hear, Message(2), Hear, Hear]]);
    let (echo, connecting) = (Echo::default(), server.clone());
    let mut subscription = Subscriber::new(settings())
        .subscribe(vec![0], echo.clone(), move |opening| connecting.connect(opening));
    assert!(echo.0.set(subscription.sender()).is_ok());
    for number in [1, 2] {
        assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(number)));
    }
    assert_eq!(subscription.update().await.unwrap(), None);
    assert_eq!(server.heard(), [1, 2, 0]);
}

#[tokio::test(start_paused = true)]
async fn more_messages_wait_for_a_place() {
    let server = Server::new([vec![Wait(100), Message(1), Wait(100), Hear, Hear, Message(2), Hang]]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let sender = subscription.sender();
    for number in 20..36 {
        sender.send(number).await.unwrap();
    }
    assert!(timeout(50 * MS, sender.send(36)).await.is_err());
    let waiting = tokio::spawn(async move { sender.send(37).await });
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    assert!(!waiting.is_finished());
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(2)));
    waiting.await.unwrap().unwrap();
    // Another waits for a place that never comes.
    let sender = subscription.sender();
    let more = tokio::spawn(async move {
        for number in 0..100 {
            sender.send(number).await?;
        }
        Ok::<_, SubscriptionClosed<u64>>(())
    });
    tokio::task::yield_now().await;
    drop(subscription);
    let error = more.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the subscription is over, or was half-closed: the message was not sent");
}

#[tokio::test(start_paused = true)]
async fn a_strategy_acknowledges_and_half_closes() {
    let server = Server::new([
        lines([1, 901, 902, 2], [Hear, Hear, Hear, Wait(1), down()]),
        // Half-closed again.
        lines([903, 3], [Hear, Hear]),
    ]);
    let strategy = Numbers::default();
    let mut subscription = open(&server, &Subscriber::new(settings()), strategy);
    let sender = subscription.sender();
    let reading = tokio::spawn(async move { (read(&mut subscription).await, subscription) });
    sleep(10 * MS).await;
    sender.send(77).await.unwrap();
    sleep(50 * MS).await;
    sender.half_close();
    let ((numbers, end), _) = reading.await.unwrap();
    assert_eq!((numbers, end), (vec![1, 2, 3], Ok(())));
    assert_eq!(server.heard(), [901, 902, 77, 0, 0]);

    let server = Server::new([lines([1, 901], [Hear, Hear, Wait(1), down()]), vec![Hear]]);
    let strategy = Numbers { half_closes: true, ..Numbers::default() };
    let mut subscription = open(&server, &Subscriber::new(settings()), strategy);
    assert_eq!(read(&mut subscription).await, (vec![1], Ok(())));
    // It has half-closed as the connection opened, so that nothing could be acknowledged.
    assert_eq!(server.heard(), [0, 0, 0]);
}

/// A server that sends without end and takes no acknowledgement.
#[tokio::test(start_paused = true)]
async fn acknowledgements_that_nobody_takes_stop_the_reading() {
    let settings = settings().stream_timeouts(1000 * MS, None);
    let server = Server::new([lines((901..=990).chain([1]), [Hang]), lines([2], [])]);
    let mut subscription = open(&server, &Subscriber::new(&settings), Numbers::default());
    // The first connection is left as one that keeps its caller waiting.
    assert_eq!(read(&mut subscription).await, (vec![2], Ok(())));
    assert_eq!(server.opened(), [(0, vec![0]), (1100, vec![0])]);
}

/// The RPC takes one message: nobody takes what is said.
#[tokio::test(start_paused = true)]
async fn acknowledgements_without_a_stream_of_requests_are_lost() {
    let subscriber = Subscriber::new(settings());
    let mut subscription = subscriber.subscribe(vec![0], Numbers::default(), |opening: Opening<_, u64>| {
        drop(opening.into_request());
        async { Ok(Response::new(tokio_stream::iter((901..=990).chain([1]).map(Ok)))) }
    });
    let sender = subscription.sender();
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    for number in 20..60 {
        sender.send(number).await.unwrap();
    }
    assert_eq!(subscription.update().await.unwrap(), None);
}

/// A transport may hold the stream of requests of a connection that was given up, for as long as its server takes nothing.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_place_at_a_connection_that_is_gone() {
    let settings = settings().stream_timeouts(1000 * MS, None);
    let held = Arc::new(Mutex::new(Vec::new()));
    let holding = Arc::clone(&held);
    let subscriber = Subscriber::new(&settings);
    let mut subscription =
        subscriber.subscribe(vec![0], Numbers::default(), move |opening: Opening<Vec<u64>, u64>| {
            holding.lock().unwrap().push(opening.into_streaming_request().into_inner());
            async { Ok(Response::new(tokio_stream::pending())) }
        });
    let sender = subscription.sender();
    for number in 20..36 {
        sender.send(number).await.unwrap();
    }
    let waiting = tokio::spawn(async move { sender.send(36).await });
    assert!(timeout(1200 * MS, subscription.update()).await.is_err());
    assert!(waiting.await.unwrap().is_ok());
    let [mut first, mut second] = <[_; 2]>::try_from(std::mem::take(&mut *held.lock().unwrap())).unwrap();
    assert_eq!(first.next().await, None);
    let said: Vec<u64> = (&mut second).take(18).collect().await;
    assert_eq!((said[0], said[17]), (0, 36));
    drop(subscription);
    assert_eq!(second.next().await, None);
}
