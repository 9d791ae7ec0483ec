//! Protos that Rust code can't be generated for. They are found before prost is asked, which panics or writes what doesn't compile.

use crate::Error;
use crate::describe::{as_number, place_at};
use crate::descriptors::{full_name, is_extern};
use gax_table::{Finding, Severity};
use heck::{ToSnakeCase, ToUpperCamelCase};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use std::collections::{HashMap, HashSet};

/// Names by what Rust calls them, each with what it is.
type Names = HashMap<String, String>;

/// Finds every name that Rust has no place for.
///
/// # Errors
///
/// There is one.
pub(crate) fn check(set: &FileDescriptorSet, extern_paths: &[String]) -> Result<(), Error> {
    let mut problems = Vec::new();
    let mut packages: HashMap<&str, Names> = HashMap::new();
    for file in &set.file {
        if file.package() == "google.protobuf" || is_extern(extern_paths, file.package()) {
            continue;
        }
        let mut checked = Checked { file, problems: &mut problems };
        let types = packages.entry(file.package()).or_default();
        checked.types(&[], file.package(), &file.message_type, &file.enum_type, types);
        for (index, service) in file.service.iter().enumerate() {
            let what = format!("service {}", service.name());
            checked.claim(&mut Names::new(), &[6, as_number(index)], what, service.name(), camel);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::limits(&problems)) }
}

/// Takes RPCs out of the services that have no name in Rust, such as `_`.
pub(crate) fn leave_out(set: &mut FileDescriptorSet) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &mut set.file {
        let mut places = Vec::new();
        for (number, service) in file.service.iter().enumerate() {
            for (index, method) in
                service.method.iter().enumerate().filter(|(_, rpc)| snake(rpc.name()).is_empty())
            {
                let place = place_at(file, &[6, as_number(number), 2, as_number(index)], 4);
                let name = full_name(file.package(), service.name());
                places.push(format!(
                    "{place}: the RPC {:?} of {name} has no name in Rust, so that it is left out",
                    method.name()
                ));
            }
        }
        for service in file.service.iter_mut().filter(|_| !places.is_empty()) {
            service.method.retain(|rpc| !snake(rpc.name()).is_empty());
        }
        findings.extend(places.into_iter().map(|message| {
            Finding::new("nameless-rpc", Severity::Warning, message).with_help("give it a name with a letter")
        }));
    }
    findings
}

fn snake(name: &str) -> String {
    name.to_snake_case()
}

fn camel(name: &str) -> String {
    name.to_upper_camel_case()
}

/// A file, and what was found.
struct Checked<'a> {
    file: &'a FileDescriptorProto,
    problems: &'a mut Vec<String>,
}

impl Checked<'_> {
    /// The name that Rust has for what stands there, which no other among those names may have.
    fn claim(
        &mut self,
        names: &mut Names,
        path: &[i32],
        what: String,
        name: &str,
        spell: impl Fn(&str) -> String,
    ) -> String {
        let rust = spell(name);
        let problem = if rust.is_empty() {
            format!("the {what} has no name in Rust, because it has neither letters nor digits")
        } else if let Some(first) = names.get(&rust) {
            format!("the {what} and the {first} are both {rust} in Rust")
        } else {
            names.insert(rust.clone(), what);
            return rust;
        };
        self.problems.push(format!("{}: {problem}", place_at(self.file, path, path.len())));
        rust
    }

    /// The messages and enums of a package or message, among the other types of its module.
    fn types(
        &mut self,
        path: &[i32],
        scope: &str,
        messages: &[DescriptorProto],
        enums: &[EnumDescriptorProto],
        names: &mut Names,
    ) {
        let (of_messages, of_enums) = if path.is_empty() { (4, 5) } else { (3, 4) };
        for (index, message) in messages.iter().enumerate() {
            if message.options.as_ref().is_some_and(prost_types::MessageOptions::map_entry) {
                continue;
            }
            let path = [path, &[of_messages, as_number(index)]].concat();
            let own = full_name(scope, message.name());
            self.claim(names, &path, format!("message {own}"), message.name(), camel);
            self.message(&path, &own, message);
        }
        for (index, one) in enums.iter().enumerate() {
            let path = [path, &[of_enums, as_number(index)]].concat();
            let own = full_name(scope, one.name());
            let rust = self.claim(names, &path, format!("enum {own}"), one.name(), camel);
            self.values(&path, one, &rust);
        }
    }

    fn message(&mut self, path: &[i32], own: &str, message: &DescriptorProto) {
        let mut fields = Names::new();
        let mut variants: HashMap<i32, Names> = HashMap::new();
        for (index, field) in message.field.iter().enumerate() {
            let path = [path, &[2, as_number(index)]].concat();
            let what = format!("field {} of {own}", field.name());
            let oneof = field.oneof_index.filter(|_| !field.proto3_optional());
            let among = oneof.map_or(&mut fields, |oneof| variants.entry(oneof).or_default());
            self.claim(among, &path, what, field.name(), if oneof.is_some() { camel } else { snake });
        }
        let mut names = Names::new();
        for (index, oneof) in message.oneof_decl.iter().enumerate() {
            // The others stand for optional fields.
            if variants.contains_key(&as_number(index)) {
                let path = [path, &[8, as_number(index)]].concat();
                let what = format!("oneof {} of {own}", oneof.name());
                self.claim(&mut fields, &path, what, oneof.name(), snake);
            }
        }
        self.types(path, own, &message.nested_type, &message.enum_type, &mut names);
    }

    /// The values of an enum, which lose its name as a prefix; those of a number that has a name are skipped.
    fn values(&mut self, path: &[i32], one: &EnumDescriptorProto, rust: &str) {
        let (mut names, mut numbers) = (Names::new(), HashSet::new());
        for (index, value) in one.value.iter().enumerate() {
            if numbers.contains(&value.number()) {
                continue;
            }
            numbers.insert(value.number());
            let path = [path, &[2, as_number(index)]].concat();
            let what = format!("value {} of {}", value.name(), one.name());
            self.claim(&mut names, &path, what, value.name(), |name| {
                let name = camel(name);
                let short = name.strip_prefix(rust).filter(|rest| rest.starts_with(char::is_uppercase));
                short.unwrap_or(&name).to_owned()
            });
        }
    }
}
