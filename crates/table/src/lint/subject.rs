//! A table that is linted, and the methods of its entries.

use super::action::Action;
use super::services::Spellings;
use super::version::{package, without_version};
use crate::services::KnownServices;
use crate::{
    MethodDescription, MethodPolicy, RetryTable, ServiceDescription, SourceLocation, TableFormat, TableName,
};
use std::collections::{HashMap, HashSet};

/// Its methods return operations that were started before.
const OPERATIONS: &str = "google.longrunning.Operations";

/// A table with the services that it is for, if anybody knows them.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) table: &'a RetryTable,
    pub(super) entries: Vec<EntryView<'a>>,
    /// `None`: not known.
    pub(super) services: Option<(KnownServices<'a>, Spellings<'a>)>,
    /// Services that are known, but not what the table is for.
    pub(super) imported: KnownServices<'a>,
    /// Every method of the services.
    pub(super) rpcs: Vec<Rpc<'a>>,
    /// Per entry the numbers of its methods.
    rpcs_by_entry: Vec<Vec<usize>>,
    /// The names that the table has.
    named: HashSet<(&'a str, Option<&'a str>)>,
    /// How many names the table has of each package.
    packages: HashMap<&'a str, usize>,
    /// Those of them that the protos have, with and without their versions.
    known_packages: HashSet<String>,
}

/// An entry with its names.
#[derive(Debug)]
pub(super) struct EntryView<'a> {
    pub(super) policy: MethodPolicy<'a>,
    pub(super) names: Vec<TableName<'a>>,
}

/// A method with what the table says of it.
#[derive(Debug)]
pub(super) struct Rpc<'a> {
    pub(super) service: &'a ServiceDescription,
    pub(super) method: &'a MethodDescription,
    pub(super) policy: Option<MethodPolicy<'a>>,
    /// The idempotency that the table states.
    pub(super) idempotent: Option<bool>,
    /// The effect of the method on the state of the world.
    pub(super) action: Action,
    /// The name by which the entry is found: the method's or the service's.
    name: Option<TableName<'a>>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        table: &'a RetryTable,
        services: Option<&'a [ServiceDescription]>,
        imported: &'a [ServiceDescription],
    ) -> Self {
        let mut entries: Vec<EntryView<'a>> = (0..table.entry_count())
            .filter_map(|index| Some(EntryView { policy: table.entry(index)?, names: Vec::new() }))
            .collect();
        let mut by_name = HashMap::new();
        for name in table.names() {
            by_name.insert((name.service(), name.method()), name);
            if let Some(entry) = name.entry().and_then(|entry| entries.get_mut(entry)) {
                entry.names.push(name);
            }
        }
        let rpcs = services.unwrap_or_default().iter().flat_map(|service| {
            let by_name = &by_name;
            service.methods().iter().map(move |method| {
                let policy = table.lookup(service.name(), method.name());
                let policy = policy.filter(|policy| policy.entry().is_some());
                let keys = [(service.name(), Some(method.name())), (service.name(), None), ("", None)];
                let name = keys.into_iter().find_map(|key| by_name.get(&key).copied());
                let idempotent = table.idempotent(service.name(), method.name());
                let action = Action::by_table(idempotent, method);
                Rpc { service, method, policy, idempotent, action, name }
            })
        });
        let rpcs: Vec<Rpc<'a>> = rpcs.collect();
        let mut rpcs_by_entry = vec![Vec::new(); entries.len()];
        for (number, rpc) in rpcs.iter().enumerate() {
            let entry = rpc.policy.and_then(|policy| policy.entry());
            if let Some(of_entry) = entry.and_then(|entry| rpcs_by_entry.get_mut(entry)) {
                of_entry.push(number);
            }
        }
        let services = services.map(|services| (KnownServices::new(services), Spellings::new(services)));
        let named: HashSet<_> = by_name.into_keys().collect();
        let (mut packages, mut known_packages) = (HashMap::new(), HashSet::new());
        for (service, _) in &named {
            let count = packages.entry(package(service)).or_insert(0);
            *count += 1;
            if services.as_ref().is_some_and(|(known, _)| known.methods(service).is_some()) {
                known_packages.extend([without_version(package(service)), package(service).to_owned()]);
            }
        }
        let imported = KnownServices::new(imported);
        Self { table, entries, services, imported, rpcs, rpcs_by_entry, named, packages, known_packages }
    }

    /// The services that the table is for, each with its methods.
    pub(super) fn rpcs_by_service(&self) -> impl Iterator<Item = &[Rpc<'a>]> {
        self.rpcs.chunk_by(|one, other| std::ptr::eq(one.service, other.service))
    }

    /// The methods of the service of that name, whether the table is for it or not.
    pub(super) fn find(&self, name: &str) -> Option<&HashSet<&'a str>> {
        let own = self.services.as_ref().and_then(|(known, _)| known.methods(name));
        own.or_else(|| self.imported.methods(name))
    }

    /// Returns whether a service that isn't known is of another version of a package than the protos, and the table has names for both: several
    /// of the unknown version, so that it isn't a slip of the pen.
    pub(super) fn has_other_version(&self, name: &str) -> bool {
        let own = package(name);
        let plain = without_version(own);
        let is_other = self.known_packages.contains(&plain) && !self.known_packages.contains(own);
        plain != own && is_other && self.packages.get(own).is_some_and(|count| *count > 1)
    }

    /// Returns whether the table names that very method.
    pub(super) fn has_name(&self, service: &str, method: &str) -> bool {
        self.named.contains(&(service, Some(method)))
    }

    /// The methods that get an entry.
    pub(super) fn rpcs_of(&self, entry: &EntryView<'_>) -> impl Iterator<Item = &Rpc<'a>> {
        let numbers = entry.policy.entry().and_then(|entry| self.rpcs_by_entry.get(entry));
        numbers.into_iter().flatten().filter_map(|number| self.rpcs.get(*number))
    }
}

