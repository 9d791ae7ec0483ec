//! The clients that the suite plays rows to.

mod assets;
mod batches;
mod client;
mod connector;
mod credentials;
mod grpc;
mod http;
mod settings;
mod streams;

pub(super) use client::{Calls, Client, End};
pub(super) use connector::Connector;
pub(super) use http::{content, http_client, rest_client, retrying};
pub(super) use settings::{CONNECT, PING, TOTAL, UNIT};
pub(super) use streams::{resumed, subscribed};
