//! The settings of all RPCs of a service.

use super::CallSettings;
use super::{MethodInfo, OperationCallSettings};
use gax_retry::SettingsError;
use std::time::Duration;

/// What a generated `StubSettings` and its builder are made of.
#[derive(Debug, Clone)]
pub struct StubSettings {
    methods: &'static [MethodInfo],
    calls: Vec<CallSettings>,
    /// Of the methods that start long-running operations, in their order.
    operations: Vec<OperationCallSettings>,
}

impl StubSettings {
    /// What the retry table says.
    #[must_use]
    pub fn new(methods: &'static [MethodInfo]) -> Self {
        let call = |method: &MethodInfo| {
            CallSettings::new(method.retry_settings().clone(), method.retryable_codes())
                .with_batching(method.batching_settings().cloned())
        };
        let operation = |method: &MethodInfo| {
            Some(OperationCallSettings::new(call(method), method.polling_settings()?.clone()))
        };
        Self {
            methods,
            calls: methods.iter().map(call).collect(),
            operations: methods.iter().filter_map(operation).collect(),
        }
    }

    /// The settings of an RPC, by its index.
    ///
    /// # Panics
    ///
    /// Where the service has no RPC of that index; generated code names no other.
    #[must_use]
    pub fn call(&self, index: usize) -> &CallSettings {
        self.calls.get(index).expect("generated code indexes the methods that it was generated with")
    }

    /// The settings of an RPC, by its index, to be changed.
    ///
    /// # Panics
    ///
    /// Where the service has no RPC of that index; generated code names no other.
    #[must_use]
    pub fn call_mut(&mut self, index: usize) -> &mut CallSettings {
        self.calls.get_mut(index).expect("generated code indexes the methods that it was generated with")
    }

    /// The settings of the operations that an RPC starts, by its index among the RPCs that start any.
    ///
    /// # Panics
    ///
    /// Where the service has no such RPC of that index; generated code names no other.
    #[must_use]
    pub fn operation(&self, index: usize) -> &OperationCallSettings {
        self.operations.get(index).expect("generated code indexes the methods that it was generated with")
    }

    /// The settings of the operations that an RPC starts, by its index among the RPCs that start any, to be
    /// changed.
    ///
    /// # Panics
    ///
    /// Where the service has no such RPC of that index; generated code names no other.
    #[must_use]
    pub fn operation_mut(&mut self, index: usize) -> &mut OperationCallSettings {
        self.operations.get_mut(index).expect("generated code indexes the methods that it was generated with")
    }

    /// Changes the settings of every unary RPC, paged ones included.
    pub fn apply_to_all_unary_methods(&mut self, mut apply: impl FnMut(&mut CallSettings)) {
        for (method, call) in self.methods.iter().zip(&mut self.calls) {
            if method.kind().is_unary() {
                apply(call);
            }
        }
    }

    /// The settings as they are now.
    ///
    /// # Errors
    ///
    /// None today: [`CallSettings`] can't hold settings that are wrong by themselves. Generated builders
    /// return the error so that a check over several RPCs does not change their signature.
    pub fn build(self) -> Result<Self, SettingsError> {
        Ok(self)
    }

    /// The shortest time that an RPC's first attempt has, of all RPCs that have one.
    pub(crate) fn shortest_timeout(&self) -> Option<Duration> {
        let settings = self.calls.iter().map(CallSettings::retry_settings);
        settings
            .flat_map(|settings| [settings.initial_rpc_timeout(), settings.total_timeout()])
            .flatten()
            .min()
    }

    pub(crate) fn into_calls(self) -> impl Iterator<Item = (&'static MethodInfo, CallSettings)> {
        self.methods.iter().zip(self.calls)
    }
}
