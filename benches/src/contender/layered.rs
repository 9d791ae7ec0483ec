//! The layer of this workspace.

use super::traits::{Wire, over_tonic};
use crate::bench::echo_client::EchoClient;
use crate::pace::Pace;
use tonic_gax::{RetryLayer, RetryService};

/// tonic's own client over [`RetryLayer`].
#[derive(Debug, Clone)]
pub struct Layered<S>(EchoClient<RetryService<S>>);

impl<S: Wire> Layered<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self::of(RetryLayer::new(pace.table()).layer(service))
    }

    /// Over a layer of any settings.
    pub fn of(service: RetryService<S>) -> Self {
        Self(EchoClient::new(service))
    }
}

over_tonic!(Layered, "layer under tonic's client");
