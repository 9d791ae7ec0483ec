//! Node's @google-cloud/storage.

use super::Preset;
use super::libraries::{changed, if_any_query, if_etag_in_body, if_metageneration_only, never};
use crate::http::{IdempotencyStrategy, IdempotencyTable, OperationClass};
use crate::strategy::{Backoff, BackoffStrategy, Jitter, Limits, TimeRule};
use std::time::Duration;

const LIBRARY: &str = "@google-cloud/storage 7.22.0, as it runs";
const SOURCE: &str = "@google-cloud/storage 7.22.0, from its source";

/// The library's `retryOptions`.
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | `auto_retry` | true |
/// | `max_retries` | 3 |
/// | `retry_delay_multiplier` | 2 |
/// | `total_timeout` | 600 s |
/// | `max_retry_delay` | 64 s |
/// | `idempotency_strategy` | conditional |
///
/// As in the library, zero for a number means its default.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::presets::NodeRetryOptions;
/// use std::time::Duration;
///
/// let options = NodeRetryOptions::default().with_max_retries(5).with_total_timeout(Duration::ZERO);
/// assert_eq!(options.preset().backoff_strategy().limits().max_attempts(), Some(6));
/// assert_eq!(options.preset().backoff_strategy().limits().time().unwrap().0, Duration::from_secs(600));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct NodeRetryOptions {
    auto_retry: bool,
    max_retries: u32,
    retry_delay_multiplier: f64,
    total_timeout: Duration,
    max_retry_delay: Duration,
    idempotency_strategy: IdempotencyStrategy,
}

impl Default for NodeRetryOptions {
    fn default() -> Self {
        Self {
            auto_retry: true,
            max_retries: 3,
            retry_delay_multiplier: 2.0,
            total_timeout: Duration::from_secs(600),
            max_retry_delay: Duration::from_secs(64),
            idempotency_strategy: IdempotencyStrategy::Conditional,
        }
    }
}

impl NodeRetryOptions {
    gax_text::setters! { self:
        /// Sets whether anything is retried.
        pub with_auto_retry(auto_retry: bool) => self.auto_retry = auto_retry;

        /// The number of retries.
        pub with_max_retries(max_retries: u32) => self.max_retries = max_retries;

        /// The factor that the wait of one second grows by.
        pub with_retry_delay_multiplier(retry_delay_multiplier: f64) => self.retry_delay_multiplier = retry_delay_multiplier;

        /// The time after which no retry is made; a wait is shortened to the rest of it.
        pub with_total_timeout(total_timeout: Duration) => self.total_timeout = total_timeout;

        /// The longest wait.
        pub with_max_retry_delay(max_retry_delay: Duration) => self.max_retry_delay = max_retry_delay;

        /// Which requests are retried.
        pub with_idempotency_strategy(idempotency_strategy: IdempotencyStrategy) =>
            self.idempotency_strategy = idempotency_strategy;
    }

    /// The preset [`node`] with these options.
    pub fn preset(&self) -> Preset {
        let jitter = Jitter::Added { unit: Duration::from_millis(1), most: 999 };
        let waits = |backoff: Backoff| backoff.with_first_exponent(1).with_jitter(jitter);
        self.with_backoff("node", LIBRARY, waits).with_note(
            "the library waits 1.5 s and 3 s before it repeats a multipart upload, repeats no chunk of a session begun without \
             ifGenerationMatch, and counts resets and statuses apart; here all requests are treated alike",
        )
    }

    /// The preset [`node_upload`] with these options.
    pub fn upload_preset(&self) -> Preset {
        let jitter = Jitter::AddedRounded { unit: Duration::from_millis(1), most: 1000 };
        self.with_backoff("node-upload", LIBRARY, |backoff| backoff.with_jitter(jitter))
    }

    /// The preset [`node_upload_session`] with these options.
    pub fn upload_session_preset(&self) -> Preset {
        let waits = |backoff: Backoff| backoff.with_jitter(Jitter::UpToDouble);
        self.with_backoff("node-upload-session", SOURCE, waits).with_note(
            "the library checks the 600 s when an attempt has failed, and sorts its waits; here a wait is shortened to the remaining time",
        )
    }

