//! Operations stepped by hand.

mod attempts;
mod begin;
mod budget;
mod by_hand;
mod cancel;
mod closed;
mod commit;
mod gates;
mod hedging;
mod policies;
#[cfg(feature = "polling")]
mod polls;
mod repetition;
mod resends;
mod server_delays;
mod streams;

pub(crate) use by_hand::ByHand;
use policies::{MS, base, documented, grpc, unavailable};
