//! Service configs in DNS: a list of choices, of which each client takes the first that is for it.

use crate::diagnostics::Findings;
use crate::document::{Kind, Node, Source, Span};
use crate::values::Scalars;
use crate::{Dialect, Finding, TableError};

/// The language that choices know this library by.
const LANGUAGE: &str = "rust";

/// Returns whether a document is a list of choices.
pub(super) fn is_list_of_choices(root: &Node) -> bool {
    match &root.kind {
        Kind::Array(elements) => elements.iter().any(|element| match &element.kind {
            Kind::Object(members) => members.iter().any(|member| &*member.key == "serviceConfig"),
            _ => false,
        }),
        _ => false,
    }
}

/// The service config of the first choice that is for clients like this one, on any host.
pub(super) fn take_choice<'n>(
    source: &Source,
    root: &'n Node,
    dialect: Dialect,
    findings: &mut Findings,
) -> Result<&'n Node, TableError> {
    let scalars = Scalars::new(source, dialect);
    let Kind::Array(choices) = &root.kind else { return Ok(root) };
    let count = choices.len();
    for (index, choice) in choices.iter().enumerate() {
        // gRPC's libraries spell the field for hosts in two ways.
        let names = ["clientLanguage", "percentage", "clientHostName", "clientHostname", "serviceConfig"];
        let [languages, percentage, hosts, hosts_too, config] =
            scalars.find(choice, "a service config choice", names, findings)?;
        let languages = languages.map(|node| scalars.array(node, "clientLanguage")).transpose()?;
        let percentage = percentage.map(|node| scalars.count(node, "percentage")).transpose()?;
        let Some(config) = config else {
            let help = "add serviceConfig";
            return Err(source.fault(choice.span, "is a choice without a serviceConfig", help));
        };
        let for_this_language = languages.is_none_or(|languages| {
            languages.iter().any(|language| match &language.kind {
                Kind::String(name) => name.eq_ignore_ascii_case(LANGUAGE),
                _ => false,
            })
        });
        let share = percentage.map_or(100, |percentage| percentage.value);
        if !for_this_language || hosts.or(hosts_too).is_some() || share == 0 {
            continue;
        }
        findings.push(taken(source, choice.span, index, count, share));
        return Ok(config);
    }
    let problem = "has no choice for a client in Rust on any host";
    let help = "add a choice without clientLanguage and clientHostName";
    Err(source.fault(root.span, problem, help))
}

fn taken(source: &Source, choice: Span, index: usize, count: usize, share: u32) -> Finding {
    let number = index + 1;
    let part = if share < 100 { format!(", which {share} % of the clients take") } else { String::new() };
    let message = format!("of {count} service configs number {number} is read{part}");
    let help = "the others are for other languages or hosts, or come later";
    source.note("service-config-choice", choice, message, help)
}
