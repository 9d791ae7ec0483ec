//! Names in settings that match nothing, which would otherwise have no effect without a word.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use gax_retry::MethodPolicies;
use gax_text::{Escaped, closest};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Logs problems of settings as warnings. Without the feature `tracing` nobody hears of them, and they aren't looked for.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "nobody hears of them"))]
pub fn warn_of<P: IntoIterator<Item = String>>(problems: impl FnOnce() -> P) {
    #[cfg(feature = "tracing")]
    for problem in problems() {
        tracing::warn!("{problem}");
    }
}

/// Returns the names that none of the methods at these paths has. Of services that have none there, only those that are close to one
/// that has: settings may be shared by several layers and clients.
#[must_use]
pub fn unknown_names<'a>(policies: &MethodPolicies, described: impl Iterator<Item = &'a str>) -> Vec<String> {
    // The work grows with the square.
    const MOST: usize = 200;
    let mut services: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (service, method) in described.filter_map(|path| path.split_once('/')) {
        services.entry(service).or_default().insert(method);
    }
    if services.is_empty() {
        return Vec::new();
    }
    let named: HashSet<&str> = policies.names().collect();
    let services_named: HashSet<&str> = named.iter().map(|name| parts(name).0).collect();
    let unknown = |name: &&str| {
        let (service, method) = parts(name);
        let close = match (services.get(service), method) {
            (Some(_), None) => return None,
            (Some(methods), Some(method)) if methods.contains(method) => return None,
            (Some(methods), Some(method)) => {
                let path = |method: &str| format!("{service}/{method}");
                let others = methods.iter().filter(|method| !named.contains(&*path(method)));
                closest(method, others.copied()).map(path)
            }
            (None, _) => {
                let others = services.keys().filter(|service| !services_named.contains(*service));
                Some(closest(service, others.copied())?.to_owned())
            }
        };
        Some((Escaped(name).to_string(), close))
    };
    let mut unknown: Vec<_> =
        named.iter().filter(|name| !name.is_empty()).filter_map(unknown).take(MOST).collect();
    unknown.sort_unstable();
    unknown.into_iter().map(|(name, close)| sentence(&name, "which no described method has", close)).collect()
}

/// Why settings say nothing of a service that something asks them for; `None`: they do.
#[must_use]
pub fn missing_service(policies: &MethodPolicies, service: &str) -> Option<String> {
    if policies.find(service).is_some() {
        return None;
    }
    let close = closest(service, policies.names().map(|name| parts(name).0)).map(str::to_owned);
    let asked = if service.is_empty() {
        "all methods".to_owned()
    } else {
        format!("the service {}", Escaped(service))
    };
    let text = format!("the retry settings have no entry for {asked}, so nothing is retried");
    Some(with_advice(text, close))
}

/// Why a name in settings has no effect.
#[must_use]
pub fn sentence(name: &str, why: &str, close: Option<String>) -> String {
    with_advice(format!("the retry settings name {name}, {why}"), close)
}

fn with_advice(text: String, close: Option<String>) -> String {
    match close {
        Some(close) => format!("{text}; did you mean {}?", Escaped(&close)),
        None => text,
    }
}

/// The service and the method in a name.
#[must_use]
pub fn parts(name: &str) -> (&str, Option<&str>) {
    name.split_once('/').map_or((name, None), |(service, method)| (service, Some(method)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::{MethodFacts, MethodKind, MethodSettings};

    fn policies(names: &[&str]) -> MethodPolicies {
        let unary = MethodFacts::new(MethodKind::Unary);
        let described = ["a.v1.Library/GetBook", "a.v1.Library/ListBooks", "a.v2.Library/GetBook"];
        let policies =
            names.iter().fold(MethodPolicies::new(), |all, name| all.method(name, MethodSettings::default()));
        policies.facts(described.map(|path| (path, unary)))
    }

    #[test]
    fn names_that_no_described_method_has_are_told() {
        for (names, expected) in [
            (&["", "a.v1.Library", "a.v2.Library/GetBook"][..], &[][..]),
            // Most likely another layer's.
            (&["b.Shop/Buy"], &[]),
            (
                &["a.v1.Library/GetBok"],
                &[
                    "the retry settings name a.v1.Library/GetBok, which no described method has; did you mean \
                   a.v1.Library/GetBook?",
                ],
            ),
            // What is named as well is not what was meant.
            (
                &["a.v1.Library/GetBok", "a.v1.Library/GetBook"],
                &["the retry settings name a.v1.Library/GetBok, which no described method has"],
            ),
            (
                &["a.v1.Libary/GetBook"],
                &[
                    "the retry settings name a.v1.Libary/GetBook, which no described method has; did you mean \
                   a.v1.Library?",
                ],
            ),
            (&["a.v3.Library", "a.v1.Library", "a.v2.Library"], &[]),
        ] {
            let policies = policies(names);
            assert_eq!(unknown_names(&policies, policies.described()), expected, "{names:?}");
        }
        let undescribed = MethodPolicies::new().service("a.Libary", MethodSettings::default());
        assert!(unknown_names(&undescribed, undescribed.described()).is_empty());
    }

    #[test]
    fn a_service_without_an_entry_is_told() {
        let policies = MethodPolicies::new().service("redis", MethodSettings::default());
        assert_eq!(missing_service(&policies, "redis"), None);
        let said = |service| missing_service(&policies, service).unwrap();
        let text = "the retry settings have no entry for the service";
        assert_eq!(said("reddis"), format!("{text} reddis, so nothing is retried; did you mean redis?"));
        assert_eq!(said("postgres"), format!("{text} postgres, so nothing is retried"));
        let nobody = "the retry settings have no entry for all methods, so nothing is retried";
        assert_eq!(missing_service(&policies, "").as_deref(), Some(nobody));
        assert_eq!(missing_service(&policies.all(MethodSettings::default()), "postgres"), None);
    }
}
