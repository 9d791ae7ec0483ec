//! Everything that an operation knows once something has gone wrong, or more than one attempt is in flight.

mod closed;
mod due;
mod hedged;
mod hedges;
mod in_flight;
mod operation_state;
mod polls;
mod resends;

pub(super) use operation_state::State;
