//! Which service gets which code.

use crate::describe::{MethodOptions, describe};
use crate::descriptors::{Descriptors, ProtoService};
use crate::join::{JoinedService, join};
use crate::message_fields::unfit_field;
use crate::names::{ServiceNames, service_names};
use crate::page_items::PageItems;
use gax_table::{Finding, RetryTable, ServiceDescription, ServiceYaml, Severity, TableError};
use heck::ToSnakeCase as _;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Which service gets which code, and what is wrong with the names of services and RPCs.
#[derive(Debug)]
pub(crate) struct GeneratorConfig {
    services: HashMap<String, ServiceCode>,
    /// Files with a service that gets any code.
    files: HashSet<String>,
    /// The paged RPCs.
    pub(crate) pages: PageItems,
    /// Services of which methods are mixed into others.
    mixed_in: HashSet<String>,
    /// Names in the table that no proto has.
    pub(crate) unknown: Vec<Finding>,
    /// Entries that don't say what their methods get.
    pub(crate) unusable: Vec<TableError>,
    /// RPCs whose functions have one name.
    pub(crate) clashes: Vec<Finding>,
}

/// The code of a service.
#[derive(Debug)]
pub(crate) struct ServiceCode {
    /// Whether tonic's own code is generated.
    pub(crate) tonic: bool,
    /// Settings and client.
    pub(crate) gax: Option<(ServiceNames, JoinedService)>,
}

/// The options that it depends on, beside table and descriptors.
#[derive(Debug)]
pub(crate) struct GeneratorOptions<'a> {
    /// The files that were asked for; `None`: all.
    pub(crate) requested: Option<&'a HashSet<String>>,
    /// Protos whose Rust types exist elsewhere, such as `.google.cloud.asset.v1`.
    pub(crate) extern_paths: &'a [String],
    /// Whether tonic's client or server is generated.
    pub(crate) tonic: bool,
    /// Whether tonic's client is.
    pub(crate) client: bool,
    /// Which methods of other services are mixed into those that were asked for.
    pub(crate) service_yaml: Option<&'a ServiceYaml>,
}