    fn with_backoff(
        &self,
        name: &'static str,
        source: &'static str,
        jittered: impl FnOnce(Backoff) -> Backoff,
    ) -> Preset {
        let default = Self::default();
        let multiplier = if self.retry_delay_multiplier > 0.0 {
            self.retry_delay_multiplier
        } else {
            default.retry_delay_multiplier
        };
        let or = |given: Duration, default| if given.is_zero() { default } else { given };
        let max_retry_delay = or(self.max_retry_delay, default.max_retry_delay);
        let total_timeout = or(self.total_timeout, default.total_timeout);
        let max_retries = if self.max_retries == 0 { default.max_retries } else { self.max_retries };
        let backoff_strategy = BackoffStrategy::new(
            jittered(Backoff::exponential(Duration::from_secs(1), multiplier, max_retry_delay)),
            Limits::none().with_max_retries(max_retries).with_time(total_timeout, TimeRule::Clip),
        );
        let preset = Preset::new(name, source, backoff_strategy)
            .with_idempotency_table(table())
            .with_strategy(self.idempotency_strategy);
        if self.auto_retry { preset } else { preset.without_retry() }
    }
}

/// Requests about which the library asks its strategy. All others it retries, or not, whatever the strategy is: `RetryAlways` doesn't
/// repeat the creation of HMAC keys, of notifications and of ACLs' entries, nor a policy without an etag, and `RetryNever` repeats
/// the rest.
const BY_THE_STRATEGY: [&str; 15] = [
    "storage.buckets.patch",
    "storage.buckets.update",
    "storage.objects.insert",
    "storage.objects.insert (resumable upload)",
    "storage.objects.insert (resumable upload, cancel)",
    "storage.objects.delete",
    "storage.objects.patch",
    "storage.objects.update",
    "storage.objects.setIamPolicy",
    "storage.objects.compose",
    "storage.objects.copy",
    "storage.objects.rewrite",
    "storage.objects.move",
    "storage.hmacKey.update",
    "storage (any head)",
];

/// The library retries changes and removals of ACLs, and watching, objects' deletion and moving with
/// `ifGenerationMatch` only, HMAC keys' update never, and applies no etag but a policy's.
fn table() -> IdempotencyTable {
    let acls = ["bucket_acl", "default_object_acl", "object_acl"]
        .into_iter()
        .flat_map(|acl| ["delete", "patch", "update"].map(|verb| format!("storage.{acl}.{verb}")));
    let table = acls
        .fold(IdempotencyTable::storage(), |table, name| changed(table, [(&*name, OperationClass::Always)]));
    let always = ["storage.objects.watchAll", "storage.channels.stop"];
    changed(
        table,
        if_metageneration_only()
            .chain([
                ("storage.objects.delete", if_any_query(["ifGenerationMatch"])),
                ("storage.objects.move", if_any_query(["ifGenerationMatch"])),
                ("storage.buckets.setIamPolicy", if_etag_in_body()),
                never("storage.hmacKey.update"),
            ])
            .chain(always.map(|name| (name, OperationClass::Always))),
    )
    .with_fixed_but(&BY_THE_STRATEGY)
}

/// `node`: min(2^n s + 0..999 ms, what is left, 64 s), n from 1, so that the first wait is over two
/// seconds; three retries in 600 s.
///
/// Once nothing is left of the 600 s the library never completes the call, which is a defect; here the
/// operation ends.
pub fn node() -> Preset {
    NodeRetryOptions::default().preset()
}

/// `node-upload`: the library's resumable uploads, which count n from 0 and round the random
/// milliseconds.
pub fn node_upload() -> Preset {
    NodeRetryOptions::default().upload_preset()
}

/// `node-upload-session`: how the library begins a resumable upload, and sends an object in one piece: a random wait
/// from 1 to 2 s, from 2 to 4 s, from 4 to 8 s, in whole milliseconds.
pub fn node_upload_session() -> Preset {
    NodeRetryOptions::default().upload_session_preset()
}
