//! Everything that an operation knows once something has gone wrong, or more than one attempt is in flight.

mod closed;
mod due;
mod hedged;
mod hedges;
mod in_flight;
mod polls;
mod resends;
mod state;

pub(super) use state::State;
