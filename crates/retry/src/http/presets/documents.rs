//! Retries as the documents of Cloud Storage and Memorystore advise.

use super::Preset;
use crate::http::{IdempotencyStrategy, IdempotencyTable, StatusSet, TransportFailures};
use crate::strategy::{Backoff, BackoffStrategy, Jitter, Limits, TimeRule};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(600);

/// min(2^n s + 0..1000 ms, maximum) until the deadline.
fn exponential(max: u64) -> BackoffStrategy {
    let jitter = Jitter::Added { unit: Duration::from_millis(1), most: 1000 };
    BackoffStrategy::new(
        Backoff::exponential(Duration::from_secs(1), 2.0, Duration::from_secs(max)).with_jitter(jitter),
        Limits::none().with_time(DEADLINE, TimeRule::Strict),
    )
}

/// A server's own word on the wait goes before any formula of a document.
fn document(name: &'static str, source: &'static str, backoff_strategy: BackoffStrategy) -> Preset {
    Preset::new(name, source, backoff_strategy).with_server_delays(true)
}

/// `storage`: what this crate does for Cloud Storage unless settings say otherwise.
///
/// The documents' waits, min(2^n s + 0..1000 ms, 64 s) from n = 0, for up to 600 s; the six statuses
/// that nearly all libraries retry; the document's idempotency table.
pub fn storage() -> Preset {
    let source = "Cloud Storage, Retry strategy: algorithm, Python tab (statuses), idempotency table";
    document("storage", source, exponential(64))
}

/// `docs`: the document's overview to the letter: every 5xx, 408, 429 and sockets, waits up to 64 s, and
/// 600 s in all.
pub fn docs() -> Preset {
    document("docs", "Cloud Storage, Retry strategy: overview and algorithm", exponential(64))
        .with_statuses(StatusSet::ALL_SERVER_ERRORS)
}

/// `docs-32`: [`docs`] with the other maximum that it names, 32 s.
pub fn docs_32() -> Preset {
    document("docs-32", "Cloud Storage, Retry strategy: overview and algorithm", exponential(32))
        .with_statuses(StatusSet::ALL_SERVER_ERRORS)
}

/// `docs-legacy`: the older document, which names 5xx and 429 only.
///
/// It limits the number of retries without naming one. The time limit of the newer document is used instead; set a
/// number with [`Preset::with_max_attempts`].
pub fn docs_legacy() -> Preset {
    document("docs-legacy", "Cloud Storage, Truncated exponential backoff", exponential(64))
        .with_statuses(StatusSet::EMPTY.with(429).with_range(500, 599))
        .with_transport_failures(TransportFailures::NONE)
}

/// `memorystore-doc`: the Memorystore for Redis document's advice to callers of its REST API.
///
/// The document doesn't mention idempotency, so every request is retried, and a `CreateInstance` whose reply is lost may run
/// twice. [`docs`] with [`IdempotencyTable::http_methods`] only retries what is safe. As with [`docs_legacy`], 600 s replace
/// the number of retries that the document leaves open.
pub fn memorystore_doc() -> Preset {
    document("memorystore-doc", "Memorystore for Redis, Exponential backoff", exponential(64))
        .with_statuses(StatusSet::EMPTY.with(429).with_range(500, 599))
        .with_idempotency_table(IdempotencyTable::http_methods())
        .with_strategy(IdempotencyStrategy::Always)
        .with_note(
            "retries POST and PATCH as well, as the document says: what creates something may run twice",
        )
}

/// `memorystore`: what Memorystore for Redis' own service config says: 600 s, and no retry at all.
pub fn memorystore() -> Preset {
    let strategy = BackoffStrategy::new(
        Backoff::exponential(Duration::ZERO, 1.0, Duration::ZERO),
        Limits::none().with_max_attempts(1).with_time(DEADLINE, TimeRule::Strict),
    );
    document("memorystore", "google.cloud.redis.v1: redis_grpc_service_config.json", strategy)
        .with_statuses(StatusSet::EMPTY)
        .with_transport_failures(TransportFailures::NONE)
        .with_idempotency_table(IdempotencyTable::http_methods())
}
