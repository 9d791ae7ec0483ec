//! Those that an endpoint's task keeps connections for.

use crate::connection::endpoint::fate::Fate;
use crate::connection::endpoint::live::Live;
use crate::connection::endpoint::maker::Maker;
use crate::connection::error::SharedError;
use crate::connection::settings::PoolSettings;
use crate::operation::ConnectionChange;
use std::sync::Arc;

/// The state of an endpoint's connection.
pub(crate) enum State {
    /// There is none, and nobody has asked for one.
    Idle,
    Connecting,
    Ready,
    /// The last attempt to connect failed. It stays so until there is a connection (gRPC's `TRANSIENT_FAILURE`).
    Failed(SharedError),
}

/// Those that an endpoint's task keeps connections for. Endpoints have numbers.
pub(crate) trait Host: Send + Sync + 'static {
    fn settings(&self) -> &Arc<PoolSettings>;

    fn maker(&self) -> &Maker;

    fn set_state(&self, number: u64, new: State);

    /// Calls may use that connection.
    fn add(&self, live: &Arc<Live>);

    /// Calls may not use it any more.
    fn remove(&self, number: u64, fate: &Arc<Fate>);

    /// The one more connection is there, or was given up.
    fn extended(&self, number: u64);

    /// The endpoint's task has ended.
    fn forget(&self, number: u64);

    /// A connection takes calls from now on, or does not.
    fn changed(&self);

    /// Its address may be wrong: the resolver is asked again, soon.
    fn ask(&self);

    fn notify(&self, peer: &str, change: ConnectionChange<'_>);
}
