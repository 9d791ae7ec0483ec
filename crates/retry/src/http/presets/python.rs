//! Python's google-cloud-storage.

use super::Preset;
use super::libraries::{changed, if_etag_in_body, if_metageneration_only, never};
use crate::http::{IdempotencyStrategy, IdempotencyTable, OperationClass, Precondition};
use crate::strategy::{Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
use std::time::Duration;

const DOCUMENT: &str = "Cloud Storage, Retry strategy: Python tab";
const LIBRARY: &str = "google-cloud-storage 3.17.1 with google-api-core 2.44.0, as it runs";

/// uniform(0, min(2^n, 60)) s. The operation ends rather than begin a wait beyond 120 s.
fn exponential() -> BackoffStrategy {
    BackoffStrategy::new(
        Backoff::exponential(Duration::from_secs(1), 2.0, Duration::from_secs(60))
            .with_cap(Cap::BeforeJitter)
            .with_jitter(Jitter::Full),
        Limits::none().with_time(Duration::from_secs(120), TimeRule::Refuse),
    )
}

/// `python-doc`: the library as documented: its waits and statuses, the document's table.
pub fn python_doc() -> Preset {
    Preset::new("python-doc", DOCUMENT, exponential())
}

/// `python`: the library as it runs. Unlike the document it retries insert, delete and patch of objects
/// without any precondition, never retries the update of an HMAC key, and applies no etag but a policy's.
pub fn python() -> Preset {
    let table = changed(
        IdempotencyTable::storage(),
        if_metageneration_only().chain([
            ("storage.objects.insert", OperationClass::Always),
            ("storage.objects.delete", OperationClass::Always),
            ("storage.objects.patch", OperationClass::Always),
            ("storage.buckets.setIamPolicy", if_etag_in_body()),
            never("storage.hmacKey.update"),
        ]),
    );
    Preset::new("python", LIBRARY, exponential()).with_idempotency_table(table)
}

/// `python-default-retry`: `DEFAULT_RETRY`, given to a method by hand: every request is retried.
pub fn python_default_retry() -> Preset {
    Preset::new("python-default-retry", DOCUMENT, exponential()).with_strategy(IdempotencyStrategy::Always)
}

/// `python-default-retry-if-generation-specified`: `DEFAULT_RETRY_IF_GENERATION_SPECIFIED`: retried with
/// `generation` or `ifGenerationMatch`.
pub fn python_default_retry_if_generation_specified() -> Preset {
    Preset::new("python-default-retry-if-generation-specified", DOCUMENT, exponential())
        .with_condition([Precondition::query("generation"), Precondition::query("ifGenerationMatch")])
}

/// `python-default-retry-if-metageneration-specified`: `DEFAULT_RETRY_IF_METAGENERATION_SPECIFIED`:
/// retried with `ifMetagenerationMatch`.
pub fn python_default_retry_if_metageneration_specified() -> Preset {
    Preset::new("python-default-retry-if-metageneration-specified", DOCUMENT, exponential())
        .with_condition([Precondition::query("ifMetagenerationMatch")])
}

/// `python-default-retry-if-etag-in-json`: `DEFAULT_RETRY_IF_ETAG_IN_JSON`: retried with an `etag` in the
/// JSON body.
pub fn python_default_retry_if_etag_in_json() -> Preset {
    Preset::new("python-default-retry-if-etag-in-json", DOCUMENT, exponential())
        .with_condition([Precondition::body_field("etag")])
}

/// `python-media-2`: uploads and downloads of the library up to 2.x, by google-resumable-media.
///
/// min(2^n, 64) s and 0 to 1000 ms more, so that a wait may be longer than 64 s; the waits together stay within 600
/// s, not counting the attempts' own time.
pub fn python_media_2() -> Preset {
    let strategy = BackoffStrategy::new(
        Backoff::exponential(Duration::from_secs(1), 2.0, Duration::from_secs(64))
            .with_cap(Cap::BeforeJitter)
            .with_jitter(Jitter::Added { unit: Duration::from_millis(1), most: 1000 }),
        Limits::none().with_time(Duration::from_secs(600), TimeRule::Waits),
    );
    Preset::new("python-media-2", "google-resumable-media, for google-cloud-storage up to 2.x", strategy)
}
