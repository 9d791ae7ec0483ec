//! Services and their methods, found by their names.

use super::service::{MethodDescription, ServiceDescription};
use gax_text::closest;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// How many names are compared with each other, in all, to say what was meant.
const MAX_COMPARISONS: usize = 200_000;

/// Per service the names of its methods.
#[derive(Debug)]
pub(crate) struct KnownServices<'a> {
    methods: HashMap<&'a str, HashSet<&'a str>>,
    comparisons: Cell<usize>,
}

impl<'a> KnownServices<'a> {
    pub(crate) fn new(services: &'a [ServiceDescription]) -> Self {
        let mut known = Self { methods: HashMap::with_capacity(services.len()), comparisons: Cell::new(0) };
        for service in services {
            let methods = known.methods.entry(service.name()).or_default();
            methods.extend(service.methods().iter().map(MethodDescription::name));
        }
        known
    }

    /// The methods of a service; `None`: it is not known.
    pub(crate) fn methods(&self, service: &str) -> Option<&HashSet<&'a str>> {
        self.methods.get(service)
    }

    /// The service that may have been meant.
    pub(crate) fn suggest(&self, name: &str) -> Option<&'a str> {
        self.closest(name, self.methods.len(), || self.methods.keys().copied())
    }

    /// The method that may have been meant, of those that can be.
    pub(crate) fn suggest_method(
        &self,
        methods: &HashSet<&'a str>,
        name: &str,
        can_be: impl Fn(&str) -> bool,
    ) -> Option<&'a str> {
        self.closest(name, methods.len(), || methods.iter().copied().filter(|method| can_be(method)))
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
