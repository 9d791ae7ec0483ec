//! Tables and what is said about them.

mod advice;
mod by_services;
mod by_table;
#[cfg(feature = "json")]
mod corpus;
mod entries;
#[cfg(feature = "toml")]
mod hedging;
#[cfg(all(feature = "http", feature = "toml"))]
mod http;
mod methods;
mod options;

use crate::{Finding, MethodDescription, RetryTable, ServiceDescription};
use entries::{findings, name, policy, rules, service, sound, table, timeout_only};
use gax_retry::MethodKind;
