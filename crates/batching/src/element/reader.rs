//! Reads an element's size, and which batches it may go into.

use crate::element::interned::{Interned, Interner};
use gax_retry::batching::{ElementSize, NewElement};
use std::sync::Arc;

type Read<T, V> = Option<Box<dyn Fn(&T) -> V + Send + Sync>>;

/// The program's closures that read elements.
pub(crate) struct ElementReader<T> {
    pub(crate) entries: Read<T, u64>,
    pub(crate) bytes: Read<T, u64>,
    pub(crate) discriminator: Read<T, Vec<u8>>,
    pub(crate) interned: Read<T, Interned>,
    pub(crate) ordering_key: Read<T, Vec<u8>>,
}

impl<T> Default for ElementReader<T> {
    fn default() -> Self {
        Self { entries: None, bytes: None, discriminator: None, interned: None, ordering_key: None }
    }
}

/// Elements with equal keys share batches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    discriminator: Option<Arc<[u8]>>,
    interned: Option<Interned>,
    order: Option<Arc<[u8]>>,
}

impl<T> ElementReader<T> {
    /// Keeps elements apart by values that can only be compared.
    pub(crate) fn intern<K>(&mut self, of: impl Fn(&T) -> K + Send + Sync + 'static)
    where
        K: PartialEq + Send + 'static,
    {
        let interner = Interner::new();
        self.interned = Some(Box::new(move |element| interner.number_of(of(element))));
    }

    pub(crate) fn read(&self, element: &T) -> NewElement<Key> {
        let count = |read: &Read<T, u64>, default| read.as_ref().map_or(default, |read| read(element));
        let key = |read: &Read<T, Vec<u8>>| read.as_ref().map(|read| Arc::from(read(element)));
        let size = ElementSize::new(count(&self.entries, 1), count(&self.bytes, 0));
        let ordering_key = key(&self.ordering_key).filter(|key: &Arc<[u8]>| !key.is_empty());
        let interned = self.interned.as_ref().map(|read| read(element));
        let is_ordered = ordering_key.is_some();
        let element = NewElement::new(
            Key { discriminator: key(&self.discriminator), interned, order: ordering_key },
            size,
        );
        if is_ordered { element.ordered() } else { element }
    }
}
