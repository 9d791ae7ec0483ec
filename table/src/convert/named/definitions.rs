//! Values under names.

use gax_retry::{CodeSet, RetrySettings};
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// A value that can be looked up by all that it says.
pub(super) trait Definable {
    type Key: Eq + Hash + Clone;

    fn key(&self) -> Self::Key;
}

/// All that settings say.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SettingsKey {
    times: [Option<Duration>; 5],
    multipliers: [Option<u64>; 2],
    max_attempts: Option<u32>,
    jittered: bool,
}

impl Definable for RetrySettings {
    type Key = SettingsKey;

    fn key(&self) -> SettingsKey {
        SettingsKey {
            times: [
                self.total_timeout(),
                self.initial_retry_delay(),
                self.max_retry_delay(),
                self.initial_rpc_timeout(),
                self.max_rpc_timeout(),
            ],
            multipliers: [
                self.retry_delay_multiplier().map(f64::to_bits),
                Some(self.rpc_timeout_multiplier().to_bits()),
            ],
            max_attempts: self.max_attempts(),
            jittered: self.jittered(),
        }
    }
}

impl Definable for CodeSet {
    type Key = CodeSet;

    fn key(&self) -> CodeSet {
        *self
    }
}

/// Values with their names, in the order in which they came.
#[derive(Debug)]
pub(super) struct Definitions<T: Definable> {
    all: Vec<(String, T)>,
    /// The number of the value that has each name.
    by_name: HashMap<String, usize>,
    /// The first name of each value.
    by_value: HashMap<T::Key, usize>,
    /// The names that were given to a value in place of one that was wanted.
    chosen: HashMap<(String, T::Key), usize>,
    /// The last number that was put to a name.
    numbers: HashMap<String, u64>,
}

impl<T: Definable> Definitions<T> {
    pub(super) fn new() -> Self {
        Self {
            all: Vec::new(),
            by_name: HashMap::new(),
            by_value: HashMap::new(),
            chosen: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// The name of a value, whatever it is; a value that has none gets this one, or one like it if that is
    /// another value's.
    pub(super) fn name_of(&mut self, value: T, name: &str) -> String {
        let known = self.by_value.get(&value.key()).and_then(|index| self.all.get(*index));
        match known.map(|(name, _)| name.clone()) {
            Some(name) => name,
            None => self.add(value, name),
        }
    }

    /// A name for a value: this one, or one like it if that is another value's.
    pub(super) fn add(&mut self, value: T, name: &str) -> String {
        let key = (name.to_owned(), value.key());
        if let Some((chosen, _)) = self.chosen.get(&key).and_then(|index| self.all.get(*index)) {
            return chosen.clone();
        }
        let mut chosen = name.to_owned();
        while let Some(index) = self.by_name.get(&chosen).copied() {
            if self.all.get(index).is_some_and(|(_, known)| known.key() == key.1) {
                self.chosen.insert(key, index);
                return chosen;
            }
            let number = self.numbers.entry(name.to_owned()).or_insert(1);
            *number += 1;
            chosen = format!("{name}_{number}");
        }
        let index = self.all.len();
        self.by_name.insert(chosen.clone(), index);
        self.by_value.entry(value.key()).or_insert(index);
        self.chosen.insert(key, index);
        self.all.push((chosen.clone(), value));
        chosen
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.all.iter().map(|(name, value)| (name.as_str(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::Code;

    #[test]
    fn a_name_stands_for_one_value() {
        let [one, two, three, four] =
            [Code::Aborted, Code::Cancelled, Code::Internal, Code::Unknown].map(CodeSet::from);
        let mut definitions = Definitions::new();
        assert_eq!(definitions.add(one, "default"), "default");
        assert_eq!(definitions.add(two, "default"), "default_2");
        assert_eq!(definitions.add(three, "default"), "default_3");
        assert_eq!(definitions.add(two, "default"), "default_2");
        assert_eq!(definitions.add(two, "other"), "other");
        assert_eq!(definitions.name_of(three, "new"), "default_3");
        assert_eq!(definitions.name_of(four, "new"), "new");
        assert_eq!(definitions.iter().count(), 5);
    }
}
