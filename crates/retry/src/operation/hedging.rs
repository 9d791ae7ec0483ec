//! Attempts that are sent before the ones in flight have got their replies (gRFC A6, hedging).

use super::latencies::{ENOUGH, Latencies};
use crate::settings::SettingsProblem;
use crate::{CodeSet, IntoCodes};
use gax_text::Human;
use std::sync::Arc;
use std::time::Duration;

/// How an operation is hedged, instead of being retried: another attempt is sent while earlier ones are in flight,
/// the first good reply wins, and the others are cancelled.
///
/// Hedging buys a shorter tail of latencies for more load: only if an attempt may be made twice, and better with a
/// [`RetryBudget`](crate::RetryBudget). In stub settings a method has to be idempotent for it, unless
/// [`allow_non_idempotent`](Self::allow_non_idempotent) says otherwise. The rules are gRFC A6's.
///
/// # Defaults
///
/// All attempts are sent at once; every error ends the operation.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::{Code, Hedging};
/// use std::time::Duration;
///
/// // A second attempt after 300 ms, a third after 600 ms.
/// let fixed = Hedging::new(3).delay(Duration::from_millis(300)).non_fatal_codes([Code::Unavailable]);
/// // A second attempt once the first takes longer than 95 of 100 did.
/// let measured = Hedging::new(2).percentile(0.95);
/// # let _ = (fixed, measured);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Hedging {
    max_attempts: u32,
    delay: Option<Duration>,
    percentile: Option<f64>,
    non_fatal_codes: CodeSet,
    allows_non_idempotent: bool,
    /// The first of the codes that is none.
    wrong_code: Option<i32>,
}

impl Hedging {
    /// How many calls of a method must have been recorded before a [`percentile`](Self::percentile) applies: 20.
    pub const FIRST_CALLS: u64 = ENOUGH;

    /// Up to so many attempts in all, the first one included. With 1 nothing is hedged. By gRPC's rules no more than
    /// five are made, whatever this says.
    pub const fn new(max_attempts: u32) -> Self {
        Self {
            max_attempts,
            delay: None,
            percentile: None,
            non_fatal_codes: CodeSet::EMPTY,
            allows_non_idempotent: false,
            wrong_code: None,
        }
    }

    pub(super) fn set_max_attempts(&mut self, attempts: u32) {
        self.max_attempts = attempts;
    }

    gax_text::setters! { const self:
        /// The time between two attempts while none has got a reply. Zero, the default, sends all at once.
        pub delay(delay: Duration) => self.delay = Some(delay);

        /// Sends the next attempt when this one takes longer than this part of the method's calls, such as 0.95. The last
        /// 128 calls of the method are compared by the time of their first attempt, until it ended or another attempt won.
        ///
        /// Until [20 calls](Self::FIRST_CALLS) are recorded, the [`delay`](Self::delay) applies; without one, no hedge is sent. Anything
        /// but a number above 0 and below 1 is one of the [`problems`](Self::problems).
        pub percentile(percentile: f64) => self.percentile = Some(percentile);

        /// For generated code.
        #[doc(hidden)]
        pub non_fatal_code_set(codes: CodeSet) => self.non_fatal_codes = codes;
    }

    /// The codes that don't end the operation: after one of them the next attempt is sent immediately. They are codes
    /// of this crate, of tonic, or their numbers; a number that isn't a code is one of the
    /// [`problems`](Self::problems).
    pub fn non_fatal_codes<K>(self, codes: impl IntoCodes<K>) -> Self {
        match codes.into_codes() {
            Ok(codes) => Self { non_fatal_codes: codes, wrong_code: None, ..self },
            Err(error) => Self { wrong_code: Some(error.text().parse().unwrap_or(-1)), ..self },
        }
    }

    /// Hedges methods that are not known to be idempotent as well: the server may carry out such a call more than once.
    pub const fn allow_non_idempotent(self) -> Self {
        Self { allows_non_idempotent: true, ..self }
    }

    /// The problems by which it can't work: no attempts, a percentile that is not between 0 and 1, or a number that isn't a code.
    /// Such hedging is refused by the `build()` of stub settings, and ends any other operation with
    /// [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions) before anything is sent.
    #[must_use]
    pub fn problems(&self) -> Vec<SettingsProblem> {
        let attempts = (self.max_attempts == 0).then(|| {
            SettingsProblem::new("hedging.max_attempts", "0", "must be at least 1 (the first attempt counts)")
        });
        let percentile = self.percentile.filter(|percentile| !(*percentile > 0.0 && *percentile < 1.0));
        let percentile = percentile.map(|percentile| {
            SettingsProblem::new("hedging.percentile", percentile.to_string(), "must be above 0 and below 1")
        });
        let code = self.wrong_code.map(|code| {
            let reason = "must be a gRPC status code (0 to 16)";
            SettingsProblem::new("hedging.non_fatal_codes", code.to_string(), reason)
        });
        attempts.into_iter().chain(percentile).chain(code).collect()
    }

