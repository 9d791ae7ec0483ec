//! An RPC, as generated code knows it.

use crate::google::MethodAnnotations;
use gax_retry::settings::ConstSettings;
use gax_retry::{BatchingSettings, CodeSet, Hedging, MethodKind, RetrySettings};
use http::uri::PathAndQuery;
use std::any::TypeId;
use std::time::Duration;

/// The definition for methods that are given none.
static NO_CODES: (&str, CodeSet) = ("no_retry_codes", CodeSet::EMPTY);
static NO_PARAMS: (&str, RetrySettings) = ("no_retry_params", ConstSettings::new().build());

/// An RPC of a generated client: its names, its kind, and what the retry table says of it.
#[derive(Debug)]
pub struct MethodInfo(MethodParts);

/// The fields of a [`MethodInfo`], which generated code fills.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, missing_docs, reason = "generated code makes it")]
pub struct MethodParts {
    pub service: &'static str,
    pub name: &'static str,
    pub path: &'static str,
    pub kind: MethodKind,
    pub codes: &'static (&'static str, CodeSet),
    pub params: &'static (&'static str, RetrySettings),
    pub batching: Option<&'static BatchingSettings>,
    pub polling: Option<&'static RetrySettings>,
    pub hedging: Option<&'static Hedging>,
    pub wait_for_ready: Option<bool>,
    pub wait_timeout: Option<Duration>,
    pub idle_timeout: Option<Duration>,
    pub is_idempotent: bool,
    pub is_read_only: bool,
    pub annotations: Option<&'static MethodAnnotations>,
    /// The service whose client it is mixed into; `None`: its own.
    pub host: Option<&'static str>,
    /// The types of its messages, where they matter: for streams of responses.
    pub messages: Option<fn() -> [TypeId; 2]>,
}

impl MethodParts {
    /// An RPC that no table and no annotation speaks of.
    #[must_use]
    pub const fn of(service: &'static str, name: &'static str, path: &'static str) -> Self {
        Self {
            service,
            name,
            path,
            kind: MethodKind::Unary,
            codes: &NO_CODES,
            params: &NO_PARAMS,
            batching: None,
            polling: None,
            hedging: None,
            wait_for_ready: None,
            wait_timeout: None,
            idle_timeout: None,
            is_idempotent: false,
            is_read_only: false,
            annotations: None,
            host: None,
            messages: None,
        }
    }
}

/// The RPC that these parts describe.
#[must_use]
pub const fn method_info(parts: MethodParts) -> MethodInfo {
    MethodInfo(parts)
}

/// The types of two messages, for [`MethodParts::messages`].
#[must_use]
pub fn message_types<Q: 'static, M: 'static>() -> [TypeId; 2] {
    [TypeId::of::<Q>(), TypeId::of::<M>()]
}

impl MethodInfo {
    gax_text::getters! { self:
        /// How calls are hedged, as the retry table says; `None`: they aren't.
        pub hedging: Option<&'static Hedging> = self.0.hedging;
        /// Returns whether its calls wait for a connection, as in the retry table (`waitForReady`); `None`: the table doesn't
        /// say.
        pub wait_for_ready: Option<bool> = self.0.wait_for_ready;
        /// The longest that a stream of its responses may let its caller wait for a message, as the retry table says
        /// (`wait_timeout`); `None`: no limit.
        pub wait_timeout: Option<Duration> = self.0.wait_timeout;
        /// The longest that a caller may leave a stream of its responses alone, as the retry table says (`idle_timeout`); `None`:
        /// no limit.
        pub idle_timeout: Option<Duration> = self.0.idle_timeout;
        /// Returns whether the RPC is known to be idempotent: by the word of the retry table or, if that has none, by the protos: by its
        /// `idempotency_level`, or by `google.api.http`, if it is a `GET`, `PUT` or `DELETE`.
        pub is_idempotent: bool = self.0.is_idempotent;
        /// Returns whether the RPC is known to change nothing, by the protos: by its `idempotency_level`, or by `google.api.http`, if it is
        /// a `GET`. If a hedge of such a call is rejected, the call ends immediately. The rejection of another call's hedge may be
        /// kept, because an earlier attempt may have been carried out.
        pub is_read_only: bool = self.0.is_read_only;
        /// The service's full name, such as `google.cloud.asset.v1.AssetService`. For an RPC that is mixed into another
        /// service's client, it is the service that defines the RPC, such as `google.cloud.location.Locations`.
        pub service: &'static str = self.0.service;
        /// The RPC's name, such as `ExportAssets`.
        pub name: &'static str = self.0.name;
        /// The path on the wire, such as `/google.cloud.asset.v1.AssetService/ExportAssets`.
        pub path: &'static str = self.0.path;
        /// How the RPC is called.
        pub kind: MethodKind = self.0.kind;
        /// The name of its retryable codes in the table's definitions, such as `retry_policy_1_codes`.
        pub codes_key: &'static str = self.0.codes.0;
        /// The name of its settings in the table's definitions, such as `retry_policy_1_params`.
        pub params_key: &'static str = self.0.params.0;
        /// The codes that the table says to retry.
        pub retryable_codes: CodeSet = self.0.codes.1;
        /// The settings that the table gives.
        pub retry_settings: &'static RetrySettings = &self.0.params.1;
        /// How its requests are batched, as GAPIC YAML says; `None`: one by one.
        pub batching_settings: Option<&'static BatchingSettings> = self.0.batching;
        /// How the long-running operations that it starts are polled, as GAPIC YAML says, or else as in
        /// Google's generators; `None`: it starts none.
        pub polling_settings: Option<&'static RetrySettings> = self.0.polling;
    }

    /// The types of its requests and responses, if it responds with a stream to one message.
    pub(crate) fn messages(&self) -> Option<[TypeId; 2]> {
        self.0.messages.map(|messages| messages())
    }

    gax_text::getters! { self:
        /// The service under whose name a retry table has it.
        pub(super) table_service: &'static str = self.0.host.unwrap_or(self.0.service);

        /// Returns whether its response is a long-running operation, which is polled.
        pub(crate) starts_operations: bool = self.0.polling.is_some();

        pub(crate) annotations: Option<&'static MethodAnnotations> = self.0.annotations;
    }

    pub(crate) fn path_and_query(&self) -> PathAndQuery {
        PathAndQuery::from_static(self.0.path)
    }
}
