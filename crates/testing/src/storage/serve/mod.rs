//! How the emulator serves requests.

mod download;
mod exchange;
mod insert;
mod listing;
mod resumable;
mod route;
mod service;

pub(crate) use service::serve;
