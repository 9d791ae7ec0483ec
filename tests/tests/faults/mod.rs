//! Faults between a client and a server, and the caller's view of them.

mod bodies;
mod closed_connections;
mod closed_http_connections;
mod delivery;
mod malformed;
mod misbehaviours;
mod never_sent;
mod other_layers;
mod proxy;
mod resets;
mod stop_reasons;
mod strangers;
mod unreadable;
