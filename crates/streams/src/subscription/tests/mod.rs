//! Subscriptions over closures, in virtual time.

mod connections;
mod lifetime;
mod numbers;
mod sent;
mod server;
