//! What goes over the wire with an attempt.

mod attempt_transfer;
mod message_counter;
mod wire_message;

pub use attempt_transfer::AttemptTransfer;
pub(crate) use message_counter::{MessageCounter, PREFIX};
pub use wire_message::WireMessage;
