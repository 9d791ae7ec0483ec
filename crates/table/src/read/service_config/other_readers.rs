//! Whether other readers of a service config take it.

use super::file::read_service_config_file;
use crate::diagnostics::Findings;
use crate::document::{Node, Source};
use crate::{Dialect, Finding, Severity, TableError};

/// If Google's Java generator and gRPC itself make nothing of a file. `no_json` is why the text is not JSON for gRPC,
/// though it is for the generator.
pub(crate) fn other_readers(
    source: &Source,
    root: &Node,
    no_json: Option<&TableError>,
) -> impl Iterator<Item = Finding> {
    let java = match read_service_config_file(source, root, Dialect::GaxJava, Findings::default()) {
        Ok(file) => file.findings.into_iter().find(|finding| finding.rule() == "dropped-file"),
        Err(error) => {
            let message = format!("Google's Java generator stops, or its client fails: {}", error.message());
            Some(Finding::new("refused-by-gax-java", Severity::Warning, message).at_error(&error))
        }
    };
    let grpc = match no_json {
        Some(error) => Some(error.clone()),
        None => read_service_config_file(source, root, Dialect::Grpc, Findings::default()).err(),
    };
    let grpc = grpc.map(|error| {
        let message = format!("gRPC itself rejects the whole file: {}", error.message());
        Finding::new("refused-by-grpc", Severity::Note, message).at_error(&error)
    });
    java.into_iter().chain(grpc)
}
