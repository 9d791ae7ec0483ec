//! Texts that are said of several things, once.

use std::collections::HashMap;
use std::hash::Hash;

/// The items of each key, in the order in which keys come first.
pub(crate) fn grouped<K: Clone + Eq + Hash, T>(items: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut numbers = HashMap::new();
    for (key, item) in items {
        let number = *numbers.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(number) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}
