//! Calls of methods that no settings name.

use gax_driver::__private::Locked;
use gax_driver::__private::unused_names::{parts, sentence};
use gax_retry::MethodPolicies;
use gax_text::{Escaped, closest};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// This many calls of methods that the table does not name are enough to say so, if none of the others was called.
const ENOUGH: u32 = 10;

/// Finds names that are most likely wrong: those of methods that are not called, where one of almost the same name is, and all of them
/// if the table names none of the methods that are called.
#[derive(Debug, Default)]
pub(super) struct UnnamedCalls {
    /// A method was called that the table has something to say about, or the problem was reported.
    is_settled: AtomicBool,
    count: AtomicU32,
    /// The methods whose names were compared with those of the table, and the names that were reported.
    compared: Arc<Locked<HashSet<Box<str>>>>,
}

impl UnnamedCalls {
    /// For a table in place of another one.
    pub(super) fn after(before: &Self) -> Self {
        Self { compared: Arc::clone(&before.compared), ..Self::default() }
    }

    /// A method was called that the table has something to say about.
    #[inline]
    pub(super) fn settle(&self) {
        if !self.is_settled.load(Ordering::Relaxed) {
            self.is_settled.store(true, Ordering::Relaxed);
        }
    }

    /// A method was called that the table does not name. Returns the problem, once: at the first call where the name is close to one
    /// in the table that is not called, else after some calls.
    #[cold]
    pub(super) fn count(
        &self,
        policies: &MethodPolicies,
        path: &str,
        is_called: impl Fn(&str) -> bool,
    ) -> Option<String> {
        // Memory for the methods of several large services.
        const MOST: usize = 1000;
        policies.entries().next()?;
        let (service, method) = parts(path);
        let mut compared = self.compared.lock();
        if compared.len() < MOST && !compared.contains(path) {
            compared.insert(path.into());
            let meant = near_miss(policies, service, method?, is_called);
            let meant =
                meant.or_else(|| self.is_unsettled().then(|| near_service(policies, service)).flatten());
            if let Some(meant) = meant.filter(|meant| compared.insert(meant.as_str().into())) {
                self.settle();
                return Some(sentence(
                    &Escaped(&meant).to_string(),
                    "which is not called",
                    Some(path.to_owned()),
                ));
            }
        }
        drop(compared);
        let is_entry = policies.entry_of(path).is_some();
        if is_entry
            || !self.is_unsettled()
            || self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1) < ENOUGH
        {
            return None;
        }
        let is_first = !self.is_settled.swap(true, Ordering::Relaxed);
        is_first.then(|| {
            let path = Escaped(path);
            format!(
                "the retry table names none of the methods that are called, such as {path}, so they are not retried: add them, \
                 or remove the layer"
            )
        })
    }

    fn is_unsettled(&self) -> bool {
        !self.is_settled.load(Ordering::Relaxed)
    }
}

/// The names that have settings, as services and methods.
fn entry_names(policies: &MethodPolicies) -> impl Iterator<Item = (&str, Option<&str>)> {
    policies.entries().flat_map(|(names, _)| names).map(|name| parts(name))
}

/// The method of that service which has settings, is not called, and has almost the same name.
fn near_miss(
    policies: &MethodPolicies,
    service: &str,
    method: &str,
    is_called: impl Fn(&str) -> bool,
) -> Option<String> {
    // Two that differ in this alone are both there, as a rule.
    let property = |name: &'_ str| name.strip_prefix("Get").or(name.strip_prefix("Set")).map(str::to_owned);
    let is_counterpart = |other: &str| property(method).is_some_and(|own| property(other) == Some(own));
    let path = |method: &str| format!("{service}/{method}");
    let named = entry_names(policies).filter(|(named, _)| *named == service).filter_map(|(_, method)| method);
    closest(method, named.filter(|other| !is_counterpart(other) && !is_called(&path(other)))).map(path)
}

/// The service that has settings and almost the same name, if that one has none.
fn near_service(policies: &MethodPolicies, service: &str) -> Option<String> {
    let names = || entry_names(policies).map(|(service, _)| service);
    if names().any(|named| named == service) { None } else { closest(service, names()).map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::MethodSettings;

    fn policies(names: &[&str]) -> MethodPolicies {
        names.iter().fold(MethodPolicies::new(), |all, name| all.method(name, MethodSettings::default()))
    }

    /// The problems of twenty calls of each method, with the number of the call.
    fn said(names: &[&str], called: &[&str], paths: &[&str]) -> Vec<(u32, String)> {
        let (policies, calls) = (policies(names), UnnamedCalls::default());
        let is_called = |name: &str| called.contains(&name);
        if !called.is_empty() {
            calls.settle();
        }
        let count = |path: &str| {
            (1..=20)
                .filter_map(|call| Some((call, calls.count(&policies, path, is_called)?)))
                .collect::<Vec<_>>()
        };
        paths.iter().flat_map(|path| count(path)).collect()
    }

    fn misspelt(name: &str, meant: &str) -> String {
        format!("the retry settings name {name}, which is not called; did you mean {meant}?")
    }

    const GET: &str = "a.Library/GetBook";

    #[test]
    fn settings_that_name_no_method_that_is_called_are_reported_once() {
        assert_eq!(said(&["a.Libary"], &[], &[GET]), [(1, misspelt("a.Libary", GET))]);
        assert_eq!(said(&["a.Library/GetBok"], &[], &[GET]), [(1, misspelt("a.Library/GetBok", GET))]);
        let expected = "the retry table names none of the methods that are called, such as a.Library/GetBook, so they \
                        are not retried: add them, or remove the layer";
        assert_eq!(said(&["b.Shop"], &[], &[GET]), [(10, expected.to_owned())]);
        assert_eq!(said(&[], &[], &[GET]), []);
    }

    #[test]
    fn one_wrong_name_among_others_is_reported_once() {
        let names = ["a.Library", "a.Library/ListBooks", "a.Library/GetBok"];
        let called = ["a.Library/ListBooks"];
        assert_eq!(said(&names, &called, &[GET, GET]), [(1, misspelt("a.Library/GetBok", GET))]);
        // Both are there.
        assert_eq!(said(&names, &[called[0], "a.Library/GetBok"], &[GET]), []);
        assert_eq!(said(&["a.Library/SetBook"], &called, &[GET]), []);
        // Another version of the service has settings, and is called.
        assert_eq!(said(&["a.v1.Library/GetBook"], &["a.v1.Library/GetBook"], &["a.v2.Library/GetBook"]), []);
    }

    #[test]
    fn a_table_in_place_of_another_one_repeats_nothing() {
        let (policies, calls) = (policies(&["a.Library/GetBok"]), UnnamedCalls::default());
        assert!(calls.count(&policies, GET, |_| false).is_some());
        assert!(UnnamedCalls::after(&calls).count(&policies, GET, |_| false).is_none());
    }
}
