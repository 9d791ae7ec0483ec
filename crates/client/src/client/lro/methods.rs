//! The methods and settings that a generated client needs for long-running operations.

use crate::client::lro::config::{Config, First};
use crate::client::lro::generated::google::longrunning::OperationsStubSettings;
use crate::client::methods::{Method, Methods};
use crate::settings::ClientConfig;
use crate::settings::stub_settings::StubSettings;
use gax_driver::protocol::Name;
use std::sync::Arc;

/// The methods and settings of a client whose service starts operations.
#[derive(Clone)]
pub(in crate::client) struct LongRunningMethods {
    /// The client's own methods, as they are called first for an operation.
    pub(in crate::client) starts: Methods,
    /// Those of `google.longrunning.Operations`.
    pub(in crate::client) operations: Methods,
    polling: Arc<[PollingConfigs]>,
}

/// How the operations of an RPC are polled: those that are started, and those that are resumed.
struct PollingConfigs {
    started: Arc<Config>,
    resumed: Arc<Config>,
}

impl LongRunningMethods {
    /// `None`: the service starts no operations.
    pub(in crate::client) fn new(settings: &ClientConfig) -> Option<Self> {
        let polling: Arc<[PollingConfigs]> = configs(settings).collect();
        if polling.is_empty() {
            return None;
        }
        let (mut starts, mut operations) = (settings.clone(), settings.clone());
        starts.stub = settings.stub.starting_operations();
        operations.stub = StubSettings::new(OperationsStubSettings::methods());
        // Policies that are followed are about the client's own service.
        operations.followed = None;
        Some(Self { starts: Methods::new(starts), operations: Methods::new(operations), polling })
    }

    /// How the operations are polled that such a call begins, of an RPC by its place among those that start operations.
    ///
    /// # Panics
    ///
    /// If there is no such RPC. Generated code never passes one.
    pub(in crate::client) fn polling(&self, operation: usize, first: First) -> Arc<Config> {
        let configs = self.polling.get(operation);
        let configs = configs.expect("generated code indexes the methods that it was generated with");
        Arc::clone(match first {
            First::Start => &configs.started,
            First::Poll => &configs.resumed,
        })
    }

    /// Changes each method, whatever its settings are.
    pub(in crate::client) fn changed(&self, change: impl Fn(&mut Method)) -> Self {
        let Self { starts, operations, polling } = self.clone();
        Self { starts: starts.changed(&change), operations: operations.changed(&change), polling }
    }
}

fn configs(settings: &ClientConfig) -> impl Iterator<Item = PollingConfigs> {
    let observers = settings.options.observers.shared();
    settings.stub.operations().map(move |(info, operation)| {
        let config = |first| {
            let name = Name::from(info.path_and_query());
            let polling = operation.polling_settings();
            Arc::new(Config {
                waits: operation.server_waits(),
                cancels: operation.cancels_on_timeout(),
                ..Config::new(name, first, polling, &settings.options, observers.clone())
            })
        };
        PollingConfigs { started: config(First::Start), resumed: config(First::Poll) }
    })
}
