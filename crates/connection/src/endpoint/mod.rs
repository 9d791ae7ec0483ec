//! Endpoints and their connections.

mod counts;
mod health;
mod http2_connector;
mod lifecycle;
mod pooled_connection;
mod race;
mod subchannel;

pub(super) use health::{Health, State as HealthState};
pub(super) use http2_connector::{Driving, Http2Connector, drive};
pub(super) use lifecycle::{ConnectFailure, Lifecycle, Step};
pub(super) use pooled_connection::{InFlight, PooledConnection, is_of_server};
pub(super) use subchannel::{Backlog, Subchannel, Supervisor};
