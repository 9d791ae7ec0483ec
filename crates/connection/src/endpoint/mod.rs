//! Endpoints and their connections.

mod backlog;
mod counts;
mod end_signal;
mod health;
mod health_check;
mod http2_connector;
mod keeper;
mod lifecycle;
mod owner;
mod pooled_connection;
mod race;
mod subchannel;

pub(super) use backlog::Backlog;
pub(super) use http2_connector::Http2Connector;
pub(super) use keeper::{EndpointTask, keep_connected};
pub(super) use lifecycle::{ConnectFailure, Lifecycle, Step};
pub(super) use owner::Owner;
pub(super) use pooled_connection::{InFlight, PooledConnection};
pub(super) use subchannel::{Subchannel, Supervisor};
