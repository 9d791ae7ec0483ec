//! A whole service config.

use super::choice::{is_list_of_choices, take_choice};
use super::read::read_service_config;
use crate::diagnostics::Findings;
use crate::dialect::{Form, resolve};
use crate::document::{Node, Source};
use crate::model::TableFile;
use crate::{Dialect, Finding, Severity, TableError};

/// Entries, throttling and findings of a service config.
pub(crate) fn read_service_config_file(
    source: &Source,
    root: &Node,
    dialect: Dialect,
    mut findings: Findings,
) -> Result<TableFile, TableError> {
    // Google's generator knows no lists.
    let root = match dialect {
        Dialect::AsWritten | Dialect::Grpc if is_list_of_choices(root) => {
            take_choice(source, root, dialect, &mut findings)?
        }
        _ => root,
    };
    let config = match read_service_config(source, root, dialect, &mut findings) {
        Ok(config) => config,
        Err(error) if dialect == Dialect::GaxJava => return Ok(dropped_file(&error)),
        Err(error) => return Err(error),
    };
    resolve(source, Form::service_config(root), config, dialect, findings)
}

/// Google's generator makes nothing of a file that it can't read. It does not even say so.
pub(crate) fn dropped_file(error: &TableError) -> TableFile {
    let message = format!(
        "Google's Java generator drops this file without a message, so that no method has a retry or a deadline: {}",
        error.message()
    );
    let finding = Finding::new("dropped-file", Severity::Warning, message).at_error(error);
    TableFile { findings: vec![finding], ..TableFile::default() }
}
