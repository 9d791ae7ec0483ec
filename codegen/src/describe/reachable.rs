//! The messages and enums that some others need.

use crate::descriptors::full_name;
use prost_types::{DescriptorProto, FileDescriptorSet};
use std::collections::{BTreeSet, HashMap};

/// The messages and enums of files: those of the top level, each with all that is nested in it.
#[derive(Debug)]
pub(super) struct Types {
    units: Vec<Unit>,
    /// The unit of each message and enum, by full name with a dot before it.
    by_name: HashMap<String, usize>,
}

/// A message or enum of the top level.
#[derive(Debug)]
pub(super) struct Unit {
    /// Its file, by index.
    pub(super) file: usize,
    /// Its name within the package.
    pub(super) name: String,
    /// The full names of the types of its fields.
    needs: Vec<String>,
}

impl Types {
    pub(super) fn of(set: &FileDescriptorSet) -> Self {
        let mut types = Self { units: Vec::new(), by_name: HashMap::new() };
        for (file_index, file) in set.file.iter().enumerate() {
            let names = |name: &str| format!(".{}", full_name(file.package(), name));
            for one in &file.enum_type {
                types.by_name.insert(names(one.name()), types.units.len());
                let unit = Unit { file: file_index, name: one.name().to_owned(), needs: Vec::new() };
                types.units.push(unit);
            }
            for message in &file.message_type {
                let mut needs = Vec::new();
                types.add(&names(message.name()), message, &mut needs);
                types.units.push(Unit { file: file_index, name: message.name().to_owned(), needs });
            }
        }
        types
    }

    /// Adds a message, and those in it, to the unit that is being read.
    fn add(&mut self, name: &str, message: &DescriptorProto, needs: &mut Vec<String>) {
        self.by_name.insert(name.to_owned(), self.units.len());
        needs.extend(message.field.iter().filter_map(|field| field.type_name.clone()));
        for one in &message.enum_type {
            self.by_name.insert(format!("{name}.{}", one.name()), self.units.len());
        }
        for inner in &message.nested_type {
            self.add(&format!("{name}.{}", inner.name()), inner, needs);
        }
    }

    /// The full name of a type that an option names, in full or as it is called in that package.
    pub(super) fn named(&self, name: &str, package: &str) -> Option<String> {
        let names = [format!(".{}", name.trim_start_matches('.')), format!(".{}", full_name(package, name))];
        names.into_iter().find(|name| self.by_name.contains_key(name))
    }

    /// All that these types need, in the order of the files, each with the other files that it needs.
    pub(super) fn reachable(&self, roots: impl IntoIterator<Item = String>) -> Vec<(&Unit, BTreeSet<usize>)> {
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<String> = roots.into_iter().collect();
        while let Some(name) = open.pop() {
            let Some(index) = self.by_name.get(&name) else { continue };
            if found.insert(*index) {
                open.extend(self.units.get(*index).into_iter().flat_map(|unit| unit.needs.iter().cloned()));
            }
        }
        let units = found.into_iter().filter_map(|index| self.units.get(index));
        units.map(|unit| (unit, self.files(&unit.needs))).collect()
    }

    /// The files of these types.
    pub(super) fn files<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> BTreeSet<usize> {
        let units = names.into_iter().filter_map(|name| self.units.get(*self.by_name.get(name)?));
        units.map(|unit| unit.file).collect()
    }
}
