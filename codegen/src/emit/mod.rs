//! Generated code.

mod client;
mod emitter;
mod page_fields;
mod paged;
mod rpc;
mod service;
mod settings;
mod statics;

pub(crate) use emitter::Emitter;
