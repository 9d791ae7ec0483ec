//! The table: each misbehaviour, and which test plays it to each client that it concerns.

mod calls;
mod connections;
mod http;
mod sections;

pub(super) use sections::sections;
