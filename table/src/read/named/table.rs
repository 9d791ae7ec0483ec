//! What such a file holds.

use crate::PolicyField;
use crate::document::{Located, Span};
use gax_retry::{CodeSet, RetrySettings};
use std::sync::Arc;
use std::time::Duration;

/// The definitions and methods of one service.
#[derive(Debug)]
pub(crate) struct NamedService {
    pub(crate) name: Arc<str>,
    pub(crate) codes: Vec<NamedCodes>,
    pub(crate) params: Vec<NamedParams>,
    pub(crate) methods: Vec<NamedMethod>,
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
    /// Whether the file keeps the method out of clients.
    pub(crate) is_disabled: bool,
    /// The limit on the whole call, where the file's reader puts it above the settings' own.
    pub(crate) timeout: Option<Located<Duration>>,
}
