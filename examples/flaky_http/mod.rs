//! An HTTP server that is busy at first, which the HTTP examples call.

mod server;

pub(crate) use server::serve;
