//! Those that endpoints are kept connected for.

use crate::endpoint::http2_connector::Http2Connector;
use crate::endpoint::lifecycle::Step;
use crate::endpoint::pooled_connection::PooledConnection;
use crate::settings::PoolSettings;
use gax_driver::__private::Clock;
use gax_driver::observe::ConnectionChange;
use gax_wire::__private::NotConnected;
use std::sync::Arc;
use std::time::Duration;

/// Those that endpoints are kept connected for: they have the facts, and decide. Endpoints have numbers.
pub(crate) trait Owner: Send + Sync + 'static {
    fn settings(&self) -> &Arc<PoolSettings>;

    fn connector(&self) -> &Http2Connector;

    /// The next thing that the endpoint's task does.
    fn step(&self, number: u64) -> Step;

    /// Calls may use that connection.
    fn connected(&self, connection: &Arc<PooledConnection>);

    /// No connection could be made by an attempt that began then. Returns how long it takes until the next one.
    fn failed(&self, number: u64, error: &NotConnected, began: Clock) -> Duration;

    /// Calls may not use that connection any longer.
    fn lost(&self, connection: &PooledConnection);

    /// The endpoint's task has ended.
    fn forget(&self, number: u64);

    /// Something has changed for calls that wait.
    fn settle(&self);

    /// The addresses may be wrong: the resolver is asked again, soon.
    fn resolve_again(&self);

    fn notify(&self, peer: &str, change: ConnectionChange<'_>);
}
