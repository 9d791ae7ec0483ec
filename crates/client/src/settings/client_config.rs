//! The config of a generated client, whichever service it calls.

use crate::google::{ClientHeaders, GoogleHeaders, ServiceInfo};
use crate::settings::stub_settings::StubSettings;
use gax_driver::{LivePolicies, OperationOptions, ReplayOptions};
use gax_retry::{Compatibility, RetryBudget};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The content of [`ClientSettings`](super::ClientSettings), for generated code alone.
#[derive(Debug, Clone)]
#[must_use]
pub struct ClientConfig {
    pub(crate) stub: StubSettings,
    pub(crate) options: OperationOptions,
    pub(crate) replay: ReplayOptions,
    /// The budget of the table that the client was generated from.
    pub(crate) table_budget: Option<RetryBudget>,
    /// The policies that replace the settings of the stub.
    pub(crate) followed: Option<Followed>,
    pub(crate) method_extension: bool,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) google: GoogleHeaders,
    /// The service, if it is one of Google's.
    service: Option<&'static ServiceInfo>,
}

impl ClientConfig {
    /// Defaults around the stub's settings.
    pub fn new(stub: StubSettings) -> Self {
        Self {
            stub,
            options: OperationOptions::default(),
            replay: ReplayOptions::default(),
            table_budget: None,
            followed: None,
            method_extension: true,
            connect_timeout: None,
            google: GoogleHeaders::default(),
            service: None,
        }
    }

    /// By the rules of the dialect that the retry table was read in.
    pub fn by_rules_of(mut self, compatibility: Compatibility) -> Self {
        self.options.set(OperationOptions::new().compatibility(compatibility));
        self
    }

    gax_text::setters! { self:
        /// With the budget of the retry table.
        pub with_table_budget(budget: RetryBudget) => self.table_budget = Some(budget);

        /// For a service of Google's, whose servers expect some headers.
        pub of_service(service: &'static ServiceInfo) => self.service = Some(service);
    }

    /// The rules that its calls follow, if they are set.
    #[must_use]
    pub fn compatibility(&self) -> Option<Compatibility> {
        self.options.compatibility
    }

    /// Leaves out the hedging of RPCs that are not to be hedged, by their service and name, unless it is for those that are not
    /// idempotent too.
    pub fn hedge_by_verb(&mut self, is_hedged: impl Fn(&str, &str) -> bool) {
        self.stub.hedge_by_verb(is_hedged);
    }

    /// The headers that requests have in addition to those of gRPC.
    pub(crate) fn headers(&self) -> ClientHeaders {
        let is_of_google = self.service.is_some();
        let google = self.google.clone();
        ClientHeaders::new(&if is_of_google { google } else { google.unless_asked() }, self.service)
    }

    /// The time that connecting may take. An attempt that waits for a connection has time for another one.
    pub(crate) fn connect_timeout(&self) -> Duration {
        const LEAST: Duration = Duration::from_secs(1);
        const MOST: Duration = Duration::from_secs(20);
        let usual = || match self.stub.shortest_timeout() {
            Some(timeout) => (timeout / 3).clamp(LEAST, MOST),
            None => MOST,
        };
        self.connect_timeout.unwrap_or_else(usual)
    }
}

/// The policies that a client follows.
#[derive(Debug, Clone)]
pub(crate) struct Followed {
    pub(crate) live: LivePolicies,
    /// As long as it is there, the policies know the client's methods.
    pub(crate) _known: Arc<dyn Any + Send + Sync>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::method_info::{MethodParts, method_info};
    use gax_retry::{CodeSet, RetrySettings};

    fn stub(settings: &[RetrySettings]) -> StubSettings {
        static CODES: (&str, CodeSet) = ("codes", CodeSet::EMPTY);
        let methods: Vec<_> = settings
            .iter()
            .map(|settings| {
                let params = Box::leak(Box::new(("params", settings.clone())));
                let parts = MethodParts::of("pkg.Service", "Method", "/pkg.Service/Method");
                method_info(MethodParts { codes: &CODES, params, ..parts })
            })
            .collect();
        StubSettings::new(methods.leak())
    }

    #[test]
    fn connecting_may_take_a_third_of_the_shortest_rpc_timeout() {
        let of = |seconds: &[u64]| {
            let settings =
                seconds.iter().map(|seconds| RetrySettings::no_retry(Duration::from_secs(*seconds)));
            ClientConfig::new(stub(&settings.collect::<Vec<_>>())).connect_timeout()
        };
        assert_eq!(of(&[30, 15, 600]), Duration::from_secs(5));
        assert_eq!(of(&[2, 600]), Duration::from_secs(1));
        assert_eq!(of(&[600, 90]), Duration::from_secs(20));
        assert_eq!(of(&[]), Duration::from_secs(20));
        let short = RetrySettings::builder()
            .initial_rpc_timeout(Duration::from_secs(6))
            .total_timeout(Duration::from_secs(60));
        let stub = stub(&[RetrySettings::default(), short.build().unwrap()]);
        assert_eq!(ClientConfig::new(stub.clone()).connect_timeout(), Duration::from_secs(2));
        let set = ClientConfig { connect_timeout: Some(Duration::from_millis(7)), ..ClientConfig::new(stub) };
        assert_eq!(set.connect_timeout(), Duration::from_millis(7));
    }
}
