//! Services and methods that a table leaves out.

use crate::TableName;
use crate::lint::action::{Action, begins_with_word};
use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{Rpc, Subject};
use std::collections::HashMap;

declare! {
    SERVICE_WITHOUT_ENTRY: "service-without-entry", Warning, Services,
        "a service that the table does not name: its calls have no deadline",
        "Add an entry with a timeout for the service.";
    METHOD_WITHOUT_ENTRY: "method-without-entry", Warning, Services,
        "a method that the table leaves out, though it names others of its service",
        "Add the method's name to an entry; to one without a retry policy unless the method is safe to retry.";
    FEW_METHODS_NAMED: "few-methods-named", Note, Services,
        "a table that names less than half of a service's methods",
        "Add an entry with a timeout for the service.";
    READ_WITHOUT_RETRY: "read-without-retry", Note, Services,
        "a method that only reads is not retried",
        "Retry the method on UNAVAILABLE.";
    GET_LIST_MISMATCH: "get-list-mismatch", Note, Services,
        "of two methods that read the same thing one is retried and one is not",
        "Give both methods the same entry.";
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    // The table's first name of each service.
    let mut firsts: HashMap<&str, TableName<'_>> = HashMap::new();
    for name in subject.table.names() {
        firsts.entry(name.service()).or_insert(name);
    }
    for all in subject.rpcs_by_service() {
        let rpcs: Vec<&Rpc<'_>> = all.iter().filter(|rpc| !rpc.is_mixed_in()).collect();
        let Some(service) = rpcs.first().map(|rpc| rpc.service.name()) else { continue };
        if rpcs.iter().all(|rpc| rpc.policy.is_none()) {
            let message = format!("the table has no entry for the service {service}");
            let help =
                "add an entry with a timeout for it, or its calls are neither retried nor bounded in time";
            let place = Place::beside(None, service.to_owned());
            report.add(&SERVICE_WITHOUT_ENTRY, place, message, help);
            continue;
        }
        let named = rpcs.iter().filter(|rpc| rpc.policy.is_some()).count();
        // The exceptions were forgotten; of a service of which most is left out, some was chosen.
        let is_chosen = named * 2 < rpcs.len();
        if is_chosen {
            let message =
                format!("the table has entries for {named} of the {} methods of {service}", rpcs.len());
            let help =
                "add an entry with a timeout for the service, or calls of the others are not bounded in time";
            let place = Place::beside(firsts.get(service), service.to_owned());
            report.add(&FEW_METHODS_NAMED, place, message, help);
        }
        for rpc in rpcs.iter().filter(|rpc| !is_chosen || rpc.policy.is_some()) {
            method(firsts.get(service), rpc, report);
        }
        pairs(&rpcs, report);
    }
}

fn method(first: Option<&TableName<'_>>, rpc: &Rpc<'_>, report: &mut Report) {
    let name = rpc.full_name();
    match rpc.policy {
        None => {
            let message = format!("the table has no entry for {name}, though it names others of its service");
            let help = if may_be_retried(rpc) {
                "add its name to an entry, or its calls are neither retried nor bounded in time"
            } else if rpc.action == Action::Unknown {
                "add its name to an entry, without a retry policy unless it may be called twice (neither its name nor an \
                 annotation tells), or its calls are not bounded in time"
            } else {
                "add its name to an entry without a retry policy, or its calls are not bounded in time"
            };
            report.add(&METHOD_WITHOUT_ENTRY, Place::beside(first, name), message, help);
        }
        Some(_) if rpc.repeating().is_none() && rpc.reads() => {
            let message = format!("{name} only reads and is not retried");
            let help = "retry it on UNAVAILABLE: reading twice is safe";
            report.add(&READ_WITHOUT_RETRY, Place::method(rpc), message, help);
        }
        Some(_) => {}
    }
}

/// Returns whether a method may be added to an entry that retries: other rules would warn of those that may not.
fn may_be_retried(rpc: &Rpc<'_>) -> bool {
    let is_repeatable =
        matches!(rpc.action, Action::Repeatable | Action::Remove) && !rpc.method.kind().streams_requests();
    rpc.reads() || is_repeatable && !rpc.starts_operation()
}

/// `GetBook` and `ListBooks` of one service.
fn pairs(rpcs: &[&Rpc<'_>], report: &mut Report) {
    let by_name: HashMap<&str, &Rpc<'_>> = rpcs.iter().map(|rpc| (rpc.method.name(), *rpc)).collect();
    for get in rpcs.iter().filter(|rpc| begins_with_word(rpc.method.name(), "Get") && rpc.policy.is_some()) {
        let thing = get.method.name().trim_start_matches("Get");
        let ies = format!("{}ies", thing.strip_suffix('y').unwrap_or(thing));
        let plurals = [format!("{thing}s"), format!("{thing}es"), ies];
        let lists = plurals.iter().filter_map(|plural| by_name.get(format!("List{plural}").as_str()));
        for list in lists.filter(|list| list.policy.is_some()) {
            let (get_retried, list_retried) = (get.repeating().is_some(), list.repeating().is_some());
            let starts_operation = get.method.returns_operation() || list.method.returns_operation();
            if get_retried == list_retried || starts_operation {
                continue;
            }
            let (with, without) = if get_retried { (get, list) } else { (list, get) };
            let message = format!(
                "{} is not retried, but {} is, and both read the same things",
                without.method.name(),
                with.method.name()
            );
            report.add(&GET_LIST_MISMATCH, Place::method(without), message, "give both the same entry");
        }
    }
}
