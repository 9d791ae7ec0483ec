//! Which service gets which code.

use crate::describe::{MethodOptions, describe};
use crate::descriptors::{Descriptors, ProtoService, is_extern};
use crate::join::{JoinedService, join};
use crate::message_fields::unfit_field;
use crate::names::{ServiceNames, module_stem, service_names};
use crate::page_items::PageItems;
use gax_table::{Finding, MissingMixin, RetryTable, ServiceDescription, ServiceYaml, Severity, TableError};
use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Which service gets which code, and what is wrong with the names of services and RPCs.
#[derive(Debug)]
pub(crate) struct GeneratorConfig {
    services: HashMap<String, ServiceCode>,
    /// Files whose services are needed: for code, or to be mixed into others.
    pub(crate) files: HashSet<String>,
    /// The paged RPCs.
    pub(crate) pages: PageItems,
    /// Services of which methods are mixed into others.
    pub(crate) mixed_in: HashSet<String>,
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
    pub(crate) tonic: TonicCode,
    /// Settings and client.
    pub(crate) gax: Option<(ServiceNames, JoinedService)>,
}

/// Which of tonic's own code is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct TonicCode {
    pub(crate) client: bool,
    pub(crate) server: bool,
}

/// The options that it depends on, besides table and descriptors.
#[derive(Debug)]
pub(crate) struct GeneratorOptions<'a> {
    /// The files that were asked for; `None`: all.
    pub(crate) requested: Option<&'a HashSet<String>>,
    /// Protos whose Rust types exist elsewhere, such as `.google.cloud.asset.v1`.
    pub(crate) extern_paths: &'a [String],
    /// Which of tonic's code is generated, where it compiles.
    pub(crate) tonic: TonicCode,
    /// `true` if tonic's client has `connect`.
    pub(crate) transport: bool,
    /// `true` if clients batch requests.
    pub(crate) batching: bool,
    /// Which methods of other services are mixed into those that were asked for.
    pub(crate) service_yaml: Option<&'a ServiceYaml>,
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
        let (requested, imported): (Vec<&ProtoService>, Vec<&ProtoService>) = descriptors
            .services
            .iter()
            .partition(|service| options.requested.is_none_or(|files| files.contains(&service.file)));
        let requested: Vec<ServiceDescription> = requested.into_iter().map(described).collect();
        let missing = options.service_yaml.map(|yaml| yaml.missing_mixins(&requested)).unwrap_or_default();
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
        let unfit =
            joined.iter_mut().flat_map(|service| batch_descriptors(descriptors, service, options)).collect();
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
        config.clashes.extend(missing.iter().map(MissingMixin::finding));
        let mut modules: HashMap<&str, HashSet<String>> = HashMap::new();
        for service in &descriptors.services {
            let taken = modules.entry(&service.package);
            let taken = taken.or_insert_with(|| descriptors.modules_in_use(&service.package));
            // The messages, and so tonic's code for them, may exist elsewhere.
            let tonic = if is_extern(options.extern_paths, &service.full_name) {
                TonicCode::default()
            } else {
                compiling(service, options, taken, &mut config.clashes)
            };
            let gax = gax.remove(service.full_name.as_str());
            if tonic != TonicCode::default() || gax.is_some() || mixed_in.contains(service.full_name.as_str())
            {
                config.files.insert(service.file.clone());
            }
            config.services.insert(service.full_name.clone(), ServiceCode { tonic, gax });
        }
        config.pages = PageItems::new(descriptors, |file| config.files.contains(file));
        let all = descriptors.services.iter();
        let all = all
            .map(|service| gets_gax.get(&service.full_name).cloned().unwrap_or_else(|| described(service)));
        let all: Vec<ServiceDescription> = all.collect();
        let mut unknown = table.unknown_names(&all);
        // Such a name is right.
        unknown.retain(|finding| !missing.iter().any(|mixin| mixin.explains(finding)));
        config.unknown = one_per_service(unknown);
        config.unusable = table.unusable_entries(&all);
        config
    }

    pub(crate) fn service(&self, full_name: &str) -> Option<&ServiceCode> {
        self.services.get(full_name)
    }

    /// The services of which clients are generated.
    pub(crate) fn clients(&self) -> impl Iterator<Item = &JoinedService> {
        self.services.values().filter_map(|code| code.gax.as_ref()).map(|(_, joined)| joined)
    }

    /// The first package, by name, that has a client.
    pub(crate) fn first_client_package(&self) -> Option<&str> {
        let names = self.clients().map(JoinedService::name);
        names.map(|name| name.rsplit_once('.').map_or("", |(package, _)| package)).min()
    }

    /// Returns whether a client that is generated calls that method.
    pub(crate) fn calls(&self, service: &str, method: &str) -> bool {
        let mut methods = self.clients().flat_map(|joined| &joined.methods);
        methods.any(|own| own.service == service && own.name == method)
    }
}

