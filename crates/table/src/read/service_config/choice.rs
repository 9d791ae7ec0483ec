//! Service configs in DNS: a list of choices, of which each client takes the first that is for it.

use crate::TableError;
use crate::document::{Kind, Node};
use crate::values::Values;

/// The language that choices know this library by.
const LANGUAGE: &str = "rust";

/// Returns whether a document is a list of choices.
pub(super) fn is_list_of_choices(root: &Node) -> bool {
    root.items().iter().any(|element| element.member("serviceConfig").is_some())
}

/// The service config of the first choice that is for clients like this one, on any host.
pub(super) fn take_choice<'n>(values: &Values<'_>, root: &'n Node) -> Result<&'n Node, TableError> {
    let Kind::Array(choices) = &root.kind else { return Ok(root) };
    for (index, choice) in choices.iter().enumerate() {
        // gRPC's libraries spell the field for hosts in two ways.
        let names = ["clientLanguage", "percentage", "clientHostName", "clientHostname", "serviceConfig"];
        let [languages, percentage, hosts, hosts_too, config] =
            values.find(choice, "a service config choice", names)?;
        let languages = languages.map(|node| values.array(node, "clientLanguage")).transpose()?;
        let percentage = percentage.map(|node| values.count(node, "percentage")).transpose()?;
        let Some(config) = config else {
            let help = "add serviceConfig";
            return Err(values.fault(choice.span, "is a choice without a serviceConfig", help));
        };
        let is_this =
            |language: &Node| language.text().is_some_and(|name| name.eq_ignore_ascii_case(LANGUAGE));
        let for_this_language = languages.is_none_or(|languages| languages.iter().any(is_this));
        let share = percentage.map_or(100, |percentage| percentage.value);
        if !for_this_language || hosts.or(hosts_too).is_some() || share == 0 {
            continue;
        }
        let part = if share < 100 { format!(", which {share} % of the clients take") } else { String::new() };
        let (count, number) = (choices.len(), index + 1);
        let message = format!("of {count} service configs number {number} is read{part}");
        let help = "the others are for other languages or hosts, or come later";
        values.note("service-config-choice", choice.span, message, help);
        return Ok(config);
    }
    let problem = "has no choice for a client in Rust on any host";
    let help = "add a choice without clientLanguage and clientHostName";
    Err(values.fault(root.span, problem, help))
}
