//! A whole service config.

use super::choice::{is_list_of_choices, take_choice};
use super::read::read_service_config;
use crate::dialect::{refuse_other_json, resolve};
use crate::document::{Node, Source};
use crate::model::TableFile;
use crate::values::Values;
use crate::{Dialect, Finding, Severity, TableError};

/// Entries, throttling and findings of a service config.
pub(crate) fn read_service_config_file(values: &Values<'_>, root: &Node) -> Result<TableFile, TableError> {
    // Google's generator knows no lists.
    let root = match values.dialect {
        Dialect::AsWritten | Dialect::Grpc if is_list_of_choices(root) => take_choice(values, root)?,
        _ => root,
    };
    match read_service_config(values, root) {
        Ok(config) => {
            if values.dialect == Dialect::Grpc {
                refuse_other_json(values.source, root)?;
            }
            resolve(values, config, values.dialect)
        }
        Err(error) if values.dialect == Dialect::GaxJava => Ok(dropped_file(&error)),
        Err(error) => Err(error),
    }
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

/// If Google's Java generator and gRPC itself make nothing of a file. `no_json` is why the text is not JSON for gRPC,
/// though it is for the generator.
pub(crate) fn other_readers(
    source: &Source,
    root: &Node,
    no_json: Option<&TableError>,
) -> impl Iterator<Item = Finding> {
    let read = |dialect| read_service_config_file(&Values::new(source, dialect), root);
    let java = match read(Dialect::GaxJava) {
        Ok(file) => file.findings.into_iter().find(|finding| finding.rule() == "dropped-file"),
        Err(error) => {
            let message = format!("Google's Java generator stops, or its client fails: {}", error.message());
            Some(Finding::new("refused-by-gax-java", Severity::Warning, message).at_error(&error))
        }
    };
    let grpc = match no_json {
        Some(error) => Some(error.clone()),
        None => read(Dialect::Grpc).err(),
    };
    let grpc = grpc.map(|error| {
        let message = format!("gRPC itself rejects the whole file: {}", error.message());
        Finding::new("refused-by-grpc", Severity::Note, message).at_error(&error)
    });
    java.into_iter().chain(grpc)
}
