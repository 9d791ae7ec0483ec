//! Other client libraries.

use super::Preset;
use crate::http::{
    IdempotencyRule, IdempotencyStrategy, IdempotencyTable, OperationClass, Precondition, StatusSet,
};
use crate::strategy::{Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
use std::time::Duration;

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) fn if_etag_in_body() -> OperationClass {
    OperationClass::conditional([Precondition::body_field("etag")])
}

pub(super) fn never(name: &'static str) -> (&'static str, OperationClass) {
    (name, OperationClass::Never)
}

/// The storage table with another word on these operations.
pub(super) fn changed<'a>(
    table: IdempotencyTable,
    changes: impl IntoIterator<Item = (&'a str, OperationClass)>,
) -> IdempotencyTable {
    changes.into_iter().fold(table, |table, (name, class)| {
        table.with_class(name, class).expect("the names of changes are those of the table's rows")
    })
}

pub(super) fn if_any_query<const N: usize>(names: [&'static str; N]) -> OperationClass {
    OperationClass::conditional(names.map(Precondition::query))
}

/// The requests that libraries retry with `ifMetagenerationMatch` only, where the document also takes an etag.
pub(super) fn if_metageneration_only() -> impl Iterator<Item = (&'static str, OperationClass)> {
    ["storage.buckets.patch", "storage.buckets.update", "storage.objects.patch", "storage.objects.update"]
        .into_iter()
        .map(|name| (name, if_any_query(["ifMetagenerationMatch"])))
}

/// The rule for requests that begin a session of a resumable upload.
fn session_of_upload(class: OperationClass) -> IdempotencyRule {
    let name = "storage.objects.insert (resumable upload, start)";
    let rule = IdempotencyRule::new(name, "POST", "/b/{bucket}/o", class);
    rule.expect("the pattern is valid").for_query("uploadType", "resumable").of_storage()
}

/// `java-storage`: 1 s, then each wait the previous one times two, and up to as much again at random, at most 32 s
/// and at most what is left of 50 s; six attempts.
///
/// The random part compounds. Restoring is always retried; HMAC keys' update never; no etag is applied
/// but a policy's. This is the library's default strategy.
pub fn java_storage() -> Preset {
    let strategy = BackoffStrategy::new(
        Backoff::exponential(s(1), 2.0, s(32)).with_jitter(Jitter::Compounding),
        Limits::none().with_max_attempts(6).with_time(s(50), TimeRule::Clip),
    );
    let table = changed(
        IdempotencyTable::storage(),
        if_metageneration_only().chain([
            ("storage.objects.restore", OperationClass::Always),
            ("storage.objects.move", if_any_query(["ifGenerationMatch"])),
            ("storage.buckets.setIamPolicy", if_etag_in_body()),
            never("storage.hmacKey.update"),
        ]),
    );
    Preset::new("java-storage", "google-cloud-storage for Java 2.74.0, as it runs", strategy)
        .with_idempotency_table(table)
}

/// `java-storage-uniform`: [`java_storage`] by the library's uniform strategy, which treats every request
/// alike.
pub fn java_storage_uniform() -> Preset {
    let strategy = java_storage().backoff_strategy();
    Preset::new("java-storage-uniform", "google-cloud-storage for Java 2.74.0, as it runs", strategy)
        .with_strategy(IdempotencyStrategy::Always)
}

/// `go`: a random wait from 1 ns to 1, 2, 4 ... 30 s, without any limit: the caller's timeout ends the
/// operation. Every 5xx, 408 and 429.
///
/// Moving is always retried, a session of a resumable upload that begins with any precondition, and its chunks; an upload in one request
/// with `ifGenerationMatch` only. (The library does not retry a deletion whose `ifGenerationMatch` is 0; here only the presence of the
/// parameter decides. It retries chunks from 100 ms on and for 32 s, also by its policy `RetryNever`.)
pub fn go() -> Preset {
    let backoff = Backoff::exponential(s(1), 2.0, s(30)).with_cap(Cap::BeforeJitter);
    let strategy = BackoffStrategy::new(backoff.with_jitter(Jitter::FullNanos), Limits::none());
    let any_condition = if_any_query([
        "upload_id",
        "ifGenerationMatch",
        "ifGenerationNotMatch",
        "ifMetagenerationMatch",
        "ifMetagenerationNotMatch",
    ]);
    let table = changed(
        IdempotencyTable::storage(),
        if_metageneration_only().chain([
            ("storage.objects.move", OperationClass::Always),
            ("storage.buckets.setIamPolicy", if_etag_in_body()),
            ("storage.hmacKey.update", if_etag_in_body()),
        ]),
    );
    let table = table.with_rule(session_of_upload(any_condition));
    Preset::new("go", "cloud.google.com/go/storage v1.70.0, as it runs", strategy)
        .with_statuses(StatusSet::ALL_SERVER_ERRORS)
        .with_idempotency_table(table)
        .with_note(
            "the library retries chunks of uploads from 100 ms on, for 32 s each and by every policy; here like the rest",
        )
}

/// `gax-node`: the settings that generated Node clients share: a random wait from nothing to 100 ms x 1.3^n, at most
/// 60 s, within 600 s, for 503 and 504.
///
/// A wait is made whole, and then the time is looked at. (The library reports `DEADLINE_EXCEEDED` then;
/// here the last error stays.)
pub fn gax_node() -> Preset {
    let backoff = Backoff::exponential(Duration::from_millis(100), 1.3, s(60)).with_cap(Cap::BeforeJitter);
    let limits = Limits::none().with_time(s(600), TimeRule::Check);
    let strategy = BackoffStrategy::new(backoff.with_jitter(Jitter::Full), limits);
    Preset::new("gax-node", "google-gax 5.0.8, as it runs", strategy)
        .with_statuses(StatusSet::from([503, 504]))
        .with_idempotency_table(IdempotencyTable::http_methods())
}

/// `cpp`: a wait in whole milliseconds from 1 to 2 s, 2 to 4 s and so on, in the end from 150 to 300 s, for
/// 15 minutes. Requests are retried whether they are safe or not, which is the library's default.
pub fn cpp() -> Preset {
    let strategy = BackoffStrategy::new(
        Backoff::exponential(s(1), 2.0, s(300)).with_jitter(Jitter::Window),
        Limits::none().with_time(s(15 * 60), TimeRule::Check),
    );
    Preset::new("cpp", "google-cloud-cpp storage, from its source and reference", strategy)
        .with_strategy(IdempotencyStrategy::Always)
}

/// `cpp-strict`: [`cpp`] with `StrictIdempotencyPolicy`.
pub fn cpp_strict() -> Preset {
    let strategy = cpp().backoff_strategy();
    Preset::new("cpp-strict", "google-cloud-cpp storage, from its source and reference", strategy)
}

/// `csharp`: 1, 2, 4 ... 32 s without any random part, three attempts.
pub fn csharp() -> Preset {
    let strategy =
        BackoffStrategy::new(Backoff::exponential(s(1), 2.0, s(32)), Limits::none().with_max_attempts(3));
    Preset::new("csharp", "Google.Cloud.Storage.V1, from its source and reference", strategy)
}

/// `php`: min(2^n s + 0..1 s, 60 s), in microseconds; three retries.
pub fn php() -> Preset {
    let jitter = Jitter::Added { unit: Duration::from_micros(1), most: 1_000_000 };
    let backoff = Backoff::exponential(s(1), 2.0, s(60)).with_jitter(jitter);
    let strategy = BackoffStrategy::new(backoff, Limits::none().with_max_retries(3));
    Preset::new("php", "google/cloud-storage for PHP, from its source and reference", strategy)
}

/// `ruby`: 1, 2, 4 ... 60 s, half of it more or less; three retries within 900 s.
pub fn ruby() -> Preset {
    let backoff = Backoff::exponential(s(1), 2.0, s(60))
        .with_cap(Cap::BeforeJitter)
        .with_jitter(Jitter::Spread { fraction: 0.5 });
    let limits = Limits::none().with_max_retries(3).with_time(s(900), TimeRule::Refuse);
    let strategy = BackoffStrategy::new(backoff, limits);
    Preset::new("ruby", "google-cloud-storage for Ruby, from its source and reference", strategy)
        .with_statuses(StatusSet::ALL_SERVER_ERRORS)
}

/// `rust`: a random wait from nothing to 1, 2, 4 ... 60 s, within 300 s; 408, 429 and every 5xx.
pub fn rust() -> Preset {
    let backoff =
        Backoff::exponential(s(1), 2.0, s(60)).with_cap(Cap::BeforeJitter).with_jitter(Jitter::Full);
    let strategy = BackoffStrategy::new(backoff, Limits::none().with_time(s(300), TimeRule::Refuse));
    Preset::new("rust", "google-cloud-storage of google-cloud-rust, from its source", strategy)
        .with_statuses(StatusSet::ALL_SERVER_ERRORS)
}
