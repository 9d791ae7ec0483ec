#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "clients")]
pub mod clients;
#[cfg(feature = "convert")]
mod convert;
#[cfg(feature = "descriptors")]
pub mod descriptors;
mod diagnostics;
#[cfg(feature = "json")]
mod dialect;
#[cfg(feature = "json")]
mod document;
#[cfg(feature = "json")]
pub mod input;
#[cfg(feature = "lint")]
pub mod lint;
#[cfg(feature = "live")]
pub mod live;
mod model;
mod policies;
#[cfg(feature = "json")]
mod read;
#[cfg(feature = "descriptors")]
mod routing;
mod services;
#[cfg(feature = "stub")]
mod stub;
#[cfg(test)]
#[cfg(feature = "json")]
mod tests;
#[cfg(feature = "json")]
mod values;

#[cfg(feature = "convert")]
pub use convert::{Conversion, ConversionTarget, ParseConversionTargetError};
pub use diagnostics::{Finding, Severity, SourceLocation, TableError};
pub use model::{
    BatchDescriptor, Dialect, HedgingPolicy, MethodPolicy, ParseDialectError, ParseTableFormatError,
    PolicyField, RetryTable, RetryTableBuilder, RetryThrottling, SettingsKey, Suppression, TableFormat,
    TableName,
};
#[cfg(feature = "http")]
pub use model::{HttpPolicy, HttpRule, HttpTable};
#[cfg(feature = "json")]
pub use read::TableReader;
#[cfg(any(feature = "stub", feature = "yaml"))]
pub use read::{AutoPopulatedField, MissingMixin, ServiceYaml, YamlHttpRule};
#[cfg(feature = "descriptors")]
pub use routing::{
    HttpBinding, MessageFields, PathGrammar, PathTemplate, PathVariable, ProtoField, RequestParam,
    RoutingError, http_params, routing_params,
};
pub use services::{IdempotencyLevel, MethodDescription, ServiceDescription, UnknownMethodsError};
#[cfg(feature = "stub")]
pub use stub::{RowKind, StubRow, StubTable, getter_name};
