//! A document's nodes to policies, definitions, polling and batching.

use super::batching::read_batching;
use super::context::{Context, needed_name};
use super::polling::read_polling;
use crate::diagnostics::Findings;
use crate::document::{Kind, Located, Node, Source};
use crate::model::{EntryName, MethodExtras, TableFile, UnusableEntry};
use crate::read::named::{NamedMethod, NamedService, read_codes, read_params, resolve_named};
use crate::values::Scalars;
use crate::{Dialect, Finding, Severity, TableError};
use std::collections::HashMap;
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
    let mut findings = Findings::default();
    let mut context =
        Context { source, scalars: Scalars::new(source, Dialect::AsWritten), rounds_multipliers: false };
    let names = ["config_schema_version", "interfaces"];
    let [version, interfaces] =
        context.scalars.find_among(root, "GAPIC YAML", names, &FILE_OTHERS, &mut findings)?;
    let interfaces = context.scalars.elements(interfaces, "interfaces")?;
    let version = version.map(|node| context.scalars.string(node, "config_schema_version")).transpose()?;
    let names_policies = match version {
        Some(version) => version.starts_with('1'),
        None => interfaces.iter().any(has_definitions),
    };
    context.rounds_multipliers = dialect == Dialect::GaxJava && !names_policies;
    let mut file = TableFile::default();
    for interface in interfaces {
        let service = read_interface(&context, interface, &mut file, &mut findings)?;
        if names_policies {
            let resolved = resolve_named(source, &service);
            resolved.unusable.iter().for_each(|entry| findings.push(skipped(entry)));
            file.entries.extend(resolved.entries);
            file.unusable.extend(resolved.unusable);
            file.services.push(Arc::new(resolved.definitions));
        } else if let Some(extras) = file.extras.get(&service.name) {
            file.beside.push(names_beside(source, &service, extras));
        }
    }
    file.findings = findings.into_vec();
    Ok(file)
}

/// The names of the methods of which more than their retries is said.
fn names_beside(
    source: &Source,
    service: &NamedService,
    extras: &HashMap<Arc<str>, MethodExtras>,
) -> Arc<[EntryName]> {
    let methods = service.methods.iter().filter(|method| extras.contains_key(&method.name));
    methods.map(|method| service.name_of(source, method)).collect()
}

/// That an entry is left out, and why.
fn skipped(entry: &UnusableEntry) -> Finding {
    let UnusableEntry { method, is_disabled, error, .. } = entry;
    let (severity, why) =
        if *is_disabled { (Severity::Note, ": the method is disabled") } else { (Severity::Warning, "") };
    let message = format!("{}, so the entry of {method} is skipped{why}", error.message());
    let finding = Finding::new("skipped-entry", severity, message).at(error.origin().cloned());
    match error.help() {
        Some(help) => finding.with_help(help.to_owned()),
        None => finding,
    }
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

fn has_definitions(interface: &Node) -> bool {
    match &interface.kind {
        Kind::Object(members) => members.iter().any(|member| &*member.key == "retry_codes_def"),
        _ => false,
    }
}

fn read_interface(
    context: &Context<'_>,
    node: &Node,
    file: &mut TableFile,
    findings: &mut Findings,
) -> Result<NamedService, TableError> {
    let names = ["name", "retry_codes_def", "retry_params_def", "methods"];
    let [name, codes, params, methods] =
        context.scalars.find_among(node, "an interface", names, &INTERFACE_OTHERS, findings)?;
    let name_span = name.map_or(node.span, |name| name.span);
    let name = needed_name(context, node, name, "an interface")?;
    let mut service =
        NamedService { name, name_span, codes: Vec::new(), params: Vec::new(), methods: Vec::new() };
    for node in context.scalars.elements(codes, "retry_codes_def")? {
        let [name, codes] =
            context.scalars.find(node, "a definition of codes", ["name", "retry_codes"], findings)?;
        let name = needed_name(context, node, name, "a definition of codes")?;
        service.codes.push(read_codes(context.source, name, node.span, codes, findings)?);
    }
    for node in context.scalars.elements(params, "retry_params_def")? {
        let Kind::Object(members) = &node.kind else {
            return Err(context.source.fault(node.span, "is not a definition of params", "write an object"));
        };
        let name = members.iter().rev().find(|member| &*member.key == "name").map(|member| &member.value);
        let name = needed_name(context, node, name, "a definition of params")?;
        service.params.push(read_params(context.source, name, node, findings)?);
    }
    for node in context.scalars.elements(methods, "methods")? {
        let (method, extras) = read_method(context, node, findings)?;
        if extras.polling.is_some() || extras.batching.is_some() {
            let of_service: &mut HashMap<_, _> = file.extras.entry(service.name.clone()).or_default();
            of_service.insert(method.name.clone(), extras);
        }
        service.methods.push(method);
    }
    Ok(service)
}

fn read_method(
    context: &Context<'_>,
    node: &Node,
    findings: &mut Findings,
) -> Result<(NamedMethod, MethodExtras), TableError> {
    let names =
        ["name", "retry_codes_name", "retry_params_name", "timeout_millis", "long_running", "batching"];
    let [name, codes, params, timeout, long_running, batching] =
        context.scalars.find_among(node, "a method", names, &METHOD_OTHERS, findings)?;
    // Google's generators check the number and then go by the params' total.
    timeout.map(|node| context.scalars.millis(node, "timeout_millis")).transpose()?;
    let text = |node: Option<&Node>, field| {
        node.map(|node| context.scalars.string(node, field).map(|value| Located { value, span: node.span }))
            .transpose()
    };
    let method = NamedMethod {
        name: needed_name(context, node, name, "a method")?,
        name_span: name.map_or(node.span, |name| name.span),
        span: node.span,
        codes_name: text(codes, "retry_codes_name")?,
        params_name: text(params, "retry_params_name")?,
        is_disabled: is_disabled(node),
        timeout: None,
    };
    let polling = long_running.map(|node| read_polling(context, node, findings)).transpose()?;
    let batching = batching.map(|node| read_batching(context, node, findings)).transpose()?;
    let (batching, batch_descriptor) = batching.flatten().unzip();
    let extras = MethodExtras {
        polling: polling.flatten().map(Box::new),
        batching: batching.map(Box::new),
        batch_descriptor: batch_descriptor.flatten().map(Box::new),
        idempotent: None,
    };
    Ok((method, extras))
}
