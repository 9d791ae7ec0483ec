//! gsutil, as documented and as it is.

use super::{BotoConfig, Preset};
use crate::http::{IdempotencyStrategy, StatusSet};
use crate::strategy::{Backoff, BackoffStrategy, Cap, Jitter, Limits};
use std::time::Duration;

const TOOL: &str = "gsutil 5.38, as it runs";

fn from_one_second(max: Duration) -> Backoff {
    Backoff::exponential(Duration::from_secs(1), 2.0, max)
}

/// `gsutil-doc`: as documented: a random wait from nothing to 1, 2, 4 ... 60 s, and 23 retries.
pub fn gsutil_doc() -> Preset {
    BotoConfig::default().gsutil_doc()
}

/// `gsutil`: as it is with the JSON API: 2, 4, 8, 16, 32 s, a quarter more or less, at most 32 s; 23
/// attempts in all; 429 and every 5xx, but not 408.
pub fn gsutil() -> Preset {
    BotoConfig::default().gsutil()
}

/// `gsutil-xml`: as it is with the XML API: a random share of 1, 2, 4 ... s, at most 60 s; 23 retries; 500,
/// 502, 503 and 504.
pub fn gsutil_xml() -> Preset {
    BotoConfig::default().gsutil_xml()
}

impl BotoConfig {
    /// The preset [`gsutil_doc`] with the file's numbers.
    pub fn gsutil_doc(&self) -> Preset {
        let max = self.max_retry_delay().unwrap_or(Duration::from_secs(60));
        let backoff = from_one_second(max).with_cap(Cap::BeforeJitter).with_jitter(Jitter::Full);
        let limits = Limits::none().with_max_retries(self.num_retries().unwrap_or(23));
        let strategy = BackoffStrategy::new(backoff, limits);
        Preset::new("gsutil-doc", "Cloud Storage, Retry strategy: gsutil tab", strategy)
            .with_statuses(StatusSet::ALL_SERVER_ERRORS)
            .with_strategy(IdempotencyStrategy::Always)
    }

    /// The preset [`gsutil`] with the file's numbers. Its number of retries is the number of attempts.
    pub fn gsutil(&self) -> Preset {
        let max = self.max_retry_delay().unwrap_or(Duration::from_secs(32));
        let backoff = from_one_second(max)
            .with_first_exponent(1)
            .with_jitter(Jitter::Spread { fraction: 0.25 })
            .with_min(Duration::from_secs(1));
        let limits = Limits::none().with_max_attempts(self.num_retries().unwrap_or(23));
        Preset::new("gsutil", TOOL, BackoffStrategy::new(backoff, limits))
            .with_statuses(StatusSet::EMPTY.with(429).with_range(500, 599))
            .with_strategy(IdempotencyStrategy::Always)
    }

    /// The preset [`gsutil_xml`] with the file's numbers.
    pub fn gsutil_xml(&self) -> Preset {
        let max = self.max_retry_delay().unwrap_or(Duration::from_secs(60));
        let backoff = from_one_second(max).with_jitter(Jitter::Full);
        let limits = Limits::none().with_max_retries(self.num_retries().unwrap_or(23));
        Preset::new("gsutil-xml", TOOL, BackoffStrategy::new(backoff, limits))
            .with_statuses(StatusSet::from([500, 502, 503, 504]))
            .with_strategy(IdempotencyStrategy::Always)
    }
}
