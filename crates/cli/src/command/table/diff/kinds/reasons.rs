//! Why a change is of which kind.

use super::kind::{Kind, Reasons};
use super::{hedged, polled, retries};
use crate::command::table::view::MethodView;

/// Why a change of a method is of which kind.
pub(in crate::command::table::diff) fn reasons(was: &MethodView<'_>, is: &MethodView<'_>) -> Reasons {
    let mut reasons = Reasons::default();
    match (was.policy.is_some(), is.policy.is_some()) {
        (false, true) => reasons.add(Kind::Added, "the table had no entry for it"),
        (true, false) => {
            reasons
                .add(Kind::Removed, "calls pass through unchanged, without retries and without a deadline");
        }
        (true, true) => {
            retries::of_retries(was, is, &mut reasons);
            hedged::of_hedging(was.hedging(), is.hedging(), &mut reasons);
        }
        (false, false) => {}
    }
    polled::of_polling(was.polling(), is.polling(), &mut reasons);
    polled::of_batching(was.batching(), is.batching(), &mut reasons);
    reasons
}
