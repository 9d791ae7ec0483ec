//! Misspelt names of services.

use super::version::{package, without_version};
use crate::ServiceDescription;
use std::collections::{HashMap, HashSet};

/// The names of services by what people write for them.
#[derive(Debug)]
pub(super) struct Spellings<'a> {
    without_dots: HashMap<String, &'a str>,
    without_versions: HashMap<String, &'a str>,
    packages: HashSet<String>,
}

impl<'a> Spellings<'a> {
    pub(super) fn new(services: &'a [ServiceDescription]) -> Self {
        let (mut without_dots, mut without_versions) = (HashMap::new(), HashMap::new());
        for name in services.iter().map(ServiceDescription::name) {
            without_dots.entry(name.replace('.', "")).or_insert(name);
            without_versions.entry(plain(name)).or_insert(name);
        }
        let packages = services.iter().map(|service| without_version(package(service.name()))).collect();
        Self { without_dots, without_versions, packages }
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
}

fn plain(name: &str) -> String {
    without_version(name).replace('.', "").to_lowercase()
}
