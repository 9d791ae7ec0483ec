//! Calls of methods that no settings name.

use gax_retry::MethodPolicies;
use gax_text::{Escaped, closest};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// This many calls of methods that the table does not name are enough to say so, if none of the others was called.
const ENOUGH: u32 = 10;

/// Finds out whether a table names none of the methods that are called: most likely a name in it is wrong.
#[derive(Debug, Default)]
pub(super) struct UnnamedCalls {
    /// A method was called that the table has something to say about, or the problem was reported.
    is_settled: AtomicBool,
    count: AtomicU32,
}

impl UnnamedCalls {
    /// A method was called that the table has something to say about.
    #[inline]
    pub(super) fn settle(&self) {
        if !self.is_settled.load(Ordering::Relaxed) {
            self.is_settled.store(true, Ordering::Relaxed);
        }
    }

    /// A method was called that the table does not name. Returns the problem, once: at the first call where the name is close to one
    /// in the table, else after some calls.
    #[cold]
    pub(super) fn count(&self, policies: &MethodPolicies, service: &str, method: &str) -> Option<String> {
        if self.is_settled.load(Ordering::Relaxed) || entry_names(policies).next().is_none() {
            return None;
        }
        let meant = near_miss(policies, service, method);
        let count = self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if (meant.is_none() && count < ENOUGH) || self.is_settled.swap(true, Ordering::Relaxed) {
            return None;
        }
        let path = format!("{service}/{method}");
        let called =
            format!("the retry table names none of the methods that are called, such as {}", Escaped(&path));
        Some(match meant {
            Some(meant) => format!("{called}: it names {}, which is most likely misspelt", Escaped(&meant)),
            None => format!("{called}, so they are not retried: add them, or remove the layer"),
        })
    }
}

/// The names that have settings.
fn entry_names(policies: &MethodPolicies) -> impl Iterator<Item = (&str, Option<&str>)> {
    let names = policies.entries().flat_map(|(names, _)| names);
    names
        .map(|name| name.split_once('/').map_or((&**name, None), |(service, method)| (service, Some(method))))
}

/// The name with settings that is close to that of a method.
fn near_miss(policies: &MethodPolicies, service: &str, method: &str) -> Option<String> {
    let named = || entry_names(policies).filter(|(named, _)| *named == service);
    if named().next().is_none() {
        return closest(service, entry_names(policies).map(|(service, _)| service)).map(str::to_owned);
    }
    closest(method, named().filter_map(|(_, method)| method)).map(|method| format!("{service}/{method}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::MethodSettings;

    fn policies(name: Option<&str>) -> MethodPolicies {
        name.map_or_else(MethodPolicies::new, |name| {
            MethodPolicies::new().method(name, MethodSettings::default())
        })
    }

    /// The problems of twenty calls of a method, with the number of the call.
    fn said(name: Option<&str>, path: &str) -> Vec<(u32, String)> {
        let (policies, calls) = (policies(name), UnnamedCalls::default());
        let (service, method) = path.split_once('/').unwrap();
        (1..=20).filter_map(|call| Some((call, calls.count(&policies, service, method)?))).collect()
    }

    #[test]
    fn settings_that_name_no_method_that_is_called_are_reported_once() {
        let misspelt =
            "the retry table names none of the methods that are called, such as a.Library/GetBook: it names";
        let expected = format!("{misspelt} a.Libary, which is most likely misspelt");
        assert_eq!(said(Some("a.Libary"), "a.Library/GetBook"), [(1, expected)]);
        let expected = format!("{misspelt} a.Library/GetBok, which is most likely misspelt");
        assert_eq!(said(Some("a.Library/GetBok"), "a.Library/GetBook"), [(1, expected)]);
        let expected = "the retry table names none of the methods that are called, such as a.Library/GetBook, so they \
                        are not retried: add them, or remove the layer";
        assert_eq!(said(Some("b.Shop"), "a.Library/GetBook"), [(10, expected.to_owned())]);
        assert_eq!(said(None, "a.Library/GetBook"), []);
    }

    #[test]
    fn settings_that_name_a_method_that_is_called_are_not() {
        let calls = UnnamedCalls::default();
        calls.settle();
        assert_eq!(calls.count(&policies(Some("a.Libary")), "a.Library", "GetBook"), None);
    }
}
