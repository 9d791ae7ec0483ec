//! The services that are known, found by their names.

use super::version::{package, without_version};
use crate::{MethodDescription, ServiceDescription};
use gax_text::closest;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// How many names are compared with each other, in all, to say what was meant.
const MAX_COMPARISONS: usize = 200_000;

/// Services by their names, and by what people write for them.
#[derive(Debug)]
pub(super) struct KnownServices<'a> {
    by_name: HashMap<&'a str, KnownService<'a>>,
    without_dots: HashMap<String, &'a str>,
    without_versions: HashMap<String, &'a str>,
    packages: HashSet<String>,
    comparisons: Cell<usize>,
}

/// A service and its methods.
#[derive(Debug)]
pub(super) struct KnownService<'a> {
    pub(super) service: &'a ServiceDescription,
    pub(super) methods: HashSet<&'a str>,
}

impl<'a> KnownServices<'a> {
    pub(super) fn new(services: &'a [ServiceDescription]) -> Self {
        let mut known = Self {
            by_name: HashMap::with_capacity(services.len()),
            without_dots: HashMap::new(),
            without_versions: HashMap::new(),
            packages: HashSet::new(),
            comparisons: Cell::new(0),
        };
        for service in services {
            let name = service.name();
            let methods = || service.methods().iter().map(MethodDescription::name);
            let entry = known.by_name.entry(name);
            entry
                .or_insert_with(|| KnownService { service, methods: HashSet::new() })
                .methods
                .extend(methods());
            known.without_dots.entry(name.replace('.', "")).or_insert(name);
            known.without_versions.entry(plain(name)).or_insert(name);
            known.packages.insert(without_version(package(name)));
        }
        known
    }

    pub(super) fn get(&self, name: &str) -> Option<&KnownService<'a>> {
        self.by_name.get(name)
    }

    /// The service whose name differs in dots or versions only.
    pub(super) fn nearly(&self, name: &str) -> Option<&'a str> {
        let squeezed = self.without_dots.get(&name.replace('.', ""));
        squeezed.or_else(|| self.without_versions.get(&plain(name))).copied()
    }

    /// Returns whether any service is of the same package, versions apart.
    pub(super) fn has_package_of(&self, name: &str) -> bool {
        self.packages.contains(&without_version(package(name)))
    }

    /// The service that may have been meant.
    pub(super) fn suggest(&self, name: &str) -> Option<&'a str> {
        self.closest(name, self.by_name.len(), || self.by_name.keys().copied())
    }

    /// The method that may have been meant, of those that can be.
    pub(super) fn suggest_method(
        &self,
        service: &KnownService<'a>,
        name: &str,
        can_be: impl Fn(&str) -> bool,
    ) -> Option<&'a str> {
        let candidates = || service.methods.iter().copied().filter(|method| can_be(method));
        self.closest(name, service.methods.len(), candidates)
    }

    /// If many names are wrong among many, only the first of them are compared: the work would grow with the square.
    fn closest<I: Iterator<Item = &'a str>>(
        &self,
        name: &str,
        count: usize,
        candidates: impl FnOnce() -> I,
    ) -> Option<&'a str> {
        let comparisons = self.comparisons.get().saturating_add(count);
        if comparisons > MAX_COMPARISONS {
            return None;
        }
        self.comparisons.set(comparisons);
        closest(name, candidates())
    }
}

fn plain(name: &str) -> String {
    without_version(name).replace('.', "").to_lowercase()
}
