//! The numbers of an entry: delays, limits, and the load that they lead to.

pub(super) mod backoff;
pub(super) mod limits;
pub(super) mod load;
