//! Values under names.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

/// Values with their names, in the order in which they came.
#[derive(Debug)]
pub(super) struct Definitions<T, K> {
    /// All that a value says.
    key: fn(&T) -> K,
    pub(super) all: Vec<(Arc<str>, T)>,
    names: HashSet<Arc<str>>,
    /// The first name of each value.
    by_value: HashMap<Arc<K>, Arc<str>>,
    /// The name of a value for which a name was wanted: that, unless another value has it.
    chosen: HashMap<(Arc<str>, Arc<K>), Arc<str>>,
    /// The last number that was put to a name.
    numbers: HashMap<Arc<str>, u64>,
}

impl<T, K: Eq + Hash> Definitions<T, K> {
    pub(super) fn new(key: fn(&T) -> K) -> Self {
        let (names, by_value) = (HashSet::new(), HashMap::new());
        Self { key, all: Vec::new(), names, by_value, chosen: HashMap::new(), numbers: HashMap::new() }
    }

    /// The name of a value, which is added under this one if it isn't there.
    pub(super) fn name_of(&mut self, value: T, name: &str) -> Arc<str> {
        match self.by_value.get(&(self.key)(&value)) {
            Some(name) => name.clone(),
            None => self.add(value, name),
        }
    }

    /// Adds a value under a name, also if it is there under another one; gives its name. A name that another value has
    /// gets a number.
    pub(super) fn add(&mut self, value: T, wanted: &str) -> Arc<str> {
        let key = Arc::new((self.key)(&value));
        let wanted: (Arc<str>, _) = (wanted.into(), key.clone());
        let mut name = wanted.0.clone();
        loop {
            if let Some(known) = self.chosen.get(&(name.clone(), key.clone())).cloned() {
                self.chosen.insert(wanted, known.clone());
                return known;
            }
            if self.names.insert(name.clone()) {
                break;
            }
            let number = self.numbers.entry(wanted.0.clone()).or_insert(1);
            *number += 1;
            name = format!("{}_{number}", wanted.0).into();
        }
        self.by_value.entry(key.clone()).or_insert(name.clone());
        self.chosen.insert((name.clone(), key), name.clone());
        self.chosen.insert(wanted, name.clone());
        self.all.push((name.clone(), value));
        name
    }
}

/// What is written of a method.
pub(super) struct Method<'a> {
    pub(super) name: &'a str,
    pub(super) timeout: Option<Duration>,
    pub(super) codes: Arc<str>,
    pub(super) params: Arc<str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::{Code, CodeSet};

    #[test]
    fn a_name_stands_for_one_value() {
        let [one, two, three, four] =
            [Code::Aborted, Code::Cancelled, Code::Internal, Code::Unknown].map(CodeSet::from);
        let mut definitions = Definitions::new(|codes: &CodeSet| *codes);
        let mut add = |value, name: &str| definitions.add(value, name).to_string();
        assert_eq!(add(one, "default"), "default");
        assert_eq!(add(two, "default"), "default_2");
        assert_eq!(add(three, "default"), "default_3");
        assert_eq!(add(two, "default"), "default_2");
        assert_eq!(add(two, "default_2"), "default_2");
        assert_eq!(add(one, "default_2"), "default_2_2");
        assert_eq!(add(two, "other"), "other");
        assert_eq!(&*definitions.name_of(three, "new"), "default_3");
        assert_eq!(&*definitions.name_of(four, "new"), "new");
        assert_eq!(definitions.all.len(), 6);
    }
}
