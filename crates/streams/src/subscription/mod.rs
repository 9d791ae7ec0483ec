//! Streams that outlive their connections, over any client: watches, feeds, and calls with a stream in both directions.
//!
//! A [`Subscriber`] opens a [`Subscription`]: a stream of [`Update`]s. Its connections are opened by a closure, which calls a
//! generated client, tonic's own, or anything else; a [`SubscriptionStrategy`] says how the next connection continues after the
//! last one. All connections together are one operation, with one report.

mod connections;
mod connector;
mod opening;
mod outbox;
mod sender;
mod shared;
mod state;
mod strategy;
mod stream;
mod subscriber;
#[cfg(test)]
mod tests;

pub use opening::{Opening, OutgoingMessages};
pub use sender::{SubscriptionClosed, SubscriptionSender};
pub use state::{SubscriptionState, SubscriptionStates};
pub use strategy::{NextRequest, OnEnd, SubscriptionStrategy};
pub use stream::{Subscription, Update};
pub use subscriber::Subscriber;
