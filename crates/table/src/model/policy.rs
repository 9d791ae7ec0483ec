//! The policy of one method in a table.

use crate::{SourceLocation, TableFormat};
use gax_retry::{Code, CodeSet, Compatibility, Hedging, Policy, RetrySettings};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// A value of a policy that a table can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyField {
    /// The codes that are retried.
    RetryableCodes,
    /// [`RetrySettings::total_timeout`].
    TotalTimeout,
    /// [`RetrySettings::initial_retry_delay`].
    InitialRetryDelay,
    /// [`RetrySettings::retry_delay_multiplier`].
    RetryDelayMultiplier,
    /// [`RetrySettings::max_retry_delay`].
    MaxRetryDelay,
    /// [`RetrySettings::max_attempts`].
    MaxAttempts,
    /// [`RetrySettings::jittered`].
    Jittered,
    /// [`RetrySettings::initial_rpc_timeout`].
    InitialRpcTimeout,
    /// [`RetrySettings::rpc_timeout_multiplier`].
    RpcTimeoutMultiplier,
    /// [`RetrySettings::max_rpc_timeout`].
    MaxRpcTimeout,
    /// [`RetrySettings::max_server_delay`].
    MaxServerDelay,
    /// [`RetrySettings::only_with_server_delay`].
    OnlyWithServerDelay,
    /// [`MethodPolicy::hedging`].
    Hedging,
    /// [`MethodPolicy::idempotent`].
    Idempotent,
}

/// A method's policy in a [`RetryTable`](crate::RetryTable), resolved by the table's dialect.
#[derive(Debug, Clone, Copy)]
pub struct MethodPolicy<'a> {
    pub(crate) entry: &'a TableEntry,
    pub(crate) keys: &'a Keys,
    pub(crate) idempotent: Option<bool>,
}

impl<'a> MethodPolicy<'a> {
    gax_text::getters! { self:
        /// The codes that are retried.
        pub codes: CodeSet = self.entry.codes;

        /// The limits and back-off.
        pub settings: &'a RetrySettings = &self.entry.settings;

        /// The name under which Google's Java generator keeps the codes, such as `retry_policy_1_codes`: the number is
        /// that of the entry in its file. If an earlier file has the name for the same service, the file's number
        /// follows, as in `retry_policy_1_codes_2`.
        pub codes_key: &'a str = &self.keys.codes;

        /// The name under which Google's Java generator keeps the settings, such as `retry_policy_1_params`.
        pub params_key: &'a str = &self.keys.params;

        /// The entry's place; `None` for an entry that was made in code, or if no entry is for the method.
        pub origin: Option<&'a SourceLocation> = self.entry.origin.as_ref();

        /// The entry's place among all entries of the table, from 0; `None` if no entry is for the method. If the table
        /// comes from one file, it is the number in the names of definitions.
        pub entry: Option<usize> = self.entry.index;

        /// Returns whether calls wait if no connection can be made, as the entry says. It takes effect over a `Connection`
        /// of `gax-connection`; tonic's channel has nothing of the kind.
        pub wait_for_ready: Option<bool> = self.entry.wait_for_ready;

        /// The longest that a stream of responses may let its caller wait for a message, as the entry says: gax-java's wait timeout.
        pub wait_timeout: Option<Duration> = self.entry.wait_timeout;

        /// The longest that a caller may leave a stream of responses alone, as the entry says: gax-java's idle timeout.
        pub idle_timeout: Option<Duration> = self.entry.idle_timeout;

        /// How long a request may be, in bytes, as the entry says. Nothing here acts on it.
        pub max_request_message_bytes: Option<u64> = self.entry.max_request_message_bytes;

        /// How long a response may be, in bytes, as the entry says. Nothing here acts on it.
        pub max_response_message_bytes: Option<u64> = self.entry.max_response_message_bytes;

        /// The format of the file that the entry is from; `None`: it was made in code, or the table has no entry.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_table::{RetryTable, TableFormat};
        ///
        /// let table = RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "5s"}]}"#)?;
        /// assert_eq!(table.lookup("a.B", "C").and_then(|policy| policy.format()), Some(TableFormat::ServiceConfig));
        /// # Ok::<(), gax_table::TableError>(())
        /// ```
        pub format: Option<TableFormat> = self.entry.format;

        /// Returns whether the table says that the method is idempotent: that the service may carry out a call more than once.
        /// `None`: it doesn't say. See [`RetryTable::idempotent`](crate::RetryTable::idempotent), which also knows methods
        /// that have no policy. An [entry by its number](crate::RetryTable::entry) has its own word.
        pub idempotent: Option<bool> = self.idempotent;

        /// The entry's hedging policy, kept as written.
        pub hedging: Option<&'a HedgingPolicy> = self.entry.hedging.as_ref();
    }