/// Which RPCs get batching in their client: none without the option, and none whose messages don't have the descriptor's fields, which
/// are findings.
fn batch_descriptors(
    descriptors: &Descriptors,
    service: &mut JoinedService,
    options: &GeneratorOptions<'_>,
) -> Vec<Finding> {
    let own = service.name().to_owned();
    let mut found = Vec::new();
    for method in &mut service.methods {
        let Some(descriptor) = method.batch_descriptor.as_ref().filter(|_| options.batching) else {
            method.batch_descriptor = None;
            continue;
        };
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

/// The code of tonic's that compiles, with a finding for what is left out.
fn compiling(
    service: &ProtoService,
    options: &GeneratorOptions<'_>,
    modules: &mut HashSet<String>,
    findings: &mut Vec<Finding>,
) -> TonicCode {
    let TonicCode { mut client, mut server } = options.tonic;
    let mut clash = |what: String, left_out: &str, help: &'static str| {
        let message = format!("{what}, so that {} has none of {left_out}", service.full_name);
        findings.push(Finding::new("clashing-methods", Severity::Warning, message).with_help(help));
    };
    let mut functions: HashMap<String, &str> = HashMap::new();
    for method in &service.methods {
        let function = method.name.to_snake_case();
        if let Some(first) = functions.get(&function).filter(|_| client || server) {
            let what =
                format!("{first} and {} of {} are both {function} in Rust", method.name, service.full_name);
            clash(what, "tonic's own client and server", "rename one of the two");
            (client, server) = (false, false);
        }
        functions.insert(function, &method.name);
    }
    let taken = FUNCTIONS_OF_CLIENTS.iter().filter(|function| options.transport || **function != "connect");
    if let Some((function, name)) =
        taken.filter(|_| client).find_map(|function| functions.get_key_value(*function))
    {
        let what = format!(
            "{name} of {} is {function} in Rust, as is a function of tonic's own client",
            service.full_name
        );
        clash(
            what,
            "that client",
            "rename it, or call it by the client that retries, which has another name for it",
        );
        client = false;
    }
    let stem = module_stem(&service.name.to_upper_camel_case());
    for (is_wanted, end) in [(&mut client, "client"), (&mut server, "server")] {
        let module = format!("{stem}_{end}");
        if *is_wanted && !modules.insert(module.clone()) {
            let what = format!(
                "the module {module} of {}, of tonic's own {end}, is also that of a message, subpackage or service",
                service.full_name
            );
            let help =
                "rename the service, or what it is named like; the client that retries doesn't need tonic's";
            clash(what, &format!("that {end}"), help);
            *is_wanted = false;
        }
    }
    if server && TAKEN_BY_SERVERS.contains(&&*service.name.to_upper_camel_case()) {
        let what =
            format!("the service {} is named like a type or trait in tonic's own server", service.full_name);
        clash(what, "that server", "rename the service");
        server = false;
    }
    TonicCode { client, server }
}

/// The names that tonic's own server uses without a path, next to the trait that is named like the service.
const TAKEN_BY_SERVERS: [&str; 22] = [
    "Arc",
    "B",
    "Body",
    "Box",
    "BoxFuture",
    "BoxStream",
    "Clone",
    "CompressionEncoding",
    "Context",
    "Default",
    "EnabledCompressionEncodings",
    "Future",
    "InterceptedService",
    "Into",
    "Option",
    "Poll",
    "Result",
    "Send",
    "Service",
    "StdError",
    "Sync",
    "T",
];

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
                kept.push(finding.with_message(message));
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
            tonic: TonicCode { client: true, server: true },
            transport: true,
            batching: false,
            service_yaml: None,
        };
        let table = RetryTable::parse(table).unwrap();
        let config = GeneratorConfig::new(&descriptors, &MethodOptions::default(), &table, &options);
        ["own.Own", "other.v1.Other"].map(|name| {
            let service = config.service(name).unwrap();
            (service.tonic.client && service.tonic.server, service.gax.is_some())
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
