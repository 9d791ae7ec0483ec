//! Endpoints and their connections.

mod counts;
mod fate;
mod host;
mod keeper;
mod keeping;
mod live;
mod maker;

pub(super) use fate::Fate;
pub(super) use host::{Host, State};
pub(super) use keeper::{extend, keep};
pub(super) use keeping::Keeping;
pub(super) use live::{InFlight, Live};
pub(super) use maker::Maker;
