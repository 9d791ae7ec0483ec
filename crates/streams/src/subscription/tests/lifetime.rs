//! A subscription as others see it, and as it is left alone, dropped, or panics.

use super::numbers::{MS, Numbers, open, read, settings};
use super::server::{Hang, Message, Server, Wait, down, lines};
use crate::subscription::{Subscriber, SubscriptionState, Update};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tonic_gax::{OperationError, StopReason};

#[tokio::test(start_paused = true)]
async fn its_state_is_seen_from_elsewhere() {
    let server = Server::new([vec![Wait(10), down()], vec![Wait(10), Message(1), Wait(10), Message(2)]]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let mut states = subscription.states();
    assert_eq!((states.current(), subscription.state()), (SubscriptionState::Connecting, states.current()));
    let start = server.start;
    let seen = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(state) = states.changed().await {
            let until = match state {
                SubscriptionState::WaitingUntil(until) => {
                    Some(Instant::from_std(until).duration_since(start).as_millis())
                }
                _ => None,
            };
            seen.push((start.elapsed().as_millis(), state, until));
        }
        seen.into_iter().map(|(at, state, until)| (at, state_name(state), until)).collect::<Vec<_>>()
    });
    assert_eq!(read(&mut subscription).await, (vec![1, 2], Ok(())));
    tokio::task::yield_now().await;
    drop(subscription);
    let expected =
        [(10, "waiting", Some(110)), (110, "connecting", None), (120, "live", None), (130, "ended", None)];
    assert_eq!(seen.await.unwrap(), expected);
}

fn state_name(state: SubscriptionState) -> &'static str {
    match state {
        SubscriptionState::Connecting => "connecting",
        SubscriptionState::Live => "live",
        SubscriptionState::WaitingUntil(_) => "waiting",
        SubscriptionState::Ended => "ended",
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_nobody_polls_is_dropped() {
    let settings = settings().stream_timeouts(None, 300 * MS);
    let server = Server::new([lines([1], [Hang])]);
    let mut subscription = open(&server, &Subscriber::new(&settings), Numbers::default());
    let sender = subscription.sender();
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    sleep(200 * MS).await;
    assert_eq!((server.open(), sender.send(5).await.is_ok()), (1, true));
    sleep(101 * MS).await;
    assert_eq!(server.open(), 0);
    assert_eq!(sender.send(6).await.unwrap_err().message, 6);
    assert_eq!(subscription.update().await.unwrap_err().code(), tonic::Code::Aborted);
    assert_eq!(subscription.update().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_drop_ends_it_at_once() {
    let server = Server::new([lines([1], [Hang])]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let sender = subscription.sender();
    // A future that is dropped loses nothing.
    for _ in 0..3 {
        drop(timeout(Duration::ZERO, subscription.update()).await);
    }
    drop(timeout(MS, subscription.update()).await);
    assert_eq!(server.open(), 1);
    assert!(sender.send(1).await.is_ok());
    drop(subscription);
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    assert_eq!(server.open(), 0);
    assert!(sender.send(2).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_that_of_the_task_that_asked() {
    let server = Server::new([lines([1, 666, 2], [Hang])]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let sender = subscription.sender();
    let reading = tokio::spawn(async move {
        assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
        drop(subscription.update().await);
    });
    assert!(reading.await.unwrap_err().is_panic());
    assert!(sender.send(5).await.is_err());
    tokio::task::yield_now().await;
    assert_eq!(server.open(), 0);

    let server = Server::new([lines([1], [Wait(10), Message(2), Hang])]);
    let mut subscription = open(&server, &Subscriber::new(settings()), Numbers::default());
    let sender = subscription.sender();
    assert_eq!(subscription.update().await.unwrap(), Some(Update::Message(1)));
    let sending = tokio::spawn(async move { sender.send(13).await.is_ok() });
    assert!(sending.await.unwrap_err().is_panic());
    let status = subscription.update().await.unwrap_err();
    assert_eq!(status.message(), "the strategy of the subscription has panicked");
    assert_eq!(OperationError::of(&status).unwrap().report().stop_reason(), Some(StopReason::NonRetryable));
    assert_eq!(subscription.update().await.unwrap(), None);
}
