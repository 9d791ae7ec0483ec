//! How requests of a method are batched.

use std::time::Duration;

/// When batched requests are sent, and how many may be waiting, as GAPIC YAML says under `batching`.
///
/// # Examples
///
/// ```
/// use gax_retry::BatchingSettings;
/// use std::time::Duration;
///
/// static BATCHING: BatchingSettings =
///     BatchingSettings::builder().element_count_threshold(100).delay_threshold(Duration::from_millis(10)).build();
/// assert_eq!(BATCHING.request_byte_threshold(), u64::MAX);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct BatchingSettings {
    pub(crate) element_count_threshold: u64,
    pub(crate) request_byte_threshold: u64,
    #[cfg_attr(feature = "serde", serde(with = "crate::stored::duration_text"))]
    pub(crate) delay_threshold: Duration,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) max_outstanding_elements: Option<u64>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) max_outstanding_bytes: Option<u64>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) limit_exceeded: LimitExceeded,
}

impl BatchingSettings {
    /// Starts from no thresholds, no limits and no delay: each element is sent immediately. With a delay, a batch is sent because of
    /// the thresholds that are set and of its age.
    pub const fn builder() -> BatchingSettingsBuilder {
        BatchingSettingsBuilder(Self {
            element_count_threshold: u64::MAX,
            request_byte_threshold: u64::MAX,
            delay_threshold: Duration::ZERO,
            max_outstanding_elements: None,
            max_outstanding_bytes: None,
            limit_exceeded: LimitExceeded::Ignore,
        })
    }

    gax_text::getters! {
        /// A batch with this many elements is sent; `u64::MAX`: there is no such threshold.
        element_count_threshold: u64;

        /// A batch with this many bytes is sent; `u64::MAX`: there is no such threshold.
        request_byte_threshold: u64;

        /// A batch whose first element is this old is sent.
        delay_threshold: Duration;

        /// How many elements may be waiting for their reply; `None`: no limit.
        max_outstanding_elements: Option<u64>;

        /// How many bytes may be waiting for their reply; `None`: no limit.
        max_outstanding_bytes: Option<u64>;

        /// The fate of an element beyond these limits.
        limit_exceeded: LimitExceeded;
    }
}

/// Makes [`BatchingSettings`], also in a `static`.
#[derive(Debug)]
#[must_use = "settings come from build()"]
pub struct BatchingSettingsBuilder(BatchingSettings);

impl BatchingSettingsBuilder {
    gax_text::setters! { const self:
        /// A batch with this many elements is sent: at least 1.
        pub element_count_threshold(elements: u64) => self.0.element_count_threshold = elements;
        /// A batch with this many bytes is sent: at least 1.
        pub request_byte_threshold(bytes: u64) => self.0.request_byte_threshold = bytes;
        /// A batch whose first element is this old is sent. Default: zero, so that each element is sent immediately.
        pub delay_threshold(delay: Duration) => self.0.delay_threshold = delay;
        /// How many elements may be waiting for their reply.
        pub max_outstanding_elements(elements: u64) => self.0.max_outstanding_elements = Some(elements);
        /// How many bytes may be waiting for their reply.
        pub max_outstanding_bytes(bytes: u64) => self.0.max_outstanding_bytes = Some(bytes);
        /// The fate of an element beyond these limits.
        pub limit_exceeded(limit: LimitExceeded) => self.0.limit_exceeded = limit;
    }

    /// The settings.
    #[must_use]
    pub const fn build(self) -> BatchingSettings {
        self.0
    }
}

/// The fate of an element for which a batch's limits have no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "the three that gax-java has, and GAPIC YAML can say")]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum LimitExceeded {
    /// The limits don't apply.
    #[default]
    Ignore,
    /// The caller waits.
    Block,
    /// The caller gets an error.
    ThrowException,
}

gax_text::names! {
    /// The name as in gax-java, such as `ThrowException`.
    fn name for LimitExceeded {
        Ignore = "Ignore",
        Block = "Block",
        ThrowException = "ThrowException",
    }
}

/// Why a batch is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BatchTrigger {
    /// The threshold for elements.
    Elements,
    /// The threshold for bytes.
    Bytes,
    /// Its age.
    Delay,
    /// Somebody asked for it.
    Flush,
    /// No more elements are taken.
    Close,
    /// An element waits for room, and nothing was in flight that could make some.
    Held,
}

gax_text::names! {
    /// The word for it in metrics: `elements`, `bytes`, `delay`, `flush`, `close` or `held`.
    pub fn as_str for BatchTrigger {
        Elements = "elements",
        Bytes = "bytes",
        Delay = "delay",
        Flush = "flush",
        Close = "close",
        Held = "held",
    }
}