    /// The place of a single value; `None` if the table does not have it.
    #[must_use]
    pub fn origin_of(&self, field: PolicyField) -> Option<&'a SourceLocation> {
        self.entry.origins.iter().find(|(known, _)| *known == field).map(|(_, origin)| origin)
    }

    /// The place of a code in the list of retryable codes; `None` if the table does not list it.
    #[must_use]
    pub fn origin_of_code(&self, code: Code) -> Option<&'a SourceLocation> {
        self.entry.code_origins.iter().find(|(known, _)| *known == code).map(|(_, origin)| origin)
    }

    /// The policy that operations of the method run by, with that compatibility.
    pub fn to_policy(&self, compatibility: Compatibility) -> Policy {
        Policy::with_compatibility(self.settings(), self.codes(), compatibility)
            .with_hedging(self.hedging().map(HedgingPolicy::to_hedging))
    }
}

/// A hedging policy: attempts that are sent while earlier ones are still running.
#[derive(Debug, Clone, PartialEq)]
pub struct HedgingPolicy {
    pub(crate) max_attempts: Option<u32>,
    pub(crate) delay: Duration,
    pub(crate) percentile: Option<f64>,
    pub(crate) non_fatal_codes: CodeSet,
}

impl From<Hedging> for HedgingPolicy {
    fn from(hedging: Hedging) -> Self {
        Self {
            max_attempts: Some(hedging.max_attempts()),
            delay: hedging.delay_between().unwrap_or_default(),
            percentile: hedging.percentile_of_latencies(),
            non_fatal_codes: hedging.codes(),
        }
    }
}

impl HedgingPolicy {
    gax_text::getters! { self:
        /// The number of attempts, the first one included.
        pub max_attempts: Option<u32> = self.max_attempts;

        /// How long an attempt may go without a reply before the next is sent as well. Zero: all at once.
        pub delay: Duration = self.delay;

        /// The part of the method's calls whose latency is the time to the next attempt, such as 0.95; `None`: the delay
        /// applies.
        pub percentile: Option<f64> = self.percentile;

        /// The policy as operations run by it. Without a number of attempts there is one hedge. The table declares that the
        /// method may be hedged, idempotent or not.
        pub to_hedging: Hedging = self.of_idempotent().allow_non_idempotent();

        /// The codes that do not end the operation while other attempts are still running.
        pub non_fatal_codes: CodeSet = self.non_fatal_codes;
    }

    /// The policy for what may run twice at once alone.
    pub(crate) fn of_idempotent(&self) -> Hedging {
        let hedging = Hedging::new(self.max_attempts.unwrap_or(2)).non_fatal_codes(self.non_fatal_codes);
        match self.percentile {
            Some(percentile) if self.delay.is_zero() => hedging.percentile(percentile),
            Some(percentile) => hedging.percentile(percentile).delay(self.delay),
            None => hedging.delay(self.delay),
        }
    }
}

/// A name in the form that people know: `pkg.Service/Method`, `pkg.Service`, or `*` for every service.
pub(crate) fn shown_name(service: &str, method: &str) -> String {
    match (service, method) {
        ("", "") => "*".to_owned(),
        (service, "") => service.to_owned(),
        (service, method) => format!("{service}/{method}"),
    }
}

