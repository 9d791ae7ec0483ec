//! What goes wrong between a client and a server, and what the caller is told of it.

mod bodies;
mod fate;
mod malformed;
mod resets;
mod stop_reasons;
mod unreadable;
mod unsent;
