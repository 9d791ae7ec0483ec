//! A client, a transport that can be paused, and the cases of gRFC A6 with both.

mod bridge;
mod client;

pub(crate) use bridge::Bridge;
pub(crate) use client::{Came, LIST, Sent, call, now, unary};
