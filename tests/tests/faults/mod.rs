//! What goes wrong between a client and a server, and what the caller is told of it.

mod bodies;
mod delivery;
mod malformed;
mod never_sent;
mod resets;
mod stop_reasons;
mod unreadable;
