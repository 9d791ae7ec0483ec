//! An operation on its way, as its observers know it.

mod audience;
mod in_flight;
mod operation;
mod outbound;
mod outgoing;

pub(crate) use operation::Observed;
pub(crate) use outbound::Outbound;
pub(crate) use outgoing::Outgoing;
