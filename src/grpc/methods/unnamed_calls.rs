//! Calls of methods that a table does not name.

use gax_table::RetryTable;
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
    pub(super) fn count(&self, table: &RetryTable, service: &str, method: &str) -> Option<String> {
        if self.is_settled.load(Ordering::Relaxed) || table.names().next().is_none() {
            return None;
        }
        let meant = near_miss(table, service, method);
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

/// The name in the table that is close to that of a method.
fn near_miss(table: &RetryTable, service: &str, method: &str) -> Option<String> {
    let named = || table.names().filter(|name| name.service() == service);
    if named().next().is_none() {
        return closest(service, table.names().map(|name| name.service())).map(str::to_owned);
    }
    closest(method, named().filter_map(|name| name.method())).map(|method| format!("{service}/{method}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of twenty calls of a method, with the number of the call.
    fn said(names: &str, path: &str) -> Vec<(u32, String)> {
        let table = format!(r#"{{"methodConfig": [{{"name": [{names}], "timeout": "5s"}}]}}"#);
        let (table, calls) = (RetryTable::parse(&table).unwrap(), UnnamedCalls::default());
        let (service, method) = path.split_once('/').unwrap();
        (1..=20).filter_map(|call| Some((call, calls.count(&table, service, method)?))).collect()
    }

    #[test]
    fn a_table_that_names_no_method_that_is_called_is_reported_once() {
        let misspelt =
            "the retry table names none of the methods that are called, such as a.Library/GetBook: it names";
        let service = r#"{"service": "a.Libary"}"#;
        let expected = format!("{misspelt} a.Libary, which is most likely misspelt");
        assert_eq!(said(service, "a.Library/GetBook"), [(1, expected)]);
        let method = r#"{"service": "a.Library", "method": "GetBok"}"#;
        let expected = format!("{misspelt} a.Library/GetBok, which is most likely misspelt");
        assert_eq!(said(method, "a.Library/GetBook"), [(1, expected)]);
        let other = r#"{"service": "b.Shop"}"#;
        let expected = "the retry table names none of the methods that are called, such as a.Library/GetBook, so they \
                        are not retried: add them, or remove the layer";
        assert_eq!(said(other, "a.Library/GetBook"), [(10, expected.to_owned())]);
        assert_eq!(said("", "a.Library/GetBook"), []);
    }

    #[test]
    fn a_table_that_names_a_method_that_is_called_is_not() {
        let table =
            RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "a.Libary"}], "timeout": "5s"}]}"#);
        let (table, calls) = (table.unwrap(), UnnamedCalls::default());
        calls.settle();
        assert_eq!(calls.count(&table, "a.Library", "GetBook"), None);
    }
}
