//! The emulator of Cloud Storage, by plain requests.

mod faults;
mod objects;
mod plain_client;
mod resumable;
mod universal;
