//! Names of definitions, which several files may have for one service.

use crate::model::names::name_index::NameIndex;
use crate::model::policy::{Definitions, Keys, TableEntry};
use crate::model::table_file::{ServiceDefinitions, TableFile};
use crate::{Finding, Severity, SourceLocation};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// How many names a finding lists.
const LISTED: usize = 4;

/// The names of definitions in each service. If two files have a name for one service, that of the later file ends
/// with the file's number.
#[derive(Debug, Default)]
pub(in crate::model) struct DefinitionNames {
    /// Per service the keys of entries that have other ones there than by themselves.
    keys: HashMap<String, HashMap<usize, Keys>>,
    /// The names that files have for a service, used or not.
    definitions: HashMap<Arc<str>, Vec<Arc<ServiceDefinitions>>>,
}

/// The source of a service's definitions.
enum Giver<'a> {
    Definitions(&'a ServiceDefinitions),
    Entry(usize, &'a TableEntry),
}

impl DefinitionNames {
    pub(in crate::model) fn new(
        files: &[Arc<TableFile>],
        entries: &[TableEntry],
        index: &NameIndex,
    ) -> (Self, Vec<Finding>) {
        // The definitions of one file can't meet those of another.
        if let [file] = files {
            let mut names = Self::default();
            for definitions in &file.services {
                let of_service = names.definitions.entry(definitions.service.clone()).or_default();
                of_service.push(Arc::clone(definitions));
            }
            return (names, Vec::new());
        }
        let mut givers: BTreeMap<&str, Vec<(usize, Giver<'_>)>> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            for definitions in &file.services {
                let of_service = givers.entry(&definitions.service).or_default();
                of_service.push((number, Giver::Definitions(definitions)));
            }
        }
        for (service, index) in index.by_service() {
            let entry = entries.get(index).filter(|entry| entry.definitions != Definitions::Nothing);
            let of_service = givers.entry(service).or_default();
            of_service.extend(entry.map(|entry| (entry.file, Giver::Entry(index, entry))));
        }
        let mut names = Self::default();
        let mut findings = Vec::new();
        for (service, mut givers) in givers {
            givers.sort_by_key(|(file, _)| *file);
            let mut claims = Claims::default();
            for (file, giver) in givers {
                match giver {
                    Giver::Definitions(definitions) => {
                        let definitions = claims.definitions(file, definitions);
                        names.definitions.entry(service.into()).or_default().push(Arc::new(definitions));
                    }
                    Giver::Entry(index, entry) => {
                        let keys = claims.keys(entry);
                        if keys != entry.keys {
                            names.keys.entry(service.to_owned()).or_default().insert(index, keys);
                        }
                    }
                }
            }
            findings.extend(claims.findings(service));
        }
        (names, findings)
    }

    /// The names of an entry's definitions in a service, if not its own.
    pub(in crate::model) fn keys(&self, service: &str, entry: usize) -> Option<&Keys> {
        self.keys.get(service)?.get(&entry)
    }

    #[cfg(any(feature = "convert", feature = "stub"))]
    pub(in crate::model) fn definitions(&self, service: &str) -> &[Arc<ServiceDefinitions>] {
        self.definitions.get(service).map_or(&[], Vec::as_slice)
    }
}

/// The kind of a definition: the two kinds have their own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Codes,
    Params,
}

/// The names of a service's definitions, and the file that has each first.
#[derive(Default)]
struct Claims<'a> {
    first: HashMap<(Kind, &'a str), usize>,
    /// Per later file the names that it has too, and the place of one.
    met: BTreeMap<usize, (Vec<&'a str>, Option<&'a SourceLocation>)>,
    /// The names that are listed there.
    listed: HashSet<(usize, &'a str)>,
}

impl<'a> Claims<'a> {
    fn name(
        &mut self,
        file: usize,
        kind: Kind,
        name: &'a str,
        origin: Option<&'a SourceLocation>,
    ) -> Arc<str> {
        if *self.first.entry((kind, name)).or_insert(file) == file {
            return name.into();
        }
        let is_new = self.listed.insert((file, name));
        let (names, place) = self.met.entry(file).or_default();
        if is_new {
            names.push(name);
        }
        *place = place.or(origin);
        format!("{name}_{}", file + 1).into()
    }

    fn keys(&mut self, entry: &'a TableEntry) -> Keys {
        let origin = entry.origin.as_ref();
        Keys {
            codes: self.name(entry.file, Kind::Codes, &entry.keys.codes, origin),
            params: self.name(entry.file, Kind::Params, &entry.keys.params, origin),
        }
    }

    fn definitions(&mut self, file: usize, all: &'a ServiceDefinitions) -> ServiceDefinitions {
        let codes = all.codes.iter().map(|(name, codes)| (self.name(file, Kind::Codes, name, None), *codes));
        let codes = codes.collect();
        let params = all.params.iter();
        let params = params.map(|(name, params)| (self.name(file, Kind::Params, name, None), params.clone()));
        ServiceDefinitions { service: all.service.clone(), codes, params: params.collect() }
    }

    fn findings(self, service: &str) -> impl Iterator<Item = Finding> {
        self.met.into_iter().map(move |(file, (names, origin))| {
            let listed: Vec<&str> = names.iter().take(LISTED).copied().collect();
            let more = match names.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = format!(
                "an earlier table has definitions of {service} with the same names ({}{more}): those of this table end \
                 with _{}",
                listed.join(", "),
                file + 1
            );
            Finding::new("renamed-definitions", Severity::Warning, message)
                .with_help("put all entries for one service into one table")
                .at(origin.cloned())
        })
    }
}
