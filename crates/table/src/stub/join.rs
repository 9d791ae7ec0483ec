//! Tables and services to stub tables.

use super::definitions::{RowKind, StubRow, StubTable};
use crate::model::TableEntry;
use crate::{MethodDescription, MethodPolicy, RetryTable, ServiceDescription};
use gax_retry::{CodeSet, MethodKind, RetrySettings};
use std::collections::HashSet;
use std::time::Duration;

impl RetryTable {
    /// The settings that generated clients of these services start from.
    ///
    /// Definitions that the table names itself come first, used or not, then the others in the order in
    /// which the methods first use them. Rows are in the order of the methods, followed by two for each
    /// long-running one, and last by those whose requests are a stream, by name: that is the order of Google's Java
    /// clients. A method that the table has no entry for gets `no_retry_codes` and `no_retry_params`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::MethodKind;
    /// use gax_table::{MethodDescription, RetryTable, ServiceDescription};
    ///
    /// let table = RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "5s"}]}"#)?;
    /// let service = ServiceDescription::new("a.B").with_method(MethodDescription::new("Get", MethodKind::Unary));
    /// let stub = &table.stub_tables(&[service])[0];
    /// assert_eq!(stub.code_definitions()[0].0, "no_retry_0_codes");
    /// assert_eq!(stub.rows()[0].getter(), "getSettings");
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn stub_tables(&self, services: &[ServiceDescription]) -> Vec<StubTable> {
        services.iter().map(|service| self.stub_table(service)).collect()
    }

    fn stub_table(&self, service: &ServiceDescription) -> StubTable {
        let nothing = TableEntry::nothing();
        let named = || self.definitions(service.name()).iter();
        let codes = named().flat_map(|named| &named.codes);
        let mut code_definitions: Vec<_> = codes.map(|(name, codes)| (name.to_string(), *codes)).collect();
        let params = named().flat_map(|named| &named.params);
        let mut param_definitions: Vec<_> =
            params.map(|(name, params)| (name.to_string(), params.clone())).collect();
        let mut code_names: HashSet<String> = code_definitions.iter().map(|(name, _)| name.clone()).collect();
        let mut param_names: HashSet<String> =
            param_definitions.iter().map(|(name, _)| name.clone()).collect();
        let (mut rows, mut operations, mut streams) = (Vec::new(), Vec::new(), Vec::new());
        for method in service.methods() {
            let policy = self.lookup(service.name(), method.name()).unwrap_or(MethodPolicy {
                entry: &nothing,
                keys: &nothing.keys,
                idempotent: None,
            });
            if code_names.insert(policy.codes_key().to_owned()) {
                code_definitions.push((policy.codes_key().to_owned(), policy.codes()));
            }
            if param_names.insert(policy.params_key().to_owned()) {
                param_definitions.push((policy.params_key().to_owned(), policy.settings().clone()));
            }
            // A service has more methods than those whose requests can be merged.
            let is_plain = method.kind() == MethodKind::Unary && !method.returns_operation();
            let lookup = if is_plain { Self::batching } else { Self::own_batching };
            let batching = lookup(self, service.name(), method.name());
            let kind = row_kind(method.kind(), batching.is_some());
            let mut method_row = row(service, method, kind, policy);
            method_row.batching = batching.filter(|_| kind == RowKind::Batching).cloned();
            let of_kind = if kind == RowKind::Streaming { &mut streams } else { &mut rows };
            of_kind.push(method_row);
            if method.is_long_running() {
                let polling = self.polling(service.name(), method.name());
                let settings = Some(polling.cloned().unwrap_or_else(default_polling));
                operations.push(row(service, method, RowKind::OperationInitial, policy));
                operations.push(StubRow { settings, ..bare_row(service, method, RowKind::OperationPolling) });
            }
        }
        streams.sort_by(|one, other| one.method.cmp(&other.method));
        rows.append(&mut operations);
        rows.append(&mut streams);
        StubTable { service: service.name().to_owned(), code_definitions, param_definitions, rows }
    }
}

/// How a long-running operation is polled if no table says it.
fn default_polling() -> RetrySettings {
    let builder = RetrySettings::builder()
        .total_timeout(Duration::from_secs(300))
        .initial_retry_delay(Duration::from_secs(5))
        .retry_delay_multiplier(1.5)
        .max_retry_delay(Duration::from_secs(45));
    builder.build_unchecked()
}

fn row(
    service: &ServiceDescription,
    method: &MethodDescription,
    kind: RowKind,
    policy: MethodPolicy<'_>,
) -> StubRow {
    let has_settings = kind != RowKind::Streaming;
    let keys = || (policy.codes_key().to_owned(), policy.params_key().to_owned());
    StubRow {
        keys: has_settings.then(keys),
        codes: if has_settings { policy.codes() } else { CodeSet::EMPTY },
        settings: has_settings.then(|| policy.settings().clone()),
        ..bare_row(service, method, kind)
    }
}

fn bare_row(service: &ServiceDescription, method: &MethodDescription, kind: RowKind) -> StubRow {
    let own_service = method.own_service().unwrap_or(service.name());
    let ending = match kind {
        RowKind::OperationInitial | RowKind::OperationPolling => "OperationSettings",
        _ => "Settings",
    };
    StubRow {
        method: method.name().to_owned(),
        full_method: format!("{own_service}/{}", method.name()),
        getter: format!("{}{ending}", getter_name(method.name())),
        kind,
        keys: None,
        codes: CodeSet::EMPTY,
        settings: None,
        batching: None,
    }
}

fn row_kind(kind: MethodKind, batching: bool) -> RowKind {
    match kind {
        kind if batching && kind.is_unary() => RowKind::Batching,
        MethodKind::Paged => RowKind::Paged,
        MethodKind::Batching => RowKind::Batching,
        MethodKind::ServerStreaming => RowKind::ServerStreaming,
        kind if kind.streams_requests() => RowKind::Streaming,
        _ => RowKind::Unary,
    }
}

/// The words that are no names in Java, with a space between two of them.
const KEYWORDS: &str = "\
    _ abstract assert boolean break byte case catch char class const continue default do double else \
    enum extends false final finally float for goto if implements import instanceof int interface long \
    native new null package private protected public return short static strictfp super switch \
    synchronized this throw throws transient true try void volatile while";

/// A method's accessor in a Java client without its ending `Settings`: the first letter in lower case,
/// underscores gone, a letter after a digit or underscore in upper case; a keyword gets an underscore.
///
/// # Examples
///
/// ```
/// use gax_table::getter_name;
///
/// assert_eq!(getter_name("ListAssets"), "listAssets");
/// assert_eq!(getter_name("Get2things"), "get2Things");
/// assert_eq!(getter_name("Import"), "import_");
/// ```
#[must_use]
pub fn getter_name(method: &str) -> String {
    let mut name = String::with_capacity(method.len() + 1);
    let mut raise = false;
    for character in method.chars() {
        if character == '_' {
            raise = true;
            continue;
        }
        if name.is_empty() {
            name.extend(character.to_lowercase());
        } else if raise {
            name.extend(character.to_uppercase());
        } else {
            name.push(character);
        }
        raise = character.is_ascii_digit();
    }
    if KEYWORDS.split(' ').any(|keyword| keyword == name) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javas() {
        for (method, getter) in [
            ("GetIAMPolicy", "getIAMPolicy"),
            ("get_thing", "getThing"),
            ("_Get", "get"),
            ("Get_2x", "get2X"),
            ("Default", "default_"),
            ("", ""),
        ] {
            assert_eq!(getter_name(method), getter, "{method}");
        }
    }
}
