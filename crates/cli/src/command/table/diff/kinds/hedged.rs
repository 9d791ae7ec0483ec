//! Which kinds a change of hedging is of.

use super::kind::{Kind, Reasons};
use gax_table::HedgingPolicy;
use std::cmp::Ordering;

/// How many attempts a slow service gets, and how soon.
pub(super) fn of_hedging(was: Option<&HedgingPolicy>, is: Option<&HedgingPolicy>, reasons: &mut Reasons) {
    let (was, is) = match (was, is) {
        (None, None) => return,
        (None, Some(is)) => {
            let most = is.to_hedging().max_attempts();
            let load = format!("calls are hedged: a slow service gets up to {most} times its usual load");
            return reasons.add(Kind::MoreAggressive, load);
        }
        (Some(_), None) => return reasons.add(Kind::LessAggressive, "calls are no longer hedged"),
        (Some(was), Some(is)) => (was, is),
    };
    let [before, now] = [was, is].map(|policy| policy.to_hedging().max_attempts());
    let load = format!("a slow service gets up to {now} times its usual load, not {before} times");
    reasons.compare(&[now.cmp(&before)], [(Kind::LessAggressive, &*load), (Kind::MoreAggressive, &load)]);
    // A percentile is no time that could be compared with a delay.
    let sooner = match (was.percentile(), is.percentile()) {
        (Some(was), Some(is)) if was.to_bits() != is.to_bits() => is.total_cmp(&was),
        (None, None) | (Some(_), Some(_)) => is.delay().cmp(&was.delay()),
        (None, Some(_)) | (Some(_), None) => Ordering::Equal,
    };
    let [less, more] = ["hedges are sent sooner", "hedges are sent later"];
    reasons.compare(&[sooner], [(Kind::MoreAggressive, less), (Kind::LessAggressive, more)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::Hedging;
    use std::time::Duration;

    fn kinds(was: Option<Hedging>, is: Option<Hedging>) -> Vec<&'static str> {
        let [was, is] = [was, is].map(|hedging| hedging.map(HedgingPolicy::from));
        let mut reasons = Reasons::default();
        of_hedging(was.as_ref(), is.as_ref(), &mut reasons);
        reasons.by_kind().map(|(kind, _)| kind.as_str()).collect()
    }

    #[test]
    fn hedging_has_kinds() {
        let ms = Duration::from_millis;
        let was = Hedging::new(3).delay(ms(300));
        let compared = |is| kinds(Some(was), Some(is));
        assert_eq!(compared(was), [""; 0]);
        assert_eq!(compared(Hedging::new(4).delay(ms(300))), ["more-aggressive"]);
        assert_eq!(compared(Hedging::new(2).delay(ms(300))), ["less-aggressive"]);
        assert_eq!(compared(was.delay(ms(299))), ["more-aggressive"]);
        assert_eq!(compared(was.delay(ms(301))), ["less-aggressive"]);
        assert_eq!(compared(Hedging::new(2).delay(ms(200))), ["more-aggressive", "less-aggressive"]);
        assert_eq!(compared(was.percentile(0.95)), [""; 0]);
        let measured = was.percentile(0.95);
        assert_eq!(kinds(Some(measured), Some(was.percentile(0.9))), ["more-aggressive"]);
        assert_eq!(kinds(Some(measured), Some(was.percentile(0.99))), ["less-aggressive"]);
        assert_eq!(kinds(Some(measured), Some(measured.delay(ms(400)))), ["less-aggressive"]);
        assert_eq!(kinds(None, Some(was)), ["more-aggressive"]);
        assert_eq!(kinds(Some(was), None), ["less-aggressive"]);
        assert_eq!(kinds(None, None), [""; 0]);
    }
}
