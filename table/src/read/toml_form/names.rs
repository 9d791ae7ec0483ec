//! `for`: what an entry is for.

use crate::TableError;
use crate::diagnostics::Findings;
use crate::document::{Kind, Node, Source};
use crate::model::written::Name;
use crate::values::{FieldFinder, Scalars};

/// A name: `pkg.Service/Method`, `pkg.Service`, `*` for everything; or `{ service = .., method = .. }`,
/// which can say any name at all.
pub(super) fn read_name(
    source: &Source,
    scalars: &Scalars<'_>,
    finder: &FieldFinder<'_>,
    node: &Node,
    findings: &mut Findings,
) -> Result<Name, TableError> {
    let span = node.span;
    let text = match &node.kind {
        Kind::String(text) => text.as_str(),
        Kind::Object(_) => {
            let [service, method] = finder.find(node, "a name", ["service", "method"], findings)?;
            let text = |node: Option<&Node>, field| match node {
                Some(node) => scalars.string(node, field),
                None => Ok(String::new()),
            };
            return Ok(Name { span, service: text(service, "service")?, method: text(method, "method")? });
        }
        _ => {
            let problem = format!("is {}, but a name is a string", node.a_kind());
            return Err(source.fault(span, &problem, "write \"package.Service/Method\""));
        }
    };
    match text.split_once('/') {
        None if text == "*" => Ok(Name { span, service: String::new(), method: String::new() }),
        None if !text.is_empty() => Ok(Name { span, service: text.to_owned(), method: String::new() }),
        Some((service, method)) if !service.is_empty() && !method.is_empty() && !method.contains('/') => {
            Ok(Name { span, service: service.to_owned(), method: method.to_owned() })
        }
        _ => {
            let help = "write \"package.Service/Method\", \"package.Service\", or \"*\" for everything";
            Err(source.fault(span, "is no name", help))
        }
    }
}
