//! What a table says beside retries: how operations are polled and requests batched, and what is idempotent.

use crate::render::{Count, Ms, bytes, grown};
use gax_retry::{BatchingSettings, Compatibility, RetrySettings};
use gax_table::RetryTable;
use serde::Serialize;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// How the operations that a method starts are polled, how its requests are batched, and whether it is idempotent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Beside {
    pub(super) polling: Option<Polling>,
    pub(super) batching: Option<Batching>,
    /// `None`: the table doesn't say.
    pub(super) idempotent: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Polling {
    initial_delay_ms: Option<Ms>,
    delay_multiplier: Option<f64>,
    max_delay_ms: Option<Ms>,
    total_timeout_ms: Option<Ms>,
    /// The delays, with those that nobody set.
    #[serde(skip)]
    delays: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Batching {
    element_count_threshold: u64,
    request_byte_threshold: u64,
    delay_threshold_ms: Ms,
    max_outstanding_elements: Option<u64>,
    max_outstanding_bytes: Option<u64>,
    limit_exceeded: String,
}

impl Beside {
    pub(super) fn of(table: &RetryTable, service: &str, method: &str) -> Self {
        Self {
            polling: table.polling(service, method).map(Polling::from),
            batching: table.batching(service, method).map(Batching::from),
            idempotent: table.idempotent(service, method),
        }
    }

    /// A number that is the same for the same, and hardly ever for another.
    pub(super) fn hashed(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.sentences().hash(&mut hasher);
        hasher.finish()
    }

    /// A sentence for each, without its full stop.
    pub(super) fn sentences(&self) -> Vec<String> {
        let polling =
            self.polling.as_ref().map(|polling| format!("its operations are polled {}", polling.words()));
        let batching =
            self.batching.as_ref().map(|batching| format!("its requests are batched {}", batching.words()));
        let idempotent = self.idempotent.map(|idempotent| {
            if idempotent {
                "the table says that it is idempotent: hedging that is set in code is for it"
            } else {
                "the table says that it is not idempotent"
            }
        });
        polling.into_iter().chain(batching).chain(idempotent.map(str::to_owned)).collect()
    }
}

impl Polling {
    /// `after 5 s x 1.5 up to 45 s, for 5 min in all`
    pub(super) fn words(&self) -> String {
        let total = self.total_timeout_ms;
        format!(
            "after {}, {}",
            self.delays,
            total.map_or_else(|| "without a limit".to_owned(), |total| format!("for {total:#} in all"))
        )
    }
}

impl Batching {
    /// `up to 100 elements, 1 MiB or 10 ms`
    pub(super) fn words(&self) -> String {
        let Self { element_count_threshold, request_byte_threshold, delay_threshold_ms, .. } = self;
        let (elements, size) = (Count(*element_count_threshold), bytes(*request_byte_threshold));
        format!("up to {elements} elements, {size} or {delay_threshold_ms:#}")
    }
}

impl From<&RetrySettings> for Polling {
    fn from(polling: &RetrySettings) -> Self {
        let delays = polling.retry_delays(Compatibility::Documented);
        Self {
            delays: grown(delays.initial(), delays.multiplier(), delays.max()),
            initial_delay_ms: polling.initial_retry_delay().map(Ms),
            delay_multiplier: polling.retry_delay_multiplier(),
            max_delay_ms: polling.max_retry_delay().map(Ms),
            total_timeout_ms: polling.total_timeout().map(Ms),
        }
    }
}

impl From<&BatchingSettings> for Batching {
    fn from(batching: &BatchingSettings) -> Self {
        Self {
            element_count_threshold: batching.element_count_threshold(),
            request_byte_threshold: batching.request_byte_threshold(),
            delay_threshold_ms: Ms(batching.delay_threshold()),
            max_outstanding_elements: batching.max_outstanding_elements(),
            max_outstanding_bytes: batching.max_outstanding_bytes(),
            limit_exceeded: batching.limit_exceeded().to_string(),
        }
    }
}
