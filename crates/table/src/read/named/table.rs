//! The content of such a file.

use crate::PolicyField;
use crate::document::{Located, Source, Span};
use crate::model::EntryName;
use gax_retry::{CodeSet, RetrySettings};
use std::sync::Arc;
use std::time::Duration;

/// The definitions and methods of one service.
#[derive(Debug)]
pub(crate) struct NamedService {
    pub(crate) name: Arc<str>,
    pub(crate) name_span: Span,
    pub(crate) codes: Vec<NamedCodes>,
    pub(crate) params: Vec<NamedParams>,
    pub(crate) methods: Vec<NamedMethod>,
}

impl NamedService {
    /// The name of one of its methods, with its places.
    pub(crate) fn name_of(&self, source: &Source, method: &NamedMethod) -> EntryName {
        EntryName {
            service: self.name.clone(),
            method: method.name.clone(),
            origin: Some(source.origin(method.name_span)),
            service_origin: Some(source.origin(self.name_span)),
        }
    }
}

/// A set of codes under a name.
#[derive(Debug)]
pub(crate) struct NamedCodes {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) codes: CodeSet,
}

/// Settings under a name, with the places of their values.
#[derive(Debug)]
pub(crate) struct NamedParams {
    pub(crate) name: Arc<str>,
    pub(crate) settings: RetrySettings,
    pub(crate) values: Vec<(PolicyField, Span)>,
}

/// A method with the names of its definitions.
#[derive(Debug)]
pub(crate) struct NamedMethod {
    pub(crate) name: Arc<str>,
    pub(crate) name_span: Span,
    pub(crate) span: Span,
    pub(crate) codes_name: Option<Located<Arc<str>>>,
    pub(crate) params_name: Option<Located<Arc<str>>>,
    /// `true` if the file keeps the method out of clients.
    pub(crate) is_disabled: bool,
    /// The limit on the whole call, where the file's reader puts it above the settings' own.
    pub(crate) timeout: Option<Located<Duration>>,
}
