//! Which methods are written.

use crate::ServiceDescription;
use crate::convert::losses::{Losses, Whom};
use crate::model::Entry;
use crate::{MethodPolicy, RetryTable};

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
    nothing: &'a Entry,
    losses: &mut Losses<'_>,
) -> Vec<Service<'a>> {
    let mut services: Vec<Service<'a>> = known
        .iter()
        .map(|service| Service {
            name: service.name(),
            methods: service
                .methods()
                .iter()
                .map(|method| {
                    let policy = table.lookup(service.name(), method.name());
                    (method.name(), policy.unwrap_or(MethodPolicy { entry: nothing, keys: &nothing.keys }))
                })
                .collect(),
        })
        .collect();
    for name in table.names() {
        let (service, method) = (name.service(), name.method());
        if known.iter().any(|known| known.name() == service) {
            continue;
        }
        match method {
            Some(_) if service.is_empty() => {}
            Some(method) => add(table, &mut services, service, method),
            None if service.is_empty() && !known.is_empty() => {}
            None => {
                let whom = Whom::named(table, service, "");
                let help = "name the protos, or write an entry for each method";
                losses.lose_of(&whom, "a default for methods", help);
            }
        }
    }
    for service in &services {
        for (method, policy) in &service.methods {
            lose_common(&Whom::named(table, service.name, method), *policy, losses);
        }
    }
    services
}

fn add<'a>(table: &'a RetryTable, services: &mut Vec<Service<'a>>, service: &'a str, method: &'a str) {
    let Some(policy) = table.lookup(service, method) else { return };
    let place = services.iter().position(|known| known.name == service);
    let place = place.unwrap_or_else(|| {
        services.push(Service { name: service, methods: Vec::new() });
        services.len() - 1
    });
    if let Some(service) = services.get_mut(place)
        && !service.methods.iter().any(|(known, _)| *known == method)
    {
        service.methods.push((method, policy));
    }
}

/// Notes what neither form can say of a method.
fn lose_common(whom: &Whom, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) {
    if policy.settings().max_attempts().is_some() {
        losses.lose_of(whom, "max_attempts", "only the timeout ends the retries");
    }
    if policy.hedging().is_some() {
        losses.lose_of(whom, "hedging", "leave it to a gRPC service config");
    }
    if !policy.settings().jittered() {
        losses.lose_of(whom, "jittered = false", "waits are drawn at random");
    }
    if policy.wait_for_ready().is_some() {
        losses.lose_of(whom, "wait_for_ready", "leave it to a gRPC service config");
    }
}
