//! A document's nodes to policies, definitions, polling and batching.

use super::batching::read_batching;
use super::polling::read_polling;
use crate::document::{Kind, Located, Node, Source};
use crate::model::{MethodExtras, TableFile, UnusableEntry};
use crate::read::named::{NamedMethod, NamedService};
use crate::values::Values;
use crate::{Dialect, Finding, Severity, TableError};
use std::sync::Arc;

/// Fields of the file that are no business of retries.
const FILE_OTHERS: [&str; 9] = [
    "type",
    "language_settings",
    "license_header",
    "collections",
    "collection_oneofs",
    "resource_name_generation",
    "enable_string_format_functions_override",
    "fixed_resource_name_values",
    "generate_samples",
];

/// Fields of an interface that are no business of retries.
const INTERFACE_OTHERS: [&str; 9] = [
    "collections",
    "deprecated_collections",
    "experimental_features",
    "iam_resources",
    "lang_doc",
    "required_constructor_params",
    "smoke_test",
    "surface_treatments",
    "examples",
];

/// Fields of a method that are no business of retries.
const METHOD_OTHERS: [&str; 21] = [
    "default_value",
    "default_values",
    "field_name_patterns",
    "flattening",
    "grpc_streaming",
    "header_request_params",
    "page_streaming",
    "request_object_method",
    "required_fields",
    "reroute_to_grpc_interface",
    "resource_name_treatment",
    "response_field_name_patterns",
    "sample_code_init_fields",
    "sample_value_sets",
    "samples",
    "surface_treatments",
    "visibility",
    "release_level",
    "resource_name_field_config",
    "supported_languages",
    "http_method",
];

/// Reads GAPIC YAML. Its values mean the same in every dialect, except for the decimals of polling multipliers.
pub(crate) fn read_gapic_yaml(
    source: &Source,
    root: &Node,
    dialect: Dialect,
) -> Result<TableFile, TableError> {
    let values = Values::new(source, Dialect::AsWritten);
    let names = ["config_schema_version", "interfaces"];
    let [version, interfaces] = values.find_among(root, "GAPIC YAML", names, &FILE_OTHERS)?;
    let interfaces = values.elements(interfaces, "interfaces")?;
    let version = version.map(|node| values.string(node, "config_schema_version")).transpose()?;
    let has_definitions = |interface: &Node| interface.member("retry_codes_def").is_some();
    let names_policies =
        version.map_or_else(|| interfaces.iter().any(has_definitions), |version| version.starts_with('1'));
    let rounds_multipliers = dialect == Dialect::GaxJava && !names_policies;
    let mut file = TableFile::default();
    for node in interfaces {
        let (service, methods) = read_interface(&values, node)?;
        let mut beside = Vec::new();
        for node in methods {
            let (method, extras) = read_method(&values, node, rounds_multipliers)?;
            let name = &method.name;
            if extras.polling.is_some() || extras.batching.is_some() {
                beside.push(service.name_of(name));
                let of_service = file.extras.entry(service.definitions.service.clone()).or_default();
                of_service.insert(name.value.clone(), extras);
            }
            if !names_policies {
                continue;
            }
            match service.entry(&method) {
                Ok(entry) => file.entries.push(entry),
                Err(error) => {
                    let (service, is_disabled) = (service.definitions.service.clone(), is_disabled(node));
                    let entry = UnusableEntry { service, method: name.value.clone(), is_disabled, error };
                    values.findings.push(skipped(&entry));
                    file.unusable.push(entry);
                }
            }
        }
        if names_policies {
            file.services.push(Arc::new(service.definitions));
        } else if !beside.is_empty() {
            file.beside.push(beside.into());
        }
    }
    file.findings = values.findings.take();
    Ok(file)
}

/// That an entry is left out, and why.
fn skipped(entry: &UnusableEntry) -> Finding {
    let UnusableEntry { method, is_disabled, error, .. } = entry;
    let (severity, why) =
        if *is_disabled { (Severity::Note, ": the method is disabled") } else { (Severity::Warning, "") };
    let message = format!("{}, so the entry of {method} is skipped{why}", error.message());
    Finding::new("skipped-entry", severity, message).at_error(error)
}

/// Returns whether a method is kept out of Java clients, whose settings are the model of ours.
fn is_disabled(node: &Node) -> bool {
    let disables = |node: &Node| node.member("visibility").and_then(Node::text) == Some("DISABLED");
    let is_for_java = |node: &Node| {
        let languages = node.member("include_languages").map(Node::items);
        languages.is_none_or(|languages| languages.iter().any(|language| language.text() == Some("java")))
    };
    let treatments = node.member("surface_treatments").map_or(&[][..], Node::items);
    disables(node) || treatments.iter().any(|treatment| disables(treatment) && is_for_java(treatment))
}

/// A service with its definitions, and its methods.
fn read_interface<'v, 'n>(
    values: &'v Values<'v>,
    node: &'n Node,
) -> Result<(NamedService<'v>, &'n [Node]), TableError> {
    let names = ["name", "retry_codes_def", "retry_params_def", "methods"];
    let [name, codes, params, methods] = values.find_among(node, "an interface", names, &INTERFACE_OTHERS)?;
    let name = needed_name(values, node, name, "an interface")?;
    let mut service = NamedService::new(values, name.value, name.span);
    for node in values.elements(codes, "retry_codes_def")? {
        let [name, codes] = values.find(node, "a definition of codes", ["name", "retry_codes"])?;
        let name = needed_name(values, node, name, "a definition of codes")?;
        service.add_codes(name.value, node.span, codes)?;
    }
    for node in values.elements(params, "retry_params_def")? {
        if !matches!(node.kind, Kind::Object(_)) {
            return Err(values.fault(node.span, "is not a definition of params", "write an object"));
        }
        let name = needed_name(values, node, node.member("name"), "a definition of params")?;
        service.add_params(name.value, node)?;
    }
    Ok((service, values.elements(methods, "methods")?))
}

fn read_method(
    values: &Values<'_>,
    node: &Node,
    rounds_multipliers: bool,
) -> Result<(NamedMethod, MethodExtras), TableError> {
    let names =
        ["name", "retry_codes_name", "retry_params_name", "timeout_millis", "long_running", "batching"];
    let [name, codes, params, timeout, long_running, batching] =
        values.find_among(node, "a method", names, &METHOD_OTHERS)?;
    // Google's generators check the number and then go by the params' total.
    timeout.map(|node| values.millis(node, "timeout_millis")).transpose()?;
    let method = NamedMethod {
        name: needed_name(values, node, name, "a method")?,
        span: node.span,
        codes: values.text(codes, "retry_codes_name")?,
        params: values.text(params, "retry_params_name")?,
        timeout: None,
    };
    let polling = long_running.map(|node| read_polling(values, node, rounds_multipliers)).transpose()?;
    let batching = batching.map(|node| read_batching(values, node)).transpose()?;
    let (batching, batch_descriptor) = batching.flatten().unzip();
    let extras = MethodExtras {
        polling: polling.flatten().map(Box::new),
        batching: batching.map(Box::new),
        batch_descriptor: batch_descriptor.flatten().map(Box::new),
        idempotent: None,
    };
    Ok((method, extras))
}

/// The name that a block can't do without.
fn needed_name(
    values: &Values<'_>,
    node: &Node,
    name: Option<&Node>,
    what: &str,
) -> Result<Located<Arc<str>>, TableError> {
    let name = values.text(name, "name")?;
    name.ok_or_else(|| values.source.error(node.span, format!("{what} has no name"), "add name"))
}
