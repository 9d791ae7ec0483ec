//! Values that are not as they were.

use super::behaviour::Behaviour;
use super::growth::Growth;
use crate::command::table::beside::{Batching, Polling};
use crate::command::table::hedged::Hedged;
use crate::command::table::methods::{code_names, codes_text, short_place};
use crate::render::Ms;
use gax_table::SourceLocation;
use serde_json::{Value, json};
use std::time::Duration;

/// A value that is not as it was.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) what: &'static str,
    pub(super) old: Value,
    pub(super) new: Value,
    /// The same for people.
    pub(super) words: [String; 3],
    pub(super) places: [Option<String>; 2],
}

/// The changes, one value after the other.
#[derive(Debug, Default)]
pub(super) struct Changes(Vec<Change>);

impl Changes {
    /// Adds a value that is not the same before and after.
    pub(super) fn add(
        &mut self,
        what: &'static str,
        values: [Value; 2],
        words: [&str; 3],
        places: [&Option<SourceLocation>; 2],
    ) {
        let [old, new] = values;
        if old != new {
            let places = places.map(|place| place.as_ref().map(short_place));
            self.0.push(Change { what, old, new, words: words.map(str::to_owned), places });
        }
    }

    fn add_time(
        &mut self,
        [what, name, none]: [&'static str; 3],
        both: [Option<Duration>; 2],
        places: [&Option<SourceLocation>; 2],
    ) {
        let [old, new] = both.map(|time| time.map_or_else(|| none.to_owned(), |time| Ms(time).to_string()));
        self.add(what, both.map(|time| json!(time.map(Ms))), [name, &old, &new], places);
    }

    fn add_growth(&mut self, [what, name, none]: [&'static str; 3], both: [Option<&Growth>; 2]) {
        let [old, new] = both.map(|side| side.map_or(none, |growth| &growth.words));
        let [old_place, new_place] = Growth::places(both);
        let values = both.map(|side| side.map_or(Value::Null, Growth::value));
        self.add(what, values, [name, old, new], [&old_place, &new_place]);
    }

    pub(super) fn into_vec(self) -> Vec<Change> {
        self.0
    }
}

/// All of a method that is not as it was.
pub(super) fn changes(was: &Behaviour, is: &Behaviour) -> Vec<Change> {
    let mut changes = Changes::default();
    let both = [was, is];
    let places = [&was.places, &is.places];
    let nowhere = [&None, &None];
    let entry = both.map(|side| if side.has_entry { "yes" } else { "none" });
    let [old, new] = entry;
    changes.add(
        "entry",
        both.map(|side| side.has_entry.into()),
        ["policy", old, new],
        places.map(|p| &p.entry),
    );
    let [old, new] = both.map(|side| codes_text(side.codes));
    let codes = both.map(|side| json!(code_names(side.codes)));
    changes.add("codes", codes, ["retryable codes", &old, &new], places.map(|p| &p.codes));
    let [old, new] = both.map(|side| codes_text(side.only_with_server_delay));
    let codes = both.map(|side| json!(code_names(side.only_with_server_delay)));
    let only = places.map(|p| &p.only_with_server_delay);
    changes.add("only_with_server_delay", codes, ["only with a server's delay", &old, &new], only);
    let times = |value: fn(&Behaviour) -> Option<Duration>| both.map(value);
    let total = places.map(|p| &p.total_timeout);
    changes.add_time(["total_timeout_ms", "total timeout", "none"], times(|side| side.total_timeout), total);
    let rpc_timeouts = both.map(|side| side.rpc_timeout.as_ref());
    changes.add_growth(["rpc_timeout", "RPC timeout", "what is left of the total"], rpc_timeouts);
    changes.add_growth(["delay", "delay", "none"], both.map(|side| side.delay.as_ref()));
    let server = places.map(|p| &p.max_server_delay);
    let longest = times(|side| side.max_server_delay);
    changes.add_time(["max_server_delay_ms", "longest delay of a server", "default"], longest, server);
    changes.add_time(["first_retry_ms", "first retry", "none"], times(Behaviour::first_retry), nowhere);
    changes.add_time(["worst_case_ms", "worst case", "unbounded"], times(Behaviour::worst_case), nowhere);
    let attempts =
        |side: &Behaviour| side.max_attempts.map_or_else(|| "no limit".to_owned(), |n| n.to_string());
    let [old, new] = both.map(attempts);
    let counts = both.map(|side| side.max_attempts.into());
    changes.add("attempts", counts, ["attempts", &old, &new], places.map(|p| &p.max_attempts));
    let [old, new] = both.map(|side| format!("{} attempts", side.load_text()));
    changes.add("load", both.map(|side| side.load().into()), ["in an outage", &old, &new], nowhere);
    let [old, new] = both.map(|side| format!("{} of a call", side.silence()));
    let counts = both.map(|side| side.attempts_of_silence().into());
    changes.add("attempts_of_silence", counts, ["if nothing replies", &old, &new], nowhere);
    let hedging = both.map(|side| side.hedging.as_ref().map(Hedged::from));
    let [old, new] = hedging.each_ref().map(|h| h.as_ref().map_or("none", Hedged::words));
    let words = ["hedging", old, new];
    changes.add("hedging", hedging.each_ref().map(|h| json!(h)), words, places.map(|p| &p.hedging));
    let [old, new] = both.map(|side| match side.idempotent {
        None => "not said",
        Some(true) => "yes",
        Some(false) => "no",
    });
    let values = both.map(|side| json!(side.idempotent));
    changes.add("idempotent", values, ["idempotent", old, new], places.map(|p| &p.idempotent));
    let polling = both.map(|side| side.polling.as_ref().map(Polling::from));
    let [old, new] = polling.each_ref().map(|p| p.as_ref().map_or_else(|| "none".to_owned(), Polling::words));
    changes.add("polling", polling.map(|p| json!(p)), ["polling", &old, &new], nowhere);
    let batching = both.map(|side| side.batching.as_ref().map(Batching::from));
    let [old, new] =
        batching.each_ref().map(|b| b.as_ref().map_or_else(|| "none".to_owned(), Batching::words));
    changes.add("batching", batching.map(|b| json!(b)), ["batching", &old, &new], nowhere);
    changes.0
}
