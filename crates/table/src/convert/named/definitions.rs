//! Values under names.

use crate::SettingsKey;
use gax_retry::{CodeSet, RetrySettings};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

/// Values with their names, in the order in which they came. Each is known by its number.
#[derive(Debug)]
pub(super) struct Definitions<T, K> {
    /// All that a value says.
    key: fn(&T) -> K,
    pub(super) all: Vec<(Arc<str>, T)>,
    /// The number of the value that has each name.
    by_name: HashMap<Arc<str>, usize>,
    /// The first number of each value.
    by_value: HashMap<Arc<K>, usize>,
    /// The numbers that were given to a value instead of a name that was wanted and is another value's.
    chosen: HashMap<(Arc<str>, Arc<K>), usize>,
    /// The last number that was put to a name.
    numbers: HashMap<Arc<str>, u64>,
}

impl<T, K: Eq + Hash> Definitions<T, K> {
    pub(super) fn new(key: fn(&T) -> K) -> Self {
        Self {
            key,
            all: Vec::new(),
            by_name: HashMap::new(),
            by_value: HashMap::new(),
            chosen: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// The number of a value, whatever its name; a value that has none gets this name, or one like it if that is
    /// another value's.
    pub(super) fn number_of(&mut self, value: T, name: &str) -> usize {
        match self.by_value.get(&(self.key)(&value)) {
            Some(number) => *number,
            None => self.add(value, name),
        }
    }

    /// The number of a value of this name, or of one like it if that is another value's.
    pub(super) fn add(&mut self, value: T, name: &str) -> usize {
        let of = self.key;
        let key = Arc::new(of(&value));
        let is_same = |all: &[(Arc<str>, T)], number: usize| {
            all.get(number).is_some_and(|(_, known)| of(known) == *key)
        };
        let mut name: Arc<str> = match self.by_name.get_key_value(name) {
            Some((_, number)) if is_same(&self.all, *number) => return *number,
            Some((name, _)) => name.clone(),
            None => name.into(),
        };
        if self.by_name.contains_key(&name) {
            let wanted = (name.clone(), Arc::clone(&key));
            if let Some(number) = self.chosen.get(&wanted) {
                return *number;
            }
            while let Some(number) = self.by_name.get(&name).copied() {
                if is_same(&self.all, number) {
                    self.chosen.insert(wanted, number);
                    return number;
                }
                let number = self.numbers.entry(wanted.0.clone()).or_insert(1);
                *number += 1;
                name = format!("{}_{number}", wanted.0).into();
            }
            self.chosen.insert(wanted, self.all.len());
        }
        let number = self.all.len();
        self.by_name.insert(name.clone(), number);
        self.by_value.entry(key).or_insert(number);
        self.all.push((name, value));
        number
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.all.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// The names of codes and params by their numbers.
pub(super) struct Names {
    codes: Vec<Arc<str>>,
    params: Vec<Arc<str>>,
}

impl Names {
    pub(super) fn of(
        codes: &Definitions<CodeSet, CodeSet>,
        params: &Definitions<RetrySettings, SettingsKey>,
    ) -> Self {
        Self { codes: codes.names(), params: params.names() }
    }

    pub(super) fn codes(&self, number: usize) -> String {
        self.codes.get(number).map_or_else(String::new, ToString::to_string)
    }

    pub(super) fn params(&self, number: usize) -> String {
        self.params.get(number).map_or_else(String::new, ToString::to_string)
    }
}

/// A method that is written, with the numbers of its definitions.
pub(super) struct Method<'a> {
    pub(super) name: &'a str,
    pub(super) timeout: Option<Duration>,
    pub(super) codes: usize,
    pub(super) params: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::Code;

    #[test]
    fn a_name_stands_for_one_value() {
        let [one, two, three, four] =
            [Code::Aborted, Code::Cancelled, Code::Internal, Code::Unknown].map(CodeSet::from);
        let mut definitions = Definitions::new(|codes: &CodeSet| *codes);
        let mut add = |value, name: &str| {
            let number = definitions.add(value, name);
            definitions.names()[number].to_string()
        };
        assert_eq!(add(one, "default"), "default");
        assert_eq!(add(two, "default"), "default_2");
        assert_eq!(add(three, "default"), "default_3");
        assert_eq!(add(two, "default"), "default_2");
        assert_eq!(add(two, "other"), "other");
        let number = definitions.number_of(three, "new");
        assert_eq!(&*definitions.names()[number], "default_3");
        let number = definitions.number_of(four, "new");
        assert_eq!(&*definitions.names()[number], "new");
        assert_eq!(definitions.all.len(), 5);
    }
}
