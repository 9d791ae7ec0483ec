//! Names in a table that name nothing.

use crate::lint::report::Report;
use crate::lint::rule::{Needs, Rule};
use crate::lint::subject::Subject;
use crate::lint::version::{is_version, package, without_version};
use crate::{MethodDescription, ServiceDescription, Severity, TableName};
use gax_retry::__private::closest;

const MALFORMED_NAME: Rule =
    Rule::new("malformed-name", Severity::Error, Needs::Table, "a name that no service or method can have");
const WRONG_VERSION_NAME: Rule = Rule::new(
    "wrong-version-name",
    Severity::Error,
    Needs::Services,
    "a service's name with another version, or without a dot",
);
const NAME_OF_ANOTHER_API: Rule = Rule::new(
    "name-of-another-api",
    Severity::Error,
    Needs::Services,
    "a service of an API that is not here",
);
const UNKNOWN_SERVICE: Rule =
    Rule::new("unknown-service", Severity::Error, Needs::Services, "a service that no proto has");
const NEAR_MISS_METHOD: Rule = Rule::new(
    "near-miss-method",
    Severity::Error,
    Needs::Services,
    "a method that no proto has, spelled almost as one that is there",
);
const UNKNOWN_METHOD: Rule =
    Rule::new("unknown-method", Severity::Error, Needs::Services, "a method that its service does not have");
const MIXIN_NAME: Rule = Rule::new(
    "mixin-name",
    Severity::Warning,
    Needs::Table,
    "a service that is mixed in: generated clients look for its methods under their own service",
);

pub(super) static RULES: [Rule; 7] = [
    MALFORMED_NAME,
    WRONG_VERSION_NAME,
    NAME_OF_ANOTHER_API,
    UNKNOWN_SERVICE,
    NEAR_MISS_METHOD,
    UNKNOWN_METHOD,
    MIXIN_NAME,
];

const MIXINS: [&str; 3] =
    ["google.longrunning.Operations", "google.cloud.location.Locations", "google.iam.v1.IAMPolicy"];

/// The methods of these services: a host may be named with them.
pub(super) const MIXED_IN: [&str; 10] = [
    "GetOperation",
    "ListOperations",
    "CancelOperation",
    "DeleteOperation",
    "WaitOperation",
    "GetLocation",
    "ListLocations",
    "GetIamPolicy",
    "SetIamPolicy",
    "TestIamPermissions",
];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let names = || subject.table.names().filter(|name| !name.service().is_empty());
    let is_own_api = names().all(|name| MIXINS.contains(&name.service()));
    for name in names() {
        match subject.services {
            Some(services) => check_known(subject, services, &name, report),
            None => drop(malformed(&name, report)),
        }
        let is_known = subject.services.is_some_and(|services| find(services, name.service()).is_some());
        if MIXINS.contains(&name.service()) && !is_own_api && !is_known {
            let message = format!("{} is mixed into other services", name.service());
            let help =
                "name the method under the service that has it mixed in: Google's Java clients look there";
            report.add(&MIXIN_NAME, name.origin(), message, help);
        }
    }
}

/// Reports a name that nothing can have.
fn malformed(name: &TableName<'_>, report: &mut Report) -> bool {
    let word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (service, method) = (name.service(), name.method().unwrap_or("M"));
    if !service.split('.').all(word) {
        let message = format!("{service:?} can't be the name of a service");
        let help = "write its package, a dot and its name, such as example.v1.Library";
        report.add(&MALFORMED_NAME, name.origin(), message, help);
    } else if !word(method) {
        let message = format!("{method:?} can't be the name of a method");
        report.add(&MALFORMED_NAME, name.origin(), message, "write it as in the proto file, such as GetBook");
    } else if service.rsplit('.').next().is_some_and(is_version) {
        let message = format!("{service:?} is a package, not a service");
        report.add(&MALFORMED_NAME, name.origin(), message, "add a dot and the service's name");
    } else {
        return false;
    }
    true
}

fn check_known(
    subject: &Subject<'_>,
    services: &[ServiceDescription],
    name: &TableName<'_>,
    report: &mut Report,
) {
    let wanted = name.service();
    match find(services, wanted).or_else(|| find(subject.imported, wanted)) {
        Some(service) => check_method(service, name, report),
        None if MIXINS.contains(&wanted) || malformed(name, report) => {}
        None => unknown_service(services, name, report),
    }
}

fn check_method(service: &ServiceDescription, name: &TableName<'_>, report: &mut Report) {
    let methods = || service.methods().iter().map(MethodDescription::name);
    let Some(wanted) = name.method() else { return };
    if methods().any(|known| known == wanted) || MIXED_IN.contains(&wanted) {
        return;
    }
    let message = format!("the service {} has no method {wanted:?}", service.name());
    if let Some(close) = closest(wanted.trim(), methods()) {
        report.add(&NEAR_MISS_METHOD, name.origin(), message, format!("did you mean {close:?}?"));
    } else {
        report.add(
            &UNKNOWN_METHOD,
            name.origin(),
            message,
            "remove the name, or correct it: it has no effect",
        );
    }
}

fn unknown_service(services: &[ServiceDescription], name: &TableName<'_>, report: &mut Report) {
    let wanted = name.service();
    let message = format!("there is no service {wanted:?}");
    let plain = |name: &str| without_version(name).replace('.', "").to_lowercase();
    let versionless = services.iter().find(|known| {
        let squeezed = known.name().replace('.', "") == wanted.replace('.', "");
        squeezed || plain(known.name()) == plain(wanted)
    });
    if let Some(known) = versionless {
        let help = format!("did you mean {:?}?", known.name());
        return report.add(&WRONG_VERSION_NAME, name.origin(), message, help);
    }
    let mut known = services.iter().map(ServiceDescription::name);
    if let Some(close) = closest(wanted, known.clone()) {
        return report.add(&UNKNOWN_SERVICE, name.origin(), message, format!("did you mean {close:?}?"));
    }
    let api = without_version(package(wanted));
    if known.any(|known| without_version(package(known)) == api) {
        let help = "remove the name, or correct it: it has no effect";
        return report.add(&UNKNOWN_SERVICE, name.origin(), message, help);
    }
    let help =
        format!("no service here is of the package {:?}: remove the name, or correct it", package(wanted));
    report.add(&NAME_OF_ANOTHER_API, name.origin(), message, help);
}

fn find<'a>(services: &'a [ServiceDescription], name: &str) -> Option<&'a ServiceDescription> {
    services.iter().find(|service| service.name() == name)
}
