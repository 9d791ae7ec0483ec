//! Which kinds a change of polling or batching is of.

use super::kind::{Kind, Reasons};
use gax_retry::{BatchingSettings, Compatibility, RetrySettings};

/// How often the operations of a method are asked for.
pub(super) fn of_polling(was: Option<&RetrySettings>, is: Option<&RetrySettings>, reasons: &mut Reasons) {
    let (was, is) = match (was, is) {
        (None, None) => return,
        (None, Some(_)) => return reasons.add(Kind::Added, "the table had no settings for polling"),
        (Some(_), None) => {
            return reasons.add(Kind::Removed, "the table no longer has settings for polling");
        }
        (Some(was), Some(is)) => (was, is),
    };
    let [before, now] = [was, is].map(|polling| polling.retry_delays(Compatibility::Documented));
    let delays = [
        now.initial().cmp(&before.initial()),
        now.multiplier().total_cmp(&before.multiplier()),
        now.max().cmp(&before.max()),
    ];
    let [less, more] = ["operations are polled more often", "operations are polled less often"];
    reasons.compare(&delays, [(Kind::MoreAggressive, less), (Kind::LessAggressive, more)]);
    let time = limit(is.total_timeout()).cmp(&limit(was.total_timeout()));
    let [less, more] = ["operations are polled for a shorter time", "operations are polled for longer"];
    reasons.compare(&[time], [(Kind::Faster, less), (Kind::Slower, more)]);
}

/// How many requests the calls of a method become.
pub(super) fn of_batching(
    was: Option<&BatchingSettings>,
    is: Option<&BatchingSettings>,
    reasons: &mut Reasons,
) {
    let (was, is) = match (was, is) {
        (None, None) => return,
        (None, Some(_)) => {
            reasons.add(Kind::Added, "the table had no settings for batching");
            return reasons.add(Kind::LessAggressive, "requests are sent together");
        }
        (Some(_), None) => {
            reasons.add(Kind::Removed, "the table no longer has settings for batching");
            return reasons.add(Kind::MoreAggressive, "requests are sent one by one");
        }
        (Some(was), Some(is)) => (was, is),
    };
    let thresholds = [
        is.element_count_threshold().cmp(&was.element_count_threshold()),
        is.request_byte_threshold().cmp(&was.request_byte_threshold()),
        is.delay_threshold().cmp(&was.delay_threshold()),
    ];
    let limits = [
        limit(is.max_outstanding_elements()).cmp(&limit(was.max_outstanding_elements())),
        limit(is.max_outstanding_bytes()).cmp(&limit(was.max_outstanding_bytes())),
    ];
    let [less, more] = ["batches are sent sooner or are smaller", "batches are sent later or are larger"];
    reasons.compare(&thresholds, [(Kind::MoreAggressive, less), (Kind::LessAggressive, more)]);
    let [less, more] = ["fewer elements may be outstanding", "more elements may be outstanding"];
    reasons.compare(&limits, [(Kind::LessAggressive, less), (Kind::MoreAggressive, more)]);
}

/// A limit that sorts last if there is none.
fn limit<T: Ord>(limit: Option<T>) -> (bool, Option<T>) {
    (limit.is_none(), limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::LimitExceeded;
    use std::time::Duration;

    const S: Duration = Duration::from_secs(1);

    fn kinds(compare: impl FnOnce(&mut Reasons)) -> Vec<&'static str> {
        let mut reasons = Reasons::default();
        compare(&mut reasons);
        reasons.by_kind().map(|(kind, _)| kind.as_str()).collect()
    }

    #[test]
    fn polling_has_kinds() {
        let polling = |first: u32, multiplier: f64, most: u32, total: u32| {
            let builder = RetrySettings::builder()
                .initial_retry_delay(first * S)
                .retry_delay_multiplier(multiplier)
                .max_retry_delay(most * S)
                .total_timeout(total * S);
            builder.build_unchecked()
        };
        let was = polling(5, 1.5, 45, 300);
        let compared = |is: Option<&RetrySettings>| kinds(|reasons| of_polling(Some(&was), is, reasons));
        assert_eq!(compared(Some(&was)), [""; 0]);
        assert_eq!(compared(Some(&polling(4, 1.5, 45, 300))), ["more-aggressive"]);
        assert_eq!(compared(Some(&polling(5, 1.4, 45, 300))), ["more-aggressive"]);
        assert_eq!(compared(Some(&polling(5, 1.5, 60, 300))), ["less-aggressive"]);
        assert_eq!(compared(Some(&polling(6, 1.5, 40, 300))), ["more-aggressive", "less-aggressive"]);
        assert_eq!(compared(Some(&polling(5, 1.5, 45, 301))), ["slower"]);
        assert_eq!(compared(Some(&polling(5, 1.5, 45, 299))), ["faster"]);
        assert_eq!(compared(Some(&was.to_builder().total_timeout(None).build_unchecked())), ["slower"]);
        assert_eq!(compared(None), ["removed"]);
        assert_eq!(kinds(|reasons| of_polling(None, Some(&was), reasons)), ["added"]);
    }

    #[test]
    fn batching_has_kinds() {
        let batching = |elements, bytes, delay: u32, outstanding| {
            let settings = BatchingSettings::builder()
                .element_count_threshold(elements)
                .request_byte_threshold(bytes)
                .delay_threshold(delay * S)
                .limit_exceeded(LimitExceeded::Block);
            match outstanding {
                Some(most) => settings.max_outstanding_elements(most).build(),
                None => settings.build(),
            }
        };
        let was = batching(100, 1000, 10, Some(1000));
        let compared = |is: Option<&BatchingSettings>| kinds(|reasons| of_batching(Some(&was), is, reasons));
        assert_eq!(compared(Some(&was)), [""; 0]);
        assert_eq!(compared(Some(&batching(7, 1000, 10, Some(1000)))), ["more-aggressive"]);
        assert_eq!(compared(Some(&batching(100, 1000, 11, Some(1000)))), ["less-aggressive"]);
        assert_eq!(compared(Some(&batching(100, 1000, 10, None))), ["more-aggressive"]);
        assert_eq!(compared(Some(&batching(100, 1000, 10, Some(1)))), ["less-aggressive"]);
        assert_eq!(compared(None), ["removed", "more-aggressive"]);
        let added = kinds(|reasons| of_batching(None, Some(&was), reasons));
        assert_eq!(added, ["added", "less-aggressive"]);
    }
}
