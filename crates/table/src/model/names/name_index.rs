//! Which entry is for which name.

use crate::model::dialect::Dialect;
use crate::model::policy::EntryName;
use std::collections::HashMap;
use std::sync::Arc;

/// A name's place in a table: which entry has it, and which of the entry's names it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) struct NamePlace {
    entry: u32,
    name: u32,
}

impl NamePlace {
    /// Files are short enough for numbers of 32 bits.
    pub(in crate::model) fn new(entry: usize, name: usize) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { entry: number(entry), name: number(name) }
    }

    pub(in crate::model) fn entry(self) -> usize {
        usize::try_from(self.entry).unwrap_or(usize::MAX)
    }

    pub(in crate::model) fn name(self) -> usize {
        usize::try_from(self.name).unwrap_or(usize::MAX)
    }
}

/// The last place of each name.
#[derive(Debug, Default)]
pub(in crate::model) struct NameIndex {
    services: HashMap<Arc<str>, ServiceNames>,
    everything: Option<NamePlace>,
}

/// The entries for a service: the one for all its methods, and those for single ones.
#[derive(Debug, Default)]
struct ServiceNames {
    default: Option<NamePlace>,
    /// `None`: no method is named.
    #[expect(clippy::box_collection, reason = "a table may name thousands of services and no method")]
    methods: Option<Box<HashMap<Arc<str>, NamePlace>>>,
}

impl ServiceNames {
    fn method(&self, method: &str) -> Option<NamePlace> {
        self.methods.as_ref()?.get(method).copied()
    }
}

impl NameIndex {
    /// Gives a name to a place; returns the place that had it.
    pub(in crate::model) fn claim(
        &mut self,
        dialect: Dialect,
        name: &EntryName,
        place: NamePlace,
    ) -> Option<NamePlace> {
        match (&*name.service, &*name.method) {
            ("", "") if dialect == Dialect::GaxJava => None,
            ("", "") => self.everything.replace(place),
            ("", _) => None,
            (_, "") => self.services.entry(name.service.clone()).or_default().default.replace(place),
            _ => {
                let names = self.services.entry(name.service.clone()).or_default();
                names.methods.get_or_insert_default().insert(name.method.clone(), place)
            }
        }
    }

    /// Every service with each entry that one of its methods can get, by the number.
    pub(in crate::model) fn by_service(&self) -> impl Iterator<Item = (&str, usize)> {
        self.services.iter().flat_map(|(service, names)| {
            let methods = names.methods.iter().flat_map(|methods| methods.values());
            let mut entries: Vec<usize> = methods.map(|place| place.entry()).collect();
            entries.extend(names.default.or(self.everything).map(NamePlace::entry));
            entries.sort_unstable();
            entries.dedup();
            entries.into_iter().map(move |entry| (&**service, entry))
        })
    }

    /// The number of the entry that is for a method: by its own name, its service's, or everything's.
    pub(in crate::model) fn entry_for(&self, service: &str, method: &str) -> Option<usize> {
        let names = self.services.get(service);
        let place = names.and_then(|names| names.method(method).or(names.default));
        place.or(self.everything).map(NamePlace::entry)
    }
}
