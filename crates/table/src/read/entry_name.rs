//! The name of an entry as an object: `service` and `method`.

use crate::TableError;
use crate::document::Node;
use crate::model::EntryName;
use crate::values::Values;
use std::sync::Arc;

/// Reads a name. A member that is absent stands for all.
pub(super) fn read_entry_name(values: &Values<'_>, node: &Node) -> Result<EntryName, TableError> {
    let [service, method] = values.find(node, "a name", ["service", "method"])?;
    let text = |node: Option<&Node>, field| match node {
        Some(node) => values.string(node, field),
        None => Ok(Arc::default()),
    };
    let service_span = service.map_or(node.span, |node| node.span);
    let span = method.map_or(service_span, |node| node.span);
    Ok(EntryName {
        service: text(service, "service")?,
        method: text(method, "method")?,
        origin: Some(values.source.origin(span)),
        service_origin: (service_span != span).then(|| values.source.origin(service_span)),
    })
}
