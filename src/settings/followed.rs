//! Settings that come from retry tables which are read at run time.

use crate::settings::client_config::Followed;
use crate::settings::stub_settings::StubSettings;
use crate::settings::stub_settings::call_by_table;
use crate::settings::{CallSettings, ClientSettings, MethodInfo};
use gax_driver::__house::{KnownMethods, know_methods};
use gax_driver::live::{SettingsHandle, UnknownMethodsError};
use gax_retry::{CodeSet, RetrySettings};
use gax_table::{HedgingPolicy, MethodDescription, MethodPolicy, RetryTable, ServiceDescription};
use std::collections::BTreeMap;

impl<S> ClientSettings<S> {
    /// Takes the settings of RPCs from a handle's table, and from each table that replaces it, read by the same rules as when
    /// the client was generated. Changes of the stub settings override the table, and so does a retry budget that is set here.
    /// Default: the settings don't change.
    pub fn with_handle(mut self, handle: &SettingsHandle) -> Self {
        let known = know_methods(handle, KnownMethods::of_client(self.config.stub.services(), false));
        self.config.followed = Some(Followed { handle: handle.clone(), known });
        self.config.options.observers.follow(handle);
        self
    }

    /// Whether the handle refuses each table that names services or methods which this client doesn't have. Call it after
    /// [`with_handle`](Self::with_handle); without a handle it has no effect. Default: a table is refused if a name in it is most
    /// likely misspelt, and others are a warning.
    ///
    /// # Errors
    ///
    /// The table that the handle has now names some.
    pub fn deny_unknown_methods(mut self, deny: bool) -> Result<Self, UnknownMethodsError> {
        if let Some(Followed { handle, known }) = &mut self.config.followed {
            let checked = know_methods(handle, KnownMethods::of_client(self.config.stub.services(), deny));
            checked.check(&handle.table())?;
            *known = checked;
        }
        Ok(self)
    }
}

impl StubSettings {
    /// The services and their RPCs, by the names that a retry table has for them.
    fn services(&self) -> Vec<ServiceDescription> {
        let mut services: BTreeMap<&str, ServiceDescription> = BTreeMap::new();
        for (method, _) in self.calls() {
            let (service, own) = (method.table_service(), method.service());
            let described = MethodDescription::new(method.name(), method.kind());
            let described = if own == service { described } else { described.mixed_in_from(own) };
            let known = services.remove(service).unwrap_or_else(|| ServiceDescription::new(service));
            services.insert(service, known.with_method(described));
        }
        services.into_values().collect()
    }

    /// The settings of each RPC as they would be if the client had been generated from that table. What the program has
    /// changed overrides it; but hedging that is for idempotent RPCs only is off where the table says that the RPC is not.
    pub(crate) fn calls_by(&self, table: &RetryTable) -> Vec<CallSettings> {
        let by_table = |method: &MethodInfo| match table.lookup(method.table_service(), method.name()) {
            Some(policy) => CallSettings::of_policy(policy),
            None => CallSettings::new(RetrySettings::default(), CodeSet::EMPTY),
        };
        let calls = self.calls().map(|(method, own)| {
            let call = own.over(&call_by_table(method), by_table(method));
            match table.idempotent(method.table_service(), method.name()) {
                Some(false) => call.hedged_only_if_allowed(),
                _ => call,
            }
        });
        calls.collect()
    }
}

impl CallSettings {
    /// The settings of a table's entry.
    pub(crate) fn of_policy(policy: MethodPolicy<'_>) -> Self {
        Self::new(policy.settings().clone(), policy.codes())
            .with_hedging(policy.hedging().map(HedgingPolicy::to_hedging))
            .waiting_for_ready(policy.wait_for_ready())
            .with_stream_timeouts(policy.wait_timeout(), policy.idle_timeout())
    }
}