impl EntryView<'_> {
    /// Returns whether it is for a service, a method or HTTP requests: those have no number.
    pub(super) fn is_for_something(&self) -> bool {
        !self.names.is_empty() || self.policy.entry().is_none()
    }

    /// Returns whether it is of a gRPC service config, which others read too.
    pub(super) fn is_of_service_config(&self) -> bool {
        self.policy.format() == Some(TableFormat::ServiceConfig)
    }

    /// The field for the number of attempts.
    pub(super) fn max_attempts(&self) -> &'static str {
        if self.is_of_service_config() { "maxAttempts" } else { "max_attempts" }
    }

    /// The method or service that it is for, if that is one.
    pub(super) fn only_name(&self) -> Option<String> {
        match self.names.as_slice() {
            [only] => Some(only.to_string()),
            _ => None,
        }
    }

    /// Returns whether it retries anything.
    pub(super) fn retries(&self) -> bool {
        !self.policy.codes().is_empty()
    }
}

impl<'a> Rpc<'a> {
    /// If the table names the method or, if it does not, its service.
    pub(super) fn origin(&self) -> Option<&'a SourceLocation> {
        let by_name = self.name.and_then(|name| name.origin());
        by_name.or(self.policy.and_then(|policy| policy.origin()))
    }

    /// The policy, if it retries anything.
    pub(super) fn retrying(&self) -> Option<MethodPolicy<'a>> {
        self.policy.filter(|policy| !policy.codes().is_empty())
    }

    /// The policy, if it makes further attempts: after failures or, hedged, before them.
    pub(super) fn repeating(&self) -> Option<MethodPolicy<'a>> {
        self.policy.filter(|policy| !policy.codes().is_empty() || policy.hedging().is_some())
    }

    /// Returns whether the method only reads, so that it may be called twice.
    pub(super) fn reads(&self) -> bool {
        self.action == Action::Read
            && !self.method.kind().streams_requests()
            && !self.method.returns_operation()
    }

    /// Returns whether the method starts a long-running operation.
    pub(super) fn starts_operation(&self) -> bool {
        let own = self.method.own_service().unwrap_or(self.service.name());
        let returns_new = self.method.returns_operation() && own != OPERATIONS;
        self.method.is_long_running() || returns_new && self.action != Action::Read
    }

    /// Returns whether the method is another service's that is mixed in.
    pub(super) fn is_mixed_in(&self) -> bool {
        self.method.own_service().is_some()
    }

    /// `pkg.Service/Method`
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.service.name(), self.method.name())
    }
}