impl GeneratorOptions<'_> {
    fn is_requested(&self, service: &ProtoService) -> bool {
        self.requested.is_none_or(|files| files.contains(&service.file))
    }

    /// Whether a service's messages, and so tonic's code for it, exist elsewhere.
    fn is_extern(&self, service: &ProtoService) -> bool {
        let path = format!(".{}", service.full_name);
        self.extern_paths.iter().any(|prefix| {
            prefix == "."
                || path
                    .strip_prefix(prefix.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

impl GeneratorConfig {
    pub(crate) fn new(
        descriptors: &Descriptors,
        methods: &MethodOptions,
        table: &RetryTable,
        options: &GeneratorOptions<'_>,
    ) -> Self {
        let named: HashSet<&str> = table.names().map(|name| name.service()).collect();
        let described = |service: &ProtoService| describe(service, methods);
        let (requested, imported): (Vec<&ProtoService>, Vec<&ProtoService>) =
            descriptors.services.iter().partition(|service| options.is_requested(service));
        let requested: Vec<ServiceDescription> = requested.into_iter().map(described).collect();
        let requested = match options.service_yaml {
            Some(yaml) => yaml.mix_in(requested),
            None => requested,
        };
        // An imported service gets settings where a table is about it.
        let imported = imported.into_iter().filter(|service| named.contains(service.full_name.as_str()));
        let gets_gax: HashMap<String, ServiceDescription> = requested
            .into_iter()
            .chain(imported.map(described))
            .map(|service| (service.name().to_owned(), service))
            .collect();
        let (with_gax, described_with_gax): (Vec<&ProtoService>, Vec<ServiceDescription>) = descriptors
            .services
            .iter()
            .filter_map(|service| Some((service, gets_gax.get(&service.full_name)?.clone())))
            .unzip();
        let mut joined = join(table, &described_with_gax);
        let unfit = joined.iter_mut().flat_map(|service| unfit_descriptors(descriptors, service)).collect();
        let mixed_in: HashSet<&str> = described_with_gax
            .iter()
            .flat_map(ServiceDescription::methods)
            .filter_map(|m| m.own_service())
            .collect();
        let mut gax: HashMap<&str, (ServiceNames, JoinedService)> = with_gax
            .iter()
            .map(|service| service.full_name.as_str())
            .zip(names(descriptors, &with_gax).into_iter().zip(joined))
            .collect();
        let mut config = Self {
            services: HashMap::new(),
            files: HashSet::new(),
            pages: PageItems::default(),
            mixed_in: mixed_in.iter().map(|name| (*name).to_owned()).collect(),
            unknown: Vec::new(),
            unusable: Vec::new(),
            clashes: unfit,
        };
        for service in &descriptors.services {
            let tonic = options.tonic && !options.is_extern(service);
            let gax = gax.remove(service.full_name.as_str());
            if tonic {
                config.clashes.extend(clashes(service));
                config.clashes.extend(options.client.then(|| taken(service)).into_iter().flatten());
            }
            if tonic || gax.is_some() || mixed_in.contains(service.full_name.as_str()) {
                config.files.insert(service.file.clone());
            }
            config.services.insert(service.full_name.clone(), ServiceCode { tonic, gax });
        }
        config.pages = PageItems::new(descriptors, |file| config.files.contains(file));
        let all = descriptors.services.iter();
        let all = all
            .map(|service| gets_gax.get(&service.full_name).cloned().unwrap_or_else(|| described(service)));
        let all: Vec<ServiceDescription> = all.collect();
        config.unknown = one_per_service(table.unknown_names(&all));
        config.unusable = table.unusable_entries(&all);
        config
    }

    pub(crate) fn service(&self, full_name: &str) -> Option<&ServiceCode> {
        self.services.get(full_name)
    }

    /// Whether methods of that service are mixed into others.
    pub(crate) fn is_mixed_in(&self, service: &str) -> bool {
        self.mixed_in.contains(service)
    }

    /// Whether the services of that file are needed: for code, or to be mixed into others.
    pub(crate) fn has_services(&self, file: &str) -> bool {
        self.files.contains(file)
    }
}

/// Batch descriptors whose fields the messages don't have: these RPCs get no batching in their client.
fn unfit_descriptors(descriptors: &Descriptors, service: &mut JoinedService) -> Vec<Finding> {
    let own = service.name().to_owned();
    let mut found = Vec::new();
    for method in &mut service.methods {
        let Some(descriptor) = &method.batch_descriptor else { continue };
        let of_service = descriptors.services.iter().find(|service| service.full_name == method.service);
        let rpc = of_service.and_then(|service| service.methods.iter().find(|rpc| rpc.name == method.name));
        let unfit = rpc.and_then(|rpc| unfit_field(descriptor, &rpc.request_fields, &rpc.response_fields));
        if let Some((field, needed)) = unfit {
            let message = format!(
                "the batch_descriptor of {} of {own} names {field}, which is not {needed}, so that the client can't batch it",
                method.name
            );
            let help = "correct the field's name, or write the batching in code";
            found.push(Finding::new("unfit-batch-descriptor", Severity::Warning, message).with_help(help));
            method.batch_descriptor = None;
        }
    }
    found
}

/// RPCs of a service for which tonic writes two functions of one name.
fn clashes(service: &ProtoService) -> Vec<Finding> {
    let mut functions: HashMap<String, &str> = HashMap::new();
    let mut clashes = Vec::new();
    for method in &service.methods {
        let function = method.name.to_snake_case();
        if let Some(first) = functions.get(&function) {
            let message = format!(
                "{} and {} of {} are both {function} in Rust, so that tonic's own client and server don't compile",
                first, method.name, service.full_name
            );
            let help = "rename one of the two, or generate neither tonic's client nor its server";
            clashes.push(Finding::new("clashing-methods", Severity::Warning, message).with_help(help));
        } else {
            functions.insert(function, &method.name);
        }
    }
    clashes
}

/// The functions that tonic's own client has for itself.
const FUNCTIONS_OF_CLIENTS: [&str; 8] = [
    "new",
    "connect",
    "with_origin",
    "with_interceptor",
    "send_compressed",
    "accept_compressed",
    "max_decoding_message_size",
    "max_encoding_message_size",
];

/// RPCs of a service whose function tonic's own client has already.
fn taken(service: &ProtoService) -> Vec<Finding> {
    let methods = service.methods.iter().map(|method| (&method.name, method.name.to_snake_case()));
    let taken = methods.filter(|(_, function)| FUNCTIONS_OF_CLIENTS.contains(&function.as_str()));
    let finding = |(name, function): (&String, String)| {
        let message = format!(
            "{name} of {} is {function} in Rust, which tonic's own client has already, so that it doesn't compile",
            service.full_name
        );
        let help =
            "rename it, or don't generate tonic's client: the one that retries calls it by another name";
        Finding::new("clashing-methods", Severity::Warning, message).with_help(help)
    };
    taken.map(finding).collect()
}

/// The names of services, in their order.
fn names(descriptors: &Descriptors, services: &[&ProtoService]) -> Vec<ServiceNames> {
    let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for service in services {
        packages.entry(&service.package).or_default().push(&service.name);
    }
    let mut named: HashMap<&str, std::vec::IntoIter<ServiceNames>> = packages
        .into_iter()
        .map(|(package, services)| {
            let names = service_names(&services, &descriptors.types(package), &descriptors.modules(package));
            (package, names.into_iter())
        })
        .collect();
    services.iter().filter_map(|service| named.get_mut(service.package.as_str())?.next()).collect()
}

/// Keeps the first finding about each service that is not there at all, and counts the others.
fn one_per_service(findings: Vec<Finding>) -> Vec<Finding> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for finding in findings.iter().filter(|finding| finding.rule() == "unknown-service") {
        *counts.entry(finding.message().to_owned()).or_default() += 1;
    }
    let mut kept = Vec::new();
    for finding in findings {
        if finding.rule() != "unknown-service" {
            kept.push(finding);
            continue;
        }
        match counts.remove(finding.message()) {
            None => {}
            Some(1) => kept.push(finding),
            Some(count) => {
                let message = format!("{} ({count} names)", finding.message());
                let counted = Finding::new(finding.rule(), finding.severity(), message);
                let counted = counted.at(finding.origin().cloned());
                kept.push(match finding.help() {
                    Some(help) => counted.with_help(help.to_owned()),
                    None => counted,
                });
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use protox::file::File;

    const OWN: &str = "syntax = 'proto3'; package own; message M {} service Own { rpc Get(M) returns (M); }";
    const OTHER: &str =
        "syntax = 'proto3'; package other.v1; message M {} service Other { rpc Get(M) returns (M); }";

    /// The code of `own.Own` (asked for) and `other.v1.Other` (imported): tonic's, and settings and client.
    fn code_of(table: &str, extern_paths: &[&str]) -> [(bool, bool); 2] {
        let file = [("own.proto", OWN), ("other.proto", OTHER)]
            .map(|(name, text)| File::from_source(name, text).unwrap().file_descriptor_proto().clone());
        let descriptors = Descriptors::new(&prost_types::FileDescriptorSet { file: file.to_vec() });
        let extern_paths: Vec<String> = extern_paths.iter().map(|path| (*path).to_owned()).collect();
        let requested = HashSet::from(["own.proto".to_owned()]);
        let options = GeneratorOptions {
            requested: Some(&requested),
            extern_paths: &extern_paths,
            tonic: true,
            client: true,
            service_yaml: None,
        };
        let table = RetryTable::parse(table).unwrap();
        let config = GeneratorConfig::new(&descriptors, &MethodOptions::default(), &table, &options);
        ["own.Own", "other.v1.Other"].map(|name| {
            let service = config.service(name).unwrap();
            (service.tonic, service.gax.is_some())
        })
    }

    #[test]
    fn an_imported_service_gets_settings_if_a_table_names_it() {
        assert_eq!(code_of(r#"{"methodConfig": []}"#, &[]), [(true, true), (true, false)]);
        let table = r#"{"methodConfig": [{"name": [{"service": "other.v1.Other"}], "timeout": "5s"}]}"#;
        assert_eq!(code_of(table, &[]), [(true, true), (true, true)]);
    }

    #[test]
    fn tonic_has_been_there_where_messages_exist() {
        let nothing = r#"{"methodConfig": []}"#;
        assert_eq!(code_of(nothing, &[".own", ".oth"]), [(false, true), (true, false)]);
        assert_eq!(code_of(nothing, &[".other.v1"]), [(true, true), (false, false)]);
        assert_eq!(code_of(nothing, &["."]), [(false, true), (false, false)]);
    }
}
