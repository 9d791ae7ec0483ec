//! Generated code.

mod batching;
mod client;
mod emitter;
mod google;
mod page_fields;
mod paged;
mod rest;
mod rpc;
mod service;
mod settings;
mod statics;

pub(crate) use emitter::Emitter;
pub(crate) use rpc::BARE_TYPES;
