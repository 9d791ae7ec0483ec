//! Names to what they stand for.

use super::table::{NamedCodes, NamedMethod, NamedParams, NamedService};
use crate::document::{Located, Source, Span};
use crate::model::{Definitions, Entry, ServiceDefinitions, UnusableEntry};
use crate::{PolicyField, TableError};
use gax_retry::RetrySettings;
use gax_text::closest;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The definitions that the names of a service's methods stand for.
pub(crate) struct Resolved {
    pub(crate) entries: Vec<Arc<Entry>>,
    /// The methods that name no definition, or one that is not there.
    pub(crate) unusable: Vec<UnusableEntry>,
    pub(crate) definitions: ServiceDefinitions,
}

/// An entry for each method, as far as it can be made, and the service's definitions.
pub(crate) fn resolve_named(source: &Source, service: &NamedService) -> Resolved {
    let names = Names {
        service,
        codes: service.codes.iter().map(|codes| (&*codes.name, codes)).collect(),
        params: service.params.iter().map(|params| (&*params.name, params)).collect(),
    };
    let (mut entries, mut unusable) = (Vec::new(), Vec::new());
    for method in &service.methods {
        match resolve(source, &names, method) {
            Ok(entry) => entries.push(Arc::new(entry)),
            Err(error) => unusable.push(UnusableEntry {
                service: service.name.clone(),
                method: method.name.clone(),
                is_disabled: method.is_disabled,
                error,
            }),
        }
    }
    let definitions = ServiceDefinitions {
        service: service.name.clone(),
        codes: service.codes.iter().map(|codes| (codes.name.clone(), codes.codes)).collect(),
        params: service.params.iter().map(|params| (params.name.clone(), params.settings.clone())).collect(),
    };
    Resolved { entries, unusable, definitions }
}

/// A service's definitions by their names; of several with one name the last.
struct Names<'a> {
    service: &'a NamedService,
    codes: HashMap<&'a str, &'a NamedCodes>,
    params: HashMap<&'a str, &'a NamedParams>,
}

fn resolve(source: &Source, names: &Names<'_>, method: &NamedMethod) -> Result<Entry, TableError> {
    let service = names.service;
    let codes_names = || service.codes.iter().map(|codes| &*codes.name);
    let params_names = || service.params.iter().map(|params| &*params.name);
    let codes_name = present(source, method, method.codes_name.as_ref(), "retry_codes_name")?;
    let params_name = present(source, method, method.params_name.as_ref(), "retry_params_name")?;
    let codes = names.codes.get(&*codes_name.value).copied();
    let codes = codes.ok_or_else(|| undefined(source, codes_name, codes_names()))?;
    let params = names.params.get(&*params_name.value).copied();
    let params = params.ok_or_else(|| undefined(source, params_name, params_names()))?;
    let mut settings = params.settings.clone();
    let mut origins: Vec<(PolicyField, Span)> = params.values.clone();
    if let Some(timeout) = &method.timeout {
        settings = with_whole_timeout(&settings, timeout.value);
        origins.retain(|(field, _)| !is_timeout(*field));
        origins.extend(TIMEOUTS.map(|field| (field, timeout.span)));
    }
    origins.push((PolicyField::RetryableCodes, codes.span));
    Ok(Entry {
        names: Arc::new([service.name_of(source, method)]),
        codes: codes.codes,
        settings,
        definitions: Definitions::Named { codes: codes.name.clone(), params: params.name.clone() },
        origin: Some(source.origin(method.span)),
        origins: origins.into_iter().map(|(field, span)| (field, source.origin(span))).collect(),
        ..Entry::default()
    })
}

const TIMEOUTS: [PolicyField; 3] =
    [PolicyField::TotalTimeout, PolicyField::InitialRpcTimeout, PolicyField::MaxRpcTimeout];

fn is_timeout(field: PolicyField) -> bool {
    TIMEOUTS.contains(&field)
}

/// Settings whose attempts may each take all of the timeout.
fn with_whole_timeout(settings: &RetrySettings, timeout: Duration) -> RetrySettings {
    let timeout = Some(timeout).filter(|timeout| !timeout.is_zero());
    settings.to_builder().timeout(timeout).rpc_timeout_multiplier(1.0).build_unchecked()
}

fn present<'a>(
    source: &Source,
    method: &NamedMethod,
    name: Option<&'a Located<Arc<str>>>,
    field: &str,
) -> Result<&'a Located<Arc<str>>, TableError> {
    name.ok_or_else(|| {
        let problem = format!("the method {} has no {field}", method.name);
        source.error(method.span, problem, format!("add {field}"))
    })
}

fn undefined<'a>(
    source: &Source,
    name: &Located<Arc<str>>,
    defined: impl Iterator<Item = &'a str> + Clone,
) -> TableError {
    let help = match closest(&name.value, defined.clone()) {
        Some(close) => format!("did you mean {close:?}?"),
        None => format!("defined are: {}", defined.collect::<Vec<_>>().join(", ")),
    };
    source.fault(name.span, "is not defined for the service", help)
}
