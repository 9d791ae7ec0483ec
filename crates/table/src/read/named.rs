//! Tables whose methods name a set of codes and a set of settings, each defined once for its service:
//! GAPIC YAML of schema 1 and client configs of Google's Node generator.

use crate::document::{Located, Node, Span};
use crate::model::{Definitions, Entry, EntryName, ServiceDefinitions};
use crate::values::Values;
use crate::{PolicyField, TableError};
use gax_retry::{CodeSet, RetrySettings};
use gax_text::closest;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The seven fields of `retry_params`, in milliseconds; `name` is read elsewhere.
const PARAMS: [(&str, PolicyField); 7] = [
    ("initial_retry_delay_millis", PolicyField::InitialRetryDelay),
    ("retry_delay_multiplier", PolicyField::RetryDelayMultiplier),
    ("max_retry_delay_millis", PolicyField::MaxRetryDelay),
    ("initial_rpc_timeout_millis", PolicyField::InitialRpcTimeout),
    ("rpc_timeout_multiplier", PolicyField::RpcTimeoutMultiplier),
    ("max_rpc_timeout_millis", PolicyField::MaxRpcTimeout),
    ("total_timeout_millis", PolicyField::TotalTimeout),
];

const TIMEOUTS: [PolicyField; 3] =
    [PolicyField::TotalTimeout, PolicyField::InitialRpcTimeout, PolicyField::MaxRpcTimeout];

/// Settings, and the places of what they say.
type Params = (RetrySettings, Vec<(PolicyField, Span)>);

/// A service and its definitions; of several with one name the last is meant.
pub(super) struct NamedService<'a> {
    values: &'a Values<'a>,
    span: Span,
    pub(super) definitions: ServiceDefinitions,
    codes: HashMap<Arc<str>, (CodeSet, Span)>,
    params: HashMap<Arc<str>, Params>,
}

/// A method with the names of its definitions.
pub(super) struct NamedMethod {
    pub(super) name: Located<Arc<str>>,
    pub(super) span: Span,
    pub(super) codes: Option<Located<Arc<str>>>,
    pub(super) params: Option<Located<Arc<str>>>,
    /// The limit on the whole call, where the file's reader puts it above the settings' own.
    pub(super) timeout: Option<Located<Duration>>,
}

impl<'a> NamedService<'a> {
    pub(super) fn new(values: &'a Values<'a>, service: Arc<str>, span: Span) -> Self {
        let definitions = ServiceDefinitions { service, codes: Vec::new(), params: Vec::new() };
        Self { values, span, definitions, codes: HashMap::new(), params: HashMap::new() }
    }

    /// Adds a list of codes.
    pub(super) fn add_codes(
        &mut self,
        name: Arc<str>,
        span: Span,
        node: Option<&Node>,
    ) -> Result<(), TableError> {
        let codes = node.map(|node| self.values.codes(node, "retry_codes")).transpose()?;
        let codes = codes.map(|codes| codes.value.iter().map(|code| code.value).collect());
        let codes = codes.unwrap_or_default();
        self.definitions.codes.push((name.clone(), codes));
        self.codes.insert(name, (codes, span));
        Ok(())
    }

    /// Adds an object with settings. A time of zero is one that is not set.
    pub(super) fn add_params(&mut self, name: Arc<str>, node: &Node) -> Result<(), TableError> {
        let fields = self.values.find_among(node, "retry params", PARAMS.map(|(name, _)| name), &["name"])?;
        let mut settings = RetrySettings::builder();
        let mut places = Vec::new();
        for ((name, field), node) in PARAMS.into_iter().zip(fields) {
            let Some(node) = node else { continue };
            places.push((field, node.span));
            let number = || self.values.number(node, name).map(|number| number.value);
            let time = || Ok(Some(self.values.millis(node, name)?.value).filter(|time| !time.is_zero()));
            settings = match field {
                PolicyField::RetryDelayMultiplier => settings.retry_delay_multiplier(number()?),
                PolicyField::RpcTimeoutMultiplier => settings.rpc_timeout_multiplier(number()?),
                PolicyField::InitialRetryDelay => settings.initial_retry_delay(time()?),
                PolicyField::MaxRetryDelay => settings.max_retry_delay(time()?),
                PolicyField::InitialRpcTimeout => settings.initial_rpc_timeout(time()?),
                PolicyField::MaxRpcTimeout => settings.max_rpc_timeout(time()?),
                _ => settings.total_timeout(time()?),
            };
        }
        let settings = self.values.built(node.span, settings.build())?;
        self.definitions.params.push((name.clone(), settings.clone()));
        self.params.insert(name, (settings, places));
        Ok(())
    }

    /// The name of one of its methods, with its places.
    pub(super) fn name_of(&self, method: &Located<Arc<str>>) -> EntryName {
        EntryName {
            service: self.definitions.service.clone(),
            method: method.value.clone(),
            origin: Some(self.values.source.origin(method.span)),
            service_origin: Some(self.values.source.origin(self.span)),
        }
    }

    /// The entry of a method, unless it names no definition, or one that is not there.
    pub(super) fn entry(&self, method: &NamedMethod) -> Result<Arc<Entry>, TableError> {
        let codes = self.present(method, method.codes.as_ref(), "retry_codes_name")?;
        let params = self.present(method, method.params.as_ref(), "retry_params_name")?;
        let of_codes = self.codes.get(&codes.value);
        let all = || self.definitions.codes.iter().map(|(name, _)| &**name);
        let (of_codes, place) = of_codes.ok_or_else(|| self.undefined(codes, all()))?;
        let of_params = self.params.get(&params.value);
        let all = || self.definitions.params.iter().map(|(name, _)| &**name);
        let (mut settings, mut places) = of_params.cloned().ok_or_else(|| self.undefined(params, all()))?;
        if let Some(timeout) = &method.timeout {
            // Each attempt may take all of it.
            let whole = Some(timeout.value).filter(|timeout| !timeout.is_zero());
            settings = settings.to_builder().timeout(whole).rpc_timeout_multiplier(1.0).build_unchecked();
            places.retain(|(field, _)| !TIMEOUTS.contains(field));
            places.extend(TIMEOUTS.map(|field| (field, timeout.span)));
        }
        places.push((PolicyField::RetryableCodes, *place));
        let origin = |span| self.values.source.origin(span);
        Ok(Arc::new(Entry {
            names: Arc::new([self.name_of(&method.name)]),
            codes: *of_codes,
            settings,
            definitions: Definitions::Named { codes: codes.value.clone(), params: params.value.clone() },
            origin: Some(origin(method.span)),
            origins: places.into_iter().map(|(field, span)| (field, origin(span))).collect(),
            ..Entry::default()
        }))
    }

    fn present<'m>(
        &self,
        method: &NamedMethod,
        name: Option<&'m Located<Arc<str>>>,
        field: &str,
    ) -> Result<&'m Located<Arc<str>>, TableError> {
        name.ok_or_else(|| {
            let problem = format!("the method {} has no {field}", method.name.value);
            self.values.source.error(method.span, problem, format!("add {field}"))
        })
    }

    fn undefined<'n>(
        &self,
        name: &Located<Arc<str>>,
        defined: impl Iterator<Item = &'n str> + Clone,
    ) -> TableError {
        let help = match closest(&name.value, defined.clone()) {
            Some(close) => format!("did you mean {close:?}?"),
            None => format!("defined are: {}", defined.collect::<Vec<_>>().join(", ")),
        };
        self.values.fault(name.span, "is not defined for the service", help)
    }
}
