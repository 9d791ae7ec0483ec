//! Discriminators that can only be compared.

use gax_driver::__private::Locked;
use std::sync::{Arc, Weak};

/// The number of a discriminator, for as long as elements with it are there.
pub(crate) type Interned = Arc<u64>;

/// Gives equal values one number. Values without users are removed.
pub(super) struct Interner<K> {
    values: Locked<Numbered<K>>,
}

/// The last number, and the values in use.
struct Numbered<K> {
    last: u64,
    values: Vec<(Weak<u64>, K)>,
}

impl<K: PartialEq> Interner<K> {
    pub(super) fn new() -> Self {
        Self { values: Locked::new(Numbered { last: 0, values: Vec::new() }) }
    }

    pub(super) fn number_of(&self, value: K) -> Interned {
        let mut numbered = self.values.lock();
        let Numbered { last, values } = &mut *numbered;
        values.retain(|(number, _)| number.strong_count() > 0);
        let found = values.iter().find(|(_, other)| *other == value).and_then(|(number, _)| number.upgrade());
        found.unwrap_or_else(|| {
            *last += 1;
            let number = Arc::new(*last);
            values.push((Arc::downgrade(&number), value));
            number
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number_as_long_as_somebody_has_it() {
        let interner = Interner::new();
        let (a, b) = (interner.number_of("a"), interner.number_of("b"));
        assert!(a != b && a == interner.number_of("a"));
        drop(a);
        assert_eq!(interner.number_of("b"), b);
        assert_eq!(interner.values.lock().values.len(), 1);
        assert_ne!(interner.number_of("a"), b);
    }
}
