//! Why a change is of which kind.

use super::kind::{Kind, Reasons};
use super::{hedged, polled, retries};
use crate::command::table::diff::behaviour::Behaviour;

/// Why a change of a method's behaviour is of which kind.
pub(in crate::command::table::diff) fn reasons(was: &Behaviour, is: &Behaviour) -> Reasons {
    let mut reasons = Reasons::default();
    match (was.has_entry, is.has_entry) {
        (false, true) => reasons.add(Kind::Added, "the table had nothing for it"),
        (true, false) => {
            reasons
                .add(Kind::Removed, "calls go through as they are, without retries and without a deadline");
        }
        (true, true) => {
            retries::of_retries(was, is, &mut reasons);
            hedged::of_hedging(was.hedging.as_ref(), is.hedging.as_ref(), &mut reasons);
        }
        (false, false) => {}
    }
    polled::of_polling(was.polling.as_ref(), is.polling.as_ref(), &mut reasons);
    polled::of_batching(was.batching.as_ref(), is.batching.as_ref(), &mut reasons);
    reasons
}
