//! Settings that follow live policies.

use crate::settings::client_config::Followed;
use crate::settings::stub_settings::{StubSettings, call_by_table};
use crate::settings::{CallSettings, ClientSettings};
use gax_driver::__private::CurrentPolicies;
use gax_driver::__private::unused_names::{unknown_names, warn_of};
use gax_driver::LivePolicies;
use gax_retry::MethodPolicies;
use std::sync::Arc;

impl<S> ClientSettings<S> {
    /// Takes the settings of RPCs from live policies, such as those of a `SettingsHandle` of `gax-table`, by the same rules as when
    /// the client was generated. Changes of the stub settings override them, and so does a retry budget that is set here.
    /// Default: the settings don't change.
    pub fn live(mut self, live: impl AsRef<LivePolicies>) -> Self {
        let live = live.as_ref();
        self.config.options.observers.follow(live);
        let known: Arc<[Box<str>]> = self.config.stub.paths().map(String::into_boxed_str).collect();
        let paths = Arc::clone(&known);
        let look = move |current: &CurrentPolicies, _: Option<&()>| {
            warn_of(|| unknown_names(&current.policies, paths.iter().map(|path| &**path)));
        };
        let known = live.follow(look, Some(known));
        self.config.followed = Some(Followed { live: live.clone(), _known: known });
        self
    }

    /// Returns the paths of the RPCs, as retry tables name them: for `deny_unknown_methods` of a table or of a handle.
    pub fn methods(&self) -> impl Iterator<Item = String> {
        self.config.stub.paths()
    }
}

impl StubSettings {
    /// The paths of the RPCs, by the names that a retry table has for them. Those that are mixed in have two.
    pub(crate) fn paths(&self) -> impl Iterator<Item = String> {
        self.calls().flat_map(|(method, _)| {
            let (service, own) = (method.table_service(), method.service());
            let path = |service| format!("{service}/{}", method.name());
            [Some(path(service)), (own != service).then(|| path(own))].into_iter().flatten()
        })
    }

    /// The settings of each RPC as they would be if the client had been generated with those policies. What the program has
    /// changed overrides it; but hedging that is for idempotent RPCs only is off where the policies say that the RPC is not.
    pub(crate) fn calls_by(&self, policies: &MethodPolicies) -> Vec<CallSettings> {
        let calls = self.calls().map(|(method, own)| {
            let path = format!("{}/{}", method.table_service(), method.name());
            let by_policies = policies.find(&path).cloned().map(CallSettings::from).unwrap_or_default();
            let call = own.over(&call_by_table(method), &by_policies);
            match policies.is_idempotent(&path) {
                Some(false) => call.hedged_only_if_allowed(),
                _ => call,
            }
        });
        calls.collect()
    }
}
