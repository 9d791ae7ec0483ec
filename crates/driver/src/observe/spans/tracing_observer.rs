//! The observer for `tracing`.

use crate::observe::spans::operation_span::{OperationSpan, SpanOptions, integer, prefixed};
use crate::observe::{OperationInfo, OperationObserver, OutgoingHeaders};
use gax_retry::{IntoCodes, ParseCodeError};
use std::sync::Arc;
use tracing::field::Empty;
use tracing::{Level, Span, enabled, info_span};

/// Makes a span of each operation and, below it, one of each attempt, and one warning of each operation that failed where
/// retries could have helped, or with a code that the caller does not [expect](Self::expected_codes).
///
/// | what | level | fields |
/// | --- | --- | --- |
/// | span `operation`, a child of the span in which the call is made | INFO | `otel.name` (the full method), `otel.kind`, `rpc.system.name`, `rpc.method`, `server.address`, `settings.version`; at its end `rpc.response.status_code`, `error.type`, `attempts` and, if it failed, `otel.status_code` ("ERROR") and `otel.status_message` |
/// | span `attempt`, its child | DEBUG | `otel.name`, `otel.kind`, `rpc.system.name`, `rpc.method`, `previous-rpc-attempts`, `transparent-retry`, `hedge`; at its end `rpc.response.status_code`, `error.type` and, if it failed, `otel.status_code` and `otel.status_message` |
/// | span `delay`, a child of that, where [asked for](Self::attempt_delays) | DEBUG | `otel.name` ("Delay"), `grpc.delay_type`; its event "Delay triggered" has `grpc.delay_reason` |
/// | an operation failed | WARN, in the operation's span | one sentence: the method, the code, how many attempts in what time, and which limit ended it |
/// | an operation failed with an [expected code](Self::expected_codes) that is not retried | DEBUG, in the operation's span | the same |
/// | a retry, a pushback, a spent budget, a transparent retry, a cancelled operation | DEBUG | what is known of it |
/// | a message over gRPC: "Outbound message", "Inbound message" or "Inbound compressed message" | TRACE, in the attempt's span | `sequence-number`, `message-size` or, of a compressed one, `message-size-compressed` |
///
/// The names are those of gRFCs A72 and A121 and of OpenTelemetry's conventions for RPCs; those that begin with `otel.` are read by
/// `tracing-opentelemetry`. Numbers are `i64`, since it makes strings of others. Over HTTP and for closures `rpc.system.name` and
/// `rpc.method` are left out.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use gax_driver::observe::TracingObserver;
/// use gax_driver::{OperationOptions, RetrySettings, Retryer};
///
/// let tracing = TracingObserver::new()
///     .server_address("asset.example.com")
///     // In place of your propagator: here the span's own number, for a server that logs it.
///     .propagator(|span, headers| {
///         if let Some(id) = span.id() {
///             headers.set("x-span", &id.into_u64().to_string());
///         }
///     });
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// let retryer = Retryer::new(&settings, [gax_driver::Code::Unavailable])
///     .options(OperationOptions::new().observer(Arc::new(tracing)));
/// # drop(retryer);
/// # Ok::<(), gax_driver::SettingsError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct TracingObserver {
    server_address: Option<Arc<str>>,
    sent_prefix: bool,
    options: SpanOptions,
}

impl TracingObserver {
    /// An observer that carries no context to servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The codes that a caller may expect: an operation that fails with one of them, without being retried, is an event at the
    /// level DEBUG, not WARN. One whose retries did not help is a warning regardless of its code. Default: `INVALID_ARGUMENT`,
    /// `NOT_FOUND`, `ALREADY_EXISTS`, `PERMISSION_DENIED`, `FAILED_PRECONDITION`, `ABORTED`, `OUT_OF_RANGE` and
    /// `UNAUTHENTICATED`, which by OpenTelemetry's conventions are not errors of the server.
    ///
    /// # Errors
    ///
    /// One of them is not a code.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_driver::Code;
    /// use gax_driver::observe::TracingObserver;
    ///
    /// // Credentials that are refused should wake somebody.
    /// let tracing = TracingObserver::new().expected_codes([Code::NotFound, Code::AlreadyExists])?;
    /// # drop(tracing);
    /// # Ok::<(), gax_retry::ParseCodeError>(())
    /// ```
    pub fn expected_codes<K>(mut self, codes: impl IntoCodes<K>) -> Result<Self, ParseCodeError> {
        self.options.expected = codes.into_codes()?;
        Ok(self)
    }

    gax_text::setters! { self:
        /// The server's name, for the field `server.address`; left out unless set, since a layer does not know it.
        pub server_address(address: impl Into<Arc<str>>) => self.server_address = Some(address.into());

        /// Sets whether an operation over gRPC is called `Sent.package.Service.Method` in `otel.name`, as in gRFC A72 and grpc-go
        /// writes it, instead of `package.Service/Method`, as in OpenTelemetry. Default: as in OpenTelemetry.
        pub sent_prefix(is_set: bool) => self.sent_prefix = is_set;

        /// Sets whether each attempt has a span `delay` (`otel.name` "Delay", `grpc.delay_type` "connecting") below its own, from its
        /// start until a connection reads its request (gRFC A121); over HTTP until the client accepts it. Default: no.
        pub attempt_delays(are_spans: bool) => self.options.attempt_delays = are_spans;
    }

    /// Writes the context of each attempt's span into the headers of its request, so that the server's span becomes its
    /// child. Called once for each request that is sent. Default: nothing is written.
    pub fn propagator(
        mut self,
        inject: impl Fn(&Span, &mut OutgoingHeaders<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.options.propagator = Some(Arc::new(inject));
        self
    }
}

gax_text::short_debug! { self: TracingObserver { server_address: self.server_address } }

impl OperationObserver for TracingObserver {
    fn for_operation(&self, operation: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        let method = operation.full_method();
        let transport = operation.transport();
        let is_rpc = transport.is_rpc();
        let name = if is_rpc && self.sent_prefix { prefixed("Sent", operation) } else { method.to_owned() };
        let span = info_span!(
            "operation",
            otel.name = name,
            otel.kind = "client",
            rpc.system.name = is_rpc.then_some(transport.name()),
            rpc.method = is_rpc.then_some(method),
            server.address = self.server_address.as_deref(),
            settings.version = operation.settings_version().map(integer),
            rpc.response.status_code = Empty,
            error.type = Empty,
            attempts = Empty,
            otel.status_code = Empty,
            otel.status_message = Empty,
        );
        let messages = transport.counts_messages() && enabled!(Level::TRACE);
        Some(Arc::new(OperationSpan::new(span, self.options.clone(), messages)))
    }
}
