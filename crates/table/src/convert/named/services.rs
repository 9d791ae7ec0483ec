//! Which methods are written.

use crate::convert::losses::{Losses, Subject};
use crate::model::TableEntry;
use crate::{MethodPolicy, RetryTable, ServiceDescription};
use std::collections::{HashMap, HashSet};

/// A service with its methods, in the order in which they are written.
pub(super) struct Service<'a> {
    pub(super) name: &'a str,
    pub(super) methods: Vec<(&'a str, MethodPolicy<'a>)>,
}

/// The methods of the services that are known, and those that the table names of others. What it says of
/// all methods of such another service, or of everything, can't be written: their names are missing.
pub(super) fn services<'a>(
    table: &'a RetryTable,
    known: &'a [ServiceDescription],
    nothing: &'a TableEntry,
    losses: &mut Losses<'_>,
) -> Vec<Service<'a>> {
    let of_nothing = MethodPolicy { entry: nothing, keys: &nothing.keys, idempotent: None };
    let described = |service: &'a ServiceDescription| {
        let policy = |method: &str| table.lookup(service.name(), method).unwrap_or(of_nothing);
        let methods = service.methods().iter().map(|method| (method.name(), policy(method.name())));
        Service { name: service.name(), methods: methods.collect() }
    };
    let mut services: Vec<Service<'a>> = known.iter().map(described).collect();
    let known_names: HashSet<&str> = known.iter().map(ServiceDescription::name).collect();
    // Per service its place among all, and the methods that it has already.
    let mut places: HashMap<&str, (usize, HashSet<&str>)> = HashMap::new();
    for name in table.names().filter(|name| !known_names.contains(name.service())) {
        let service = name.service();
        match name.method() {
            Some(_) if service.is_empty() => {}
            Some(method) => {
                let Some(policy) = table.lookup(service, method) else { continue };
                let (place, methods) = places.entry(service).or_insert_with(|| {
                    services.push(Service { name: service, methods: Vec::new() });
                    (services.len() - 1, HashSet::new())
                });
                if let Some(service) = services.get_mut(*place).filter(|_| methods.insert(method)) {
                    service.methods.push((method, policy));
                }
            }
            None if service.is_empty() && !known.is_empty() => {}
            None => {
                let subject = losses.subject(service, "");
                let help = "name the protos, or write an entry for each method";
                losses.lose_of(&subject, "a default for methods", help);
            }
        }
    }
    for service in &services {
        for (method, policy) in &service.methods {
            lose_common(&losses.subject(service.name, method), *policy, losses);
        }
    }
    services
}

/// Notes what neither form can say of a method.
fn lose_common(subject: &Subject, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) {
    let settings = policy.settings();
    let limits_streams = policy.wait_timeout().or(policy.idle_timeout()).is_some();
    let is_selective = !settings.only_with_server_delay().is_empty();
    let parts = [
        (settings.max_attempts().is_some(), "max_attempts", "only the timeout ends the retries"),
        (policy.hedging().is_some(), "hedging", "leave it to a gRPC service config"),
        (!settings.jittered(), "jittered = false", "waits are drawn at random"),
        (is_selective, "only_with_server_delay", "the codes are retried without a server delay too"),
        (settings.max_server_delay().is_some(), "max_server_delay", "keep it in TOML"),
        (limits_streams, "wait and idle timeouts of streams", "keep them in TOML, or set them in code"),
        (policy.entry.idempotent.is_some(), "idempotent", "keep it in TOML"),
        (policy.wait_for_ready().is_some(), "wait_for_ready", "leave it to a gRPC service config"),
    ];
    losses.lose_parts(subject, parts);
}
