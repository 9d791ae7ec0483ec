//! A random policy.

use super::{Draw, RandomBudget, Witness};
use crate::generated::test::talk::v1::{TalkSettings, TalkStubSettings};
use gax_driver::observe::{FacadeMetrics, MetricNames};
use gax_http::HttpRetryLayer;
use gax_retry::{Code, CodeSet, Compatibility, Hedging, RetryBudget, RetrySettings};
use gax_table::RetryTable;
use std::sync::Arc;
use std::time::Duration;
use tonic_gax::{OperationOptions, ReplayOptions, RetryLayer};

/// How the calls of a run are retried or hedged.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RandomPolicy {
    /// Limits and back-off.
    pub settings: RetrySettings,
    /// The retryable codes.
    pub codes: CodeSet,
    /// By whose rules.
    pub compatibility: Compatibility,
    /// How calls are hedged, in place of being retried.
    pub hedging: Option<Hedging>,
    /// The budget that retries and hedges draw on.
    pub budget: Option<RandomBudget>,
    /// The longest request that is kept to be sent again.
    pub max_replay_bytes: Option<usize>,
    /// Where jitter comes from.
    pub jitter_seed: u64,
}

const CODES: [Code; 6] = [
    Code::DeadlineExceeded,
    Code::ResourceExhausted,
    Code::Aborted,
    Code::Internal,
    Code::Unknown,
    Code::Cancelled,
];

impl RandomPolicy {
    /// Draws one.
    #[must_use]
    pub fn draw(draw: &mut Draw) -> Self {
        let codes = |draw: &mut Draw| {
            let mut codes = CodeSet::from(Code::Unavailable);
            for code in CODES {
                if draw.percent(25) {
                    codes = codes.with(code);
                }
            }
            codes
        };
        let settings = Self::settings(draw);
        let hedging = draw.sometimes(35, |draw| {
            let hedging = Hedging::new(draw.small(1, 7));
            let hedging = match draw.below(4) {
                0 => hedging,
                1 => hedging.percentile(0.9).delay(draw.ms(1, 100)),
                _ => hedging.delay(draw.ms(1, 250)),
            };
            let hedging = hedging.non_fatal_codes(codes(draw));
            if draw.percent(50) { hedging.allow_non_idempotent() } else { hedging }
        });
        Self {
            settings,
            codes: codes(draw),
            compatibility: draw.pick(&[
                Compatibility::Documented,
                Compatibility::Documented,
                Compatibility::GaxJava,
                Compatibility::Grpc,
            ]),
            hedging,
            budget: draw.sometimes(40, RandomBudget::draw),
            max_replay_bytes: draw.sometimes(10, |draw| draw.pick(&[0, 64])),
            jitter_seed: draw.below(u64::MAX),
        }
    }

    fn settings(draw: &mut Draw) -> RetrySettings {
        let mut builder = RetrySettings::builder().jittered(draw.percent(60));
        let is_timed = draw.percent(80);
        if is_timed {
            builder = builder.total_timeout(draw.ms(1, 4000));
        }
        if draw.percent(60) {
            let first = draw.ms(1, 800);
            builder = builder.initial_rpc_timeout(first).rpc_timeout_multiplier(draw.pick(&[1.0, 1.5, 2.0]));
            if draw.percent(50) {
                builder = builder.max_rpc_timeout(first + draw.ms(0, 800));
            }
        }
        if draw.percent(8) {
            // More attempts than a report has rows.
            let delay = draw.pick(&[Duration::ZERO, Duration::from_millis(1)]);
            builder = builder.initial_retry_delay(delay).max_attempts(draw.small(60, 150));
        } else {
            let first = draw.ms(0, 300);
            builder = builder.initial_retry_delay(first).retry_delay_multiplier(draw.pick(&[1.0, 1.3, 2.0]));
            if draw.percent(50) {
                builder = builder.max_retry_delay(first + draw.ms(0, 500));
            }
            // Nothing is retried without a limit, and a delay of nothing needs one that is no time.
            if first.is_zero() || !is_timed || draw.percent(70) {
                builder = builder.max_attempts(draw.small(1, 7));
            }
        }
        builder.build().unwrap()
    }

    /// The most attempts of a call; `None`: only time bounds them.
    #[must_use]
    pub fn most_attempts(&self) -> Option<u32> {
        let most = match self.hedging {
            Some(hedging) => Some(hedging.max_attempts()),
            None => self.settings.max_attempts(),
        };
        match self.compatibility {
            Compatibility::Grpc => Some(most.map_or(5, |most| most.min(5))),
            _ => most,
        }
    }

    /// The codes that another attempt may follow.
    #[must_use]
    pub fn recoverable_codes(&self) -> CodeSet {
        self.hedging.map_or(self.codes, |hedging| hedging.codes())
    }

    fn budget(&self) -> Option<RetryBudget> {
        self.budget.map(RandomBudget::budget)
    }

    fn options(&self, witness: &Witness) -> OperationOptions {
        OperationOptions::new()
            .compatibility(self.compatibility)
            .retry_budget(self.budget())
            .reports(true)
            .jitter_seed(self.jitter_seed)
            .observer(Arc::new(witness.clone()))
    }

    /// The layer whose table says so of every method of Talk, with the kinds of its methods or without.
    pub fn layer(&self, witness: &Witness, is_described: bool) -> RetryLayer {
        let mut table = RetryTable::builder().service("test.talk.v1.Talk", self.settings.clone(), self.codes);
        if let Some(hedging) = self.hedging {
            table = table.hedged(hedging.allow_non_idempotent());
        }
        let mut layer = RetryLayer::new(table.build().unwrap()).options(self.options(witness));
        if let Some(bytes) = self.max_replay_bytes {
            layer = layer.replay(ReplayOptions::new().max_replay_bytes(bytes));
        }
        if is_described { layer.facts(&crate::generated::facts()) } else { layer }
    }

    /// The generated client's settings. Its calls are measured by the facade `metrics` as well.
    pub fn client(&self, witness: &Witness) -> TalkSettings {
        let mut stub = TalkStubSettings::builder();
        stub.ask().set_retry_settings(self.settings.clone()).set_retryable_codes(self.codes);
        let hedging = self.hedging.map(Hedging::allow_non_idempotent);
        stub.ask().set_hedging(hedging);
        stub.listen().set_retry_settings(self.settings.clone()).set_retryable_codes(self.codes);
        stub.listen().set_hedging(hedging);
        let settings = TalkSettings::create(stub.build().unwrap())
            .with_options(self.options(witness))
            .with_options(OperationOptions::new().observer(Arc::new(FacadeMetrics::new(MetricNames::new()))));
        match self.max_replay_bytes {
            Some(bytes) => settings.with_replay(ReplayOptions::new().max_replay_bytes(bytes)),
            None => settings,
        }
    }

    /// The layer for HTTP.
    pub fn http_layer(&self, witness: &Witness) -> HttpRetryLayer {
        let layer = HttpRetryLayer::new(&self.settings, self.codes)
            .options(self.options(witness))
            .hedging(self.hedging);
        match self.max_replay_bytes {
            Some(bytes) => layer.max_replay_bytes(bytes),
            None => layer,
        }
    }
}
