//! The operation: facts in, one action at a time out. No clock, no runtime, no transport.

mod action;
mod attempt_result;
mod event;
mod gates;
mod hedging;
mod latencies;
mod machine;
mod policy;
mod state;
mod stop;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::ByHand;

pub use crate::started_attempt::Next;
pub use action::{Action, End, World};
pub use attempt_result::{AttemptResult, Delivery, Outcome, Repetition, Replayable, Resend, RetryFact, Seen};
pub use event::{AttemptEnd, Event};
pub use hedging::Hedging;
pub use machine::{Notes, Operation, Ready};
pub use policy::{CommitPoint, Policy};
pub use stop::{NotAttempted, Stop};
