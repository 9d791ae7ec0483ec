//! The names in metrics.

use crate::observe::OperationInfo;
use std::borrow::Cow;
use std::sync::Arc;

type MethodFilter = dyn Fn(&OperationInfo) -> Option<Cow<'static, str>> + Send + Sync;

/// The names that metrics have for methods and servers, and which optional ones are made.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`target`](Self::target) | the attribute is left out |
/// | [`method_filter`](Self::method_filter) | the method's name if it is [registered](OperationInfo::is_registered), else `other` |
/// | [`attempt_types`](Self::attempt_types) | false |
/// | [`message_sizes`](Self::message_sizes) | true |
/// | [`attempt_delays`](Self::attempt_delays) | false |
/// | [`settings_versions`](Self::settings_versions) | false |
/// | [`rpc_conventions`](Self::rpc_conventions) | false |
/// | [`server_address`](Self::server_address) | the attribute is left out |
/// | [`gax_java_prefix`](Self::gax_java_prefix) | none: gax-java's metrics are not made |
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a metric or an attribute of its own")]
#[must_use]
pub struct MetricNames {
    pub(super) target: Option<Cow<'static, str>>,
    filter: Option<Arc<MethodFilter>>,
    pub(super) attempt_types: bool,
    pub(super) message_sizes: bool,
    pub(super) attempt_delays: bool,
    pub(super) settings_versions: bool,
    pub(super) rpc_conventions: bool,
    pub(super) server_address: Option<Cow<'static, str>>,
    pub(super) gax_java_prefix: Option<Cow<'static, str>>,
}

impl MetricNames {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            target: None,
            filter: None,
            attempt_types: false,
            message_sizes: true,
            attempt_delays: false,
            settings_versions: false,
            rpc_conventions: false,
            server_address: None,
            gax_java_prefix: None,
        }
    }

    gax_text::setters! { self:
        /// The target URI of the channel, such as `dns:///asset.example.com`, for the attribute `grpc.target`: a layer does
        /// not know it.
        pub target(target: impl Into<Cow<'static, str>>) => self.target = Some(target.into());

        /// Maps a method to its name in metrics. Each name creates new time series. If it returns `None`, the name is
        /// `other`.
        pub method_filter(filter: impl Fn(&OperationInfo) -> Option<Cow<'static, str>> + Send + Sync + 'static) =>
            self.filter = Some(Arc::new(filter));

        /// Sets whether started attempts have the attribute `grpc.attempt_type` (`original`, `retry` or `hedge`), as in a later text
        /// of gRFC A96. Transparent retries are not attempts: a separate metric counts them for each call.
        pub attempt_types(are_recorded: bool) => self.attempt_types = are_recorded;

        /// Sets whether the bytes are measured that each attempt over gRPC sends and receives (gRFC A66). An attempt takes two
        /// allocations more then.
        pub message_sizes(are_measured: bool) => self.message_sizes = are_measured;

        /// Sets whether the time is measured that attempts wait until a connection reads their requests (gRFC A121): it has to be
        /// there, and to have a free stream. Over HTTP, until the client takes them. An attempt that did not wait is left out.
        pub attempt_delays(are_measured: bool) => self.attempt_delays = are_measured;

        /// Sets whether all metrics of a call have the attribute `gax.settings_version`, if its settings can be
        /// [replaced](crate::LivePolicies). Each version creates new time series.
        pub settings_versions(are_recorded: bool) => self.settings_versions = are_recorded;

        /// Sets whether calls over gRPC are measured by OpenTelemetry's own conventions as well: `rpc.client.call.duration`, with
        /// the same values as `grpc.client.call.duration`.
        pub rpc_conventions(are_followed: bool) => self.rpc_conventions = are_followed;

        /// The server's name, for the attribute `server.address` of `rpc.client.call.duration`.
        pub server_address(address: impl Into<Cow<'static, str>>) => self.server_address = Some(address.into());

        /// Measures operations by the names of gax-java's metrics as well, for dashboards that services in Java share:
        /// `{prefix}/attempt_count`, `{prefix}/operation_count`, and in milliseconds `{prefix}/attempt_latency` and
        /// `{prefix}/operation_latency`. Their attributes are `method` (such as `AssetService.ListAssets`), `status`,
        /// `language` and `version`, which is that of this crate. The prefix has letters, digits and `_.-/`, as names of
        /// OpenTelemetry do.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_driver::observe::MetricNames;
        ///
        /// // assets.example.com/attempt_count and so on
        /// let names = MetricNames::new().gax_java_prefix("assets.example.com");
        /// # drop(names);
        /// ```
        pub gax_java_prefix(prefix: impl Into<Cow<'static, str>>) => self.gax_java_prefix = Some(prefix.into());
    }

    /// The name of a method; `None`: it is one of the others.
    pub(super) fn method(&self, operation: &OperationInfo) -> Option<Cow<'static, str>> {
        match &self.filter {
            Some(filter) => filter(operation),
            None => operation.is_registered().then(|| Cow::Owned(operation.full_method().to_owned())),
        }
    }
}

impl Default for MetricNames {
    fn default() -> Self {
        Self::new()
    }
}

gax_text::short_debug! {
    self: MetricNames {
        target: self.target,
        attempt_types: self.attempt_types,
        message_sizes: self.message_sizes,
        attempt_delays: self.attempt_delays,
        settings_versions: self.settings_versions,
        rpc_conventions: self.rpc_conventions,
        server_address: self.server_address,
        gax_java_prefix: self.gax_java_prefix
    }
}
