//! One file's part of a table.

use super::batch_descriptor::BatchDescriptor;
use super::policy::{Entry, EntryName};
use super::suppression::Suppression;
use crate::{Finding, SourceLocation, TableError, TableFormat};
use gax_retry::RetryThrottling;
use gax_retry::{BatchingSettings, CodeSet, RetrySettings};
use std::collections::HashMap;
use std::sync::Arc;

/// The part of a table that is from one file, or one builder.
#[derive(Debug, Default)]
pub(crate) struct TableFile {
    /// `None`: a builder.
    pub(crate) format: Option<TableFormat>,
    /// Where its text begins.
    #[cfg(feature = "lint")]
    pub(crate) start: Option<SourceLocation>,
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) throttling: Option<RetryThrottling>,
    pub(crate) throttling_origin: Option<SourceLocation>,
    pub(crate) services: Vec<Arc<ServiceDefinitions>>,
    pub(crate) suppressions: Vec<Suppression>,
    /// The file as it was written, for writing it in another form.
    #[cfg(feature = "convert")]
    pub(crate) config: Option<super::written::ServiceConfig>,
    pub(crate) extras: HashMap<Arc<str>, HashMap<Arc<str>, MethodExtras>>,
    /// The names of the entries that say nothing about retries.
    pub(crate) beside: Vec<Arc<[EntryName]>>,
    pub(crate) unusable: Vec<UnusableEntry>,
    #[cfg(feature = "http")]
    pub(crate) http: Option<super::http_table::HttpTable>,
    pub(crate) findings: Vec<Finding>,
}

#[cfg(feature = "lint")]
impl TableFile {
    /// Returns whether it says nothing about any method or request.
    pub(crate) fn is_empty(&self) -> bool {
        #[cfg(feature = "http")]
        if self.http.is_some() {
            return false;
        }
        self.entries.is_empty() && self.beside.is_empty() && self.unusable.is_empty()
    }
}

/// The definitions that a file names for a service, used or not.
#[derive(Debug)]
pub(crate) struct ServiceDefinitions {
    pub(crate) service: Arc<str>,
    pub(crate) codes: Vec<(Arc<str>, CodeSet)>,
    pub(crate) params: Vec<(Arc<str>, RetrySettings)>,
}

/// The settings of a method next to its retries. In boxes: a file may say little of thousands of methods.
#[derive(Debug, Default)]
pub(crate) struct MethodExtras {
    pub(crate) polling: Option<Box<RetrySettings>>,
    pub(crate) batching: Option<Box<BatchingSettings>>,
    pub(crate) batch_descriptor: Option<Box<BatchDescriptor>>,
    /// The fields of an entry that are not about retries; others have it themselves.
    pub(crate) idempotent: Option<bool>,
}

/// An entry of a method whose names lead nowhere.
#[derive(Debug)]
pub(crate) struct UnusableEntry {
    pub(crate) service: Arc<str>,
    pub(crate) method: Arc<str>,
    /// Whether the file keeps the method out of clients.
    pub(crate) is_disabled: bool,
    pub(crate) error: TableError,
}
