//! Uploads to a server in memory, which refuses, keeps less than it gets, and is asked how much it has.

mod requests;
mod server;
mod sessions;
