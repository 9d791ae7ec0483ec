//! RPCs with a stream on either side.

mod limit;
mod messages;
mod passing;
mod replays;
mod resuming;
mod retries;
mod subscribing;
