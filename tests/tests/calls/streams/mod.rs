//! RPCs with a stream on either side.

mod limit;
mod messages;
mod oversized;
mod passing;
mod replays;
mod requests;
mod resuming;
mod retries;
mod strategies;
mod subscribing;
mod timeouts;
