//! Which entry is for which name.

use super::dialect::Dialect;
use super::policy::EntryName;
use std::collections::HashMap;

/// A name's place in a table: which entry has it, and which of the entry's names it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NamePlace {
    pub(super) entry: usize,
    pub(super) name: usize,
}

/// The last place of each name.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    services: HashMap<String, ServiceNames>,
    everything: Option<NamePlace>,
}

/// The entries for a service: the one for all its methods, and those for single ones.
#[derive(Debug, Default)]
struct ServiceNames {
    default: Option<NamePlace>,
    methods: HashMap<String, NamePlace>,
}

impl NameIndex {
    /// Gives a name to a place; returns the place that had it.
    pub(super) fn claim(
        &mut self,
        dialect: Dialect,
        name: &EntryName,
        place: NamePlace,
    ) -> Option<NamePlace> {
        match (name.service.as_str(), name.method.as_str()) {
            ("", "") if dialect == Dialect::GaxJava => None,
            ("", "") => self.everything.replace(place),
            ("", _) => None,
            (service, "") => self.services.entry(service.to_owned()).or_default().default.replace(place),
            (service, method) => {
                let names = self.services.entry(service.to_owned()).or_default();
                names.methods.insert(method.to_owned(), place)
            }
        }
    }

    /// Every service with each entry that one of its methods can get, by the number.
    pub(super) fn by_service(&self) -> impl Iterator<Item = (&str, usize)> {
        self.services.iter().flat_map(|(service, names)| {
            let mut entries: Vec<usize> = names.methods.values().map(|place| place.entry).collect();
            entries.extend(names.default.or(self.everything).map(|place| place.entry));
            entries.sort_unstable();
            entries.dedup();
            entries.into_iter().map(move |entry| (service.as_str(), entry))
        })
    }

    /// The number of the entry that is for a method: by its own name, its service's, or everything's.
    pub(super) fn entry_for(&self, service: &str, method: &str) -> Option<usize> {
        let names = self.services.get(service);
        let place = names.and_then(|names| names.methods.get(method).copied().or(names.default));
        place.or(self.everything).map(|place| place.entry)
    }
}