/// An entry with its place in a table.
#[derive(Debug, Clone)]
pub(crate) struct TableEntry {
    /// Its place among all entries of the table; `None` for one that is in no table.
    pub(crate) index: Option<usize>,
    /// The number of its file, from 0.
    pub(crate) file: usize,
    /// That of its file; `None`: it was made in code.
    pub(crate) format: Option<TableFormat>,
    /// As the entry's own file names its definitions.
    pub(crate) keys: Keys,
    entry: Arc<Entry>,
}

impl Deref for TableEntry {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

/// An entry of a file: the names that it is for, and its settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) names: Arc<[EntryName]>,
    pub(crate) codes: CodeSet,
    pub(crate) settings: RetrySettings,
    pub(crate) wait_for_ready: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) wait_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) max_request_message_bytes: Option<u64>,
    pub(crate) max_response_message_bytes: Option<u64>,
    pub(crate) hedging: Option<HedgingPolicy>,
    pub(crate) definitions: Definitions,
    pub(crate) origin: Option<SourceLocation>,
    pub(crate) origins: Vec<(PolicyField, SourceLocation)>,
    pub(crate) code_origins: Vec<(Code, SourceLocation)>,
}

/// The names of an entry's definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) codes: Arc<str>,
    pub(crate) params: Arc<str>,
}

impl Keys {
    fn of(stem: &str) -> Self {
        Self { codes: format!("{stem}_codes").into(), params: format!("{stem}_params").into() }
    }
}

/// How an entry's definitions are named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Definitions {
    /// `retry_policy_<own index>`.
    RetryPolicy,
    /// `no_retry_<own index>`: a timeout and nothing else.
    NoRetry,
    /// `no_retry`: nothing at all.
    #[default]
    Nothing,
    /// As the file names them.
    #[cfg(feature = "json")]
    Named { codes: Arc<str>, params: Arc<str> },
}

/// One name of an entry. Empty texts stand for "all".
#[derive(Debug, Clone)]
pub(crate) struct EntryName {
    pub(crate) service: Arc<str>,
    pub(crate) method: Arc<str>,
    /// The method's place or, if there is none, the service's.
    pub(crate) origin: Option<SourceLocation>,
    /// The service's place, where it has one of its own.
    pub(crate) service_origin: Option<SourceLocation>,
}

impl EntryName {
    /// A name that was given in code.
    pub(crate) fn new(service: &str, method: &str) -> Self {
        Self { service: service.into(), method: method.into(), origin: None, service_origin: None }
    }
}

impl Entry {
    /// Returns whether it is for that method by its name.
    pub(crate) fn names_method(&self, service: &str, method: &str) -> bool {
        self.names.iter().any(|name| *name.service == *service && *name.method == *method)
    }
}

impl TableEntry {
    /// An entry as number `index` of its table, and as number `own` of its file, which is part of its definitions'
    /// names.
    pub(crate) fn new(
        entry: &Arc<Entry>,
        index: usize,
        (file, format): (usize, Option<TableFormat>),
        own: usize,
    ) -> Self {
        let keys = match &entry.definitions {
            Definitions::RetryPolicy => Keys::of(&format!("retry_policy_{own}")),
            Definitions::NoRetry => Keys::of(&format!("no_retry_{own}")),
            Definitions::Nothing => Keys::of("no_retry"),
            #[cfg(feature = "json")]
            Definitions::Named { codes, params } => Keys { codes: codes.clone(), params: params.clone() },
        };
        Self { index: Some(index), file, format, keys, entry: Arc::clone(entry) }
    }

    /// The entry of HTTP requests, which no name finds.
    #[cfg(all(feature = "http", feature = "toml"))]
    pub(crate) fn of_http(entry: Entry, format: TableFormat) -> Self {
        Self { index: None, file: 0, format: Some(format), keys: Keys::of("http"), entry: Arc::new(entry) }
    }

    /// Its policy, called as in its own file.
    #[cfg(feature = "http")]
    pub(crate) fn policy(&self) -> MethodPolicy<'_> {
        MethodPolicy { entry: self, keys: &self.keys, idempotent: self.idempotent }
    }

    /// An entry that says nothing, of no table.
    pub(crate) fn nothing() -> Self {
        Self { index: None, file: 0, format: None, keys: Keys::of("no_retry"), entry: Arc::default() }
    }
}
