//! How the emulator serves requests.

mod download;
mod exchange;
mod finish;
mod insert;
mod listing;
mod receive;
mod resumable;
mod route;
mod service;
mod universal;

pub(crate) use service::serve;
