//! Which kinds a change is of, and why.

mod hedged;
mod kind;
mod polled;
mod reasons;
mod retries;

pub(super) use kind::{Kind, Reasons};
pub(super) use reasons::reasons;
