//! The objects of all buckets.

use super::StorageObject;
use std::collections::BTreeMap;

/// Every bucket that is named is there.
#[derive(Debug)]
pub(crate) struct Objects {
    by_bucket: BTreeMap<String, BTreeMap<String, StorageObject>>,
    last_generation: i64,
}

impl Default for Objects {
    fn default() -> Self {
        // As long as real ones, which count microseconds: they don't fit into a 32-bit number or a double's neighbours.
        Self { by_bucket: BTreeMap::new(), last_generation: 1_700_000_000_000_000 }
    }
}

impl Objects {
    pub(crate) fn get(&self, bucket: &str, name: &str) -> Option<&StorageObject> {
        self.by_bucket.get(bucket)?.get(name)
    }

    /// Puts an object instead of the one that is there; it has a new generation.
    pub(crate) fn put(&mut self, bucket: &str, name: &str, object: StorageObject) -> StorageObject {
        self.last_generation += 1;
        let object = object.with_generation(self.last_generation);
        let objects = self.by_bucket.entry(bucket.to_owned()).or_default();
        objects.insert(name.to_owned(), object.clone());
        object
    }

    pub(crate) fn remove(&mut self, bucket: &str, name: &str) {
        if let Some(objects) = self.by_bucket.get_mut(bucket) {
            objects.remove(name);
        }
    }

    /// The objects of a bucket, by their names.
    pub(crate) fn of(&self, bucket: &str) -> impl Iterator<Item = (&String, &StorageObject)> {
        self.by_bucket.get(bucket).into_iter().flatten()
    }
}
