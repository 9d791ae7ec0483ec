//! Estimates of policies, made once for equal ones.

use gax_retry::CodeSet;
use gax_table::{MethodPolicy, SettingsKey};
use std::collections::HashMap;
use std::rc::Rc;

/// Of how many policies the values are remembered.
const REMEMBERED: usize = 256;

/// Values by the policies that they belong to. Only some are remembered: a table may have thousands of policies.
#[derive(Debug)]
pub(super) struct ByPolicy<V> {
    known: HashMap<PolicyKey, Rc<V>>,
}

/// Codes, settings and hedging: policies that have these in common differ in nothing that is estimated.
pub(super) type PolicyKey = (CodeSet, SettingsKey, Option<String>);

pub(super) fn key_of(policy: MethodPolicy<'_>) -> PolicyKey {
    let hedging = policy.hedging().map(|hedging| format!("{hedging:?}"));
    (policy.codes(), policy.settings().into(), hedging)
}

impl<V> ByPolicy<V> {
    pub(super) fn new() -> Self {
        Self { known: HashMap::new() }
    }

    /// The value of a policy, made if it is not remembered.
    pub(super) fn get(&mut self, policy: MethodPolicy<'_>, make: impl FnOnce() -> V) -> Rc<V> {
        let key = key_of(policy);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let value = Rc::new(make());
        self.known.insert(key, Rc::clone(&value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_table::RetryTable;
    use std::fmt::Write as _;

    #[test]
    fn equal_policies_are_worked_out_once() {
        let entry =
            |name: &str, words: &str| format!("[[entry]]\nfor = [\"{name}\"]\ntimeout = \"5s\"\n{words}\n");
        let text = [
            entry("a.B/One", "codes = [\"ABORTED\"]"),
            entry("a.B/Same", "codes = [\"ABORTED\"]\nidempotent = true"),
            entry("a.B/Codes", "codes = [\"UNKNOWN\"]"),
            entry("a.B/Server", "codes = [\"ABORTED\"]\nmax_server_delay = \"9s\""),
            entry("a.B/Hedged", "hedging = { max_attempts = 2, delay = \"1s\" }"),
            entry("a.B/HedgedSame", "hedging = { max_attempts = 2, delay = \"1s\" }"),
            entry("a.B/Sooner", "hedging = { max_attempts = 2, delay = \"1s\", percentile = 0.5 }"),
        ];
        let table = RetryTable::parse(&text.concat()).unwrap();
        let mut made = Vec::new();
        let mut values = ByPolicy::new();
        for name in ["One", "Same", "Codes", "Server", "One", "Hedged", "HedgedSame", "Sooner"] {
            values.get(table.lookup("a.B", name).unwrap(), || made.push(name));
        }
        assert_eq!(made, ["One", "Codes", "Server", "Hedged", "Sooner"]);
    }

    #[test]
    fn only_some_are_remembered() {
        let mut text = String::new();
        for number in 0..=REMEMBERED {
            let _infallible =
                writeln!(text, "[[entry]]\nfor = [\"a.B/M{number}\"]\ntimeout = \"{}s\"", number + 1);
        }
        let table = RetryTable::parse(&text).unwrap();
        let mut values = ByPolicy::new();
        for number in 0..=REMEMBERED {
            values.get(table.lookup("a.B", &format!("M{number}")).unwrap(), || ());
        }
        assert_eq!(values.known.len(), 1);
    }
}
