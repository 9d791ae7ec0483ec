//! Subscriptions, whose connections fail while they are opened, or once they are open.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::attempts::{Attempts, Running, exempt, passes};
use gax_client::CallSettings;
use gax_streams::resumption::{Processed, Resume, StreamResumption};
use gax_streams::subscription::{OnEnd, Opening, Subscriber, SubscriptionStrategy};
use gax_testing::{SuitePart, TestedTransport, Trial};
use tokio_stream::StreamExt as _;
use tonic::{Response, Status};

struct Subscriptions {
    are_open: bool,
}

const EXEMPT: &[(SuitePart, &str)] = &[
    (SuitePart::Expiry, "RPC timeouts don't apply to connections"),
    (SuitePart::Hedging, "a subscription has one connection at a time"),
    (SuitePart::Commit, "a connection that breaks off is followed by another one"),
    (SuitePart::Credentials, "each connection is a call of a client, which passes that part itself"),
];

/// Takes one message.
struct OneMessage;

impl StreamResumption for OneMessage {
    type Request = ();
    type Response = ();

    fn process(&mut self, (): &mut ()) -> Processed {
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<()> {
        Resume::Again(())
    }
}

impl SubscriptionStrategy for OneMessage {
    type Message = ();

    fn ended(&mut self) -> OnEnd {
        OnEnd::End
    }
}

impl TestedTransport for Subscriptions {
    fn run(&self, trial: Trial) -> Running {
        let (attempts, are_open) = (Attempts::of(&trial), self.are_open);
        let settings = CallSettings::new(trial.settings().clone(), trial.codes());
        let subscriber = Subscriber::new(&settings).options(trial.options());
        let connect = move |_: Opening<(), ()>| {
            let end = attempts.next_status();
            async move {
                let once_open = if are_open {
                    Some(end)
                } else {
                    end.await?;
                    None
                };
                let messages = tokio_stream::once(once_open).then(|end| async move {
                    match end {
                        Some(end) => end.await,
                        None => Ok(()),
                    }
                });
                Ok(Response::new(Box::pin(messages)))
            }
        };
        let mut subscription = subscriber.subscribe((), OneMessage, connect);
        Box::pin(async move {
            while let Ok(Some(_)) = subscription.update().await {}
            subscription.report().unwrap()
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        exempt(part, EXEMPT)
    }
}

#[tokio::test(start_paused = true)]
async fn connections_that_can_not_be_opened_pass() {
    passes(Subscriptions { are_open: false }, EXEMPT).await;
}

#[tokio::test(start_paused = true)]
async fn connections_that_are_open_pass() {
    passes(Subscriptions { are_open: true }, EXEMPT).await;
}
