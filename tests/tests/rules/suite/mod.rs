//! The suite of transports, run over ours and over one that somebody else might have. Pages and batches are no transports: each of
//! their calls is an operation of one of these.

mod attempts;
mod closures;
mod grpc;
mod http;
mod long_running;
mod mailbox;
mod reqwest;
mod rest;
mod streams;
mod subscriptions;
mod transfers;
