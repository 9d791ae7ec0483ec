//! Names in a table that name nothing.

use crate::TableName;
use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::services::Spellings;
use crate::lint::subject::Subject;
use crate::lint::version::{is_version, package};
use crate::services::KnownServices;
use std::collections::HashSet;

declare! {
    MALFORMED_NAME: "malformed-name", Error, Table,
        "a name that no service or method can have",
        "Write the service's full name, package.Service, and the method as in the proto.";
    WRONG_VERSION_NAME: "wrong-version-name", Error, Services,
        "a service's name with another version, or without a dot",
        "Write the service's name as in the protos.";
    OTHER_VERSION_NAME: "other-version-name", Note, Services,
        "a service of another version of the API, in a table that has names for this one too",
        "Give the protos of that version too, or move its entries to a table of its own.";
    NAME_OF_ANOTHER_API: "name-of-another-api", Error, Services,
        "a service of an unknown API",
        "Correct the package, or remove the name.";
    UNKNOWN_SERVICE: "unknown-service", Error, Services,
        "a service that no proto has",
        "Correct the service's name, or remove the name.";
    NEAR_MISS_METHOD: "near-miss-method", Error, Services,
        "a method that no proto has, spelled almost like an existing one",
        "Write the method's name as in the proto.";
    UNKNOWN_METHOD: "unknown-method", Error, Services,
        "a method that its service does not have",
        "Remove the name, or correct it.";
    MIXIN_NAME: "mixin-name", Warning, Table,
        "a service that is mixed in: generated clients look for its methods under their own service",
        "Name the method under the service that has it mixed in.";
}

/// The services that the table is for.
type Services<'a> = (KnownServices<'a>, Spellings<'a>);

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
    let all = || subject.table.names().chain(subject.table.names_beside());
    let names = || all().filter(|name| !name.service().is_empty());
    let is_own_api = names().all(|name| MIXINS.contains(&name.service()));
    for name in names() {
        match &subject.services {
            Some(services) => check_known(subject, services, &name, report),
            None => drop(malformed(&name, report)),
        }
        let is_known =
            subject.services.as_ref().is_some_and(|(known, _)| known.methods(name.service()).is_some());
        if MIXINS.contains(&name.service()) && !is_own_api && !is_known {
            let message = format!("{} is mixed into other services", name.service());
            let help =
                "name the method under the service that has it mixed in: Google's Java clients look there";
            report.add(&MIXIN_NAME, Place::service(&name), message, help);
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
        report.add(&MALFORMED_NAME, Place::service(name), message, help);
    } else if !word(method) {
        let message = format!("{method:?} can't be the name of a method");
        let help = "write it as in the proto file, such as GetBook";
        report.add(&MALFORMED_NAME, Place::name(name), message, help);
    } else if service.rsplit('.').next().is_some_and(is_version) {
        let message = format!("{service:?} is a package, not a service");
        report.add(&MALFORMED_NAME, Place::service(name), message, "add a dot and the service's name");
    } else {
        return false;
    }
    true
}

fn check_known(subject: &Subject<'_>, services: &Services<'_>, name: &TableName<'_>, report: &mut Report) {
    let wanted = name.service();
    match subject.find(wanted) {
        Some(methods) => check_method(subject, &services.0, methods, name, report),
        None if MIXINS.contains(&wanted) || malformed(name, report) => {}
        None => unknown_service(subject, services, name, report),
    }
}

fn check_method<'a>(
    subject: &Subject<'_>,
    known: &KnownServices<'a>,
    methods: &HashSet<&'a str>,
    name: &TableName<'_>,
    report: &mut Report,
) {
    let Some(wanted) = name.method() else { return };
    if methods.contains(wanted) || MIXED_IN.contains(&wanted) {
        return;
    }
    let service = name.service();
    let message = format!("the service {service} has no method {wanted:?}");
    // One that the table has by itself is not what was meant.
    let can_be = |method: &str| !subject.has_name(service, method);
    if let Some(close) = known.suggest_method(methods, wanted.trim(), can_be) {
        report.add(&NEAR_MISS_METHOD, Place::name(name), message, format!("did you mean {close:?}?"));
    } else {
        let help = "remove the name, or correct it: it has no effect";
        report.add(&UNKNOWN_METHOD, Place::name(name), message, help);
    }
}

fn unknown_service(
    subject: &Subject<'_>,
    (known, spellings): &Services<'_>,
    name: &TableName<'_>,
    report: &mut Report,
) {
    let (wanted, place) = (name.service(), Place::service(name));
    let message = format!("there is no service {wanted:?}");
    if subject.has_other_version(wanted) {
        let message = format!("{wanted:?} is of another version of the API than the protos");
        let help = "give the protos of that version too, or move its entries to a table of its own";
        return report.add(&OTHER_VERSION_NAME, place, message, help);
    }
    let nearly = spellings.nearly(wanted).map(|name| (&WRONG_VERSION_NAME, name));
    let close = nearly.or_else(|| known.suggest(wanted).map(|name| (&UNKNOWN_SERVICE, name)));
    if let Some((rule, close)) = close {
        return report.add(rule, place, message, format!("did you mean {close:?}?"));
    }
    if spellings.has_package_of(wanted) {
        let help = "remove the name, or correct it: it has no effect";
        return report.add(&UNKNOWN_SERVICE, place, message, help);
    }
    let package = package(wanted);
    let help = format!("no service here belongs to the package {package:?}: remove the name, or correct it");
    report.add(&NAME_OF_ANOTHER_API, place, message, help);
}
