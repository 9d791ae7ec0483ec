//! `for`: what an entry is for.

use crate::TableError;
use crate::document::{Kind, Node};
use crate::model::EntryName;
use crate::read::entry_name::read_entry_name;
use crate::values::Values;

/// A name: `pkg.Service/Method`, `pkg.Service`, `*` for everything; or `{ service = .., method = .. }`,
/// which can say any name at all.
pub(super) fn read_name(values: &Values<'_>, node: &Node) -> Result<EntryName, TableError> {
    let span = node.span;
    let text = match &node.kind {
        Kind::String(text) => &**text,
        Kind::Object(_) => return read_entry_name(values, node),
        _ => {
            let problem = format!("is {}, but a name is a string", node.a_kind());
            return Err(values.fault(span, &problem, "write \"package.Service/Method\""));
        }
    };
    let origin = Some(values.source.origin(span));
    let name = |service: &str, method: &str| EntryName { origin, ..EntryName::new(service, method) };
    match text.split_once('/') {
        None if text == "*" => Ok(name("", "")),
        None if !text.is_empty() => Ok(name(text, "")),
        Some((service, method)) if !service.is_empty() && !method.is_empty() && !method.contains('/') => {
            Ok(name(service, method))
        }
        _ => {
            let help = "write \"package.Service/Method\", \"package.Service\", or \"*\" for everything";
            Err(values.fault(span, "is not a name", help))
        }
    }
}