    gax_text::getters! { self:
        /// The number of attempts, the first one included.
        pub max_attempts: u32 = self.max_attempts;

        /// The time between two attempts; `None`: as soon as possible, or as the percentile says.
        pub delay_between: Option<Duration> = self.delay;

        /// The part of the method's calls whose latency is the time between two attempts.
        pub percentile_of_latencies: Option<f64> = self.percentile;

        /// The codes that don't end the operation.
        pub codes: CodeSet = self.non_fatal_codes;

        /// Returns whether methods that are not known to be idempotent are hedged as well.
        pub allows_non_idempotent: bool = self.allows_non_idempotent;
    }

    /// When attempts follow each other, in words, such as `300 ms apart`.
    #[must_use]
    pub fn spacing(&self) -> String {
        match (self.percentile, self.delay) {
            // Ten digits are more than anybody writes, and fewer than show how numbers are kept.
            (Some(percentile), _) => {
                format!("once one is slower than {} % of the calls before", (percentile * 1e10).round() / 1e8)
            }
            (None, Some(delay)) if !delay.is_zero() => format!("{:#} apart", Human(delay)),
            (None, _) => "all at once".to_owned(),
        }
    }

    /// Where the latencies are counted that a percentile needs.
    pub(super) fn latencies(&self) -> Option<Arc<Latencies>> {
        self.percentile.map(|percentile| Arc::new(Latencies::new(percentile)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_is_set_is_read_back() {
        let bare = Hedging::new(3);
        assert_eq!(bare.max_attempts(), 3);
        assert_eq!(bare.delay_between(), None);
        assert_eq!(bare.percentile_of_latencies(), None);
        assert_eq!(bare.codes(), CodeSet::EMPTY);
        assert!(!bare.allows_non_idempotent());

        let full =
            bare.delay(7 * MS).percentile(0.95).non_fatal_codes(Code::Unavailable).allow_non_idempotent();
        assert_eq!(full.max_attempts(), 3);
        assert_eq!(full.delay_between(), Some(7 * MS));
        assert_eq!(full.percentile_of_latencies(), Some(0.95));
        assert_eq!(full.codes(), Code::Unavailable.into());
        assert!(full.allows_non_idempotent());

        let codes = Code::Unavailable.into();
        assert_eq!(
            const { Hedging::new(3).delay(Duration::from_millis(7)).percentile(0.95).allow_non_idempotent() }
                .non_fatal_code_set(codes),
            full
        );
    }

    #[test]
    fn the_spacing_in_words() {
        assert_eq!(Hedging::new(2).spacing(), "all at once");
        assert_eq!(Hedging::new(2).delay(Duration::ZERO).spacing(), "all at once");
        assert_eq!(Hedging::new(2).delay(300 * MS).spacing(), "300 ms apart");
        let measured = Hedging::new(2).delay(300 * MS).percentile(0.95);
        assert_eq!(measured.spacing(), "once one is slower than 95 % of the calls before");
        assert_eq!(
            measured.percentile(0.999).spacing(),
            "once one is slower than 99.9 % of the calls before"
        );
    }

    #[test]
    fn no_attempts_and_odd_percentiles_are_problems() {
        let problems = |hedging: Hedging| {
            hedging.problems().iter().map(|problem| problem.field().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(problems(Hedging::new(0).percentile(1.5)), ["hedging.max_attempts", "hedging.percentile"]);
        for percentile in [f64::NAN, f64::NEG_INFINITY, -0.5, 0.0, 1.0, 1.5] {
            assert_eq!(
                problems(Hedging::new(1).percentile(percentile)),
                ["hedging.percentile"],
                "{percentile}"
            );
        }
        for percentile in [f64::MIN_POSITIVE, 0.5, 0.999_999] {
            assert!(problems(Hedging::new(1).percentile(percentile)).is_empty(), "{percentile}");
        }
        assert!(problems(Hedging::new(1)).is_empty());
    }

    #[test]
    fn the_last_codes_count_and_what_is_no_code_is_a_problem() {
        let values = |hedging: Hedging| {
            let problems = hedging.problems();
            problems.iter().map(|problem| (problem.field().to_owned(), problem.value().to_owned())).collect()
        };
        let of = |value: &str| vec![("hedging.non_fatal_codes".to_owned(), value.to_owned())];
        let wrong: Vec<(String, String)> = values(Hedging::new(2).non_fatal_codes([14, 99]));
        assert_eq!(wrong, of("99"));
        // A name has no number.
        let named = "NO_SUCH_CODE".parse::<Code>().map(CodeSet::from);
        assert_eq!(values(Hedging::new(2).non_fatal_codes(named)), of("-1"));
        let mended = Hedging::new(2).non_fatal_codes(99).non_fatal_codes(Code::Aborted);
        assert_eq!((values(mended), mended.codes()), (vec![], Code::Aborted.into()));
    }
}
