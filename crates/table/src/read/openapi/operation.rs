//! An operation, and what makes its requests safe to retry.

use super::read::Document;
use crate::TableError;
use crate::document::{Node, Span};
use gax_retry::http::{IdempotencyRule, OperationClass, PathPattern, Precondition};

/// A rule with its places.
pub(super) struct Operation {
    pub(super) rule: IdempotencyRule,
    pub(super) place: Span,
    pub(super) origins: Vec<(&'static str, Span)>,
    pub(super) extent: Span,
}

/// Headers that let a request succeed only once.
const CONDITIONS: [&str; 2] = ["if-match", "if-unmodified-since"];

/// The key of an order in which concrete paths come before those with variables, as in OpenAPI.
pub(super) fn specificity(path: &PathPattern) -> Vec<u8> {
    let kind = |segment: &str| match segment.find('{').or_else(|| segment.find('*')) {
        None => 0,
        Some(0) if segment.ends_with(['}', '*']) => 2,
        Some(_) => 1,
    };
    path.to_string().split('/').map(kind).collect()
}

impl<'a> Document<'a> {
    /// The class of requests by their method, and by the headers that the operation has.
    pub(super) fn class(
        &self,
        path: &Node,
        operation: &Node,
        method: &str,
    ) -> Result<OperationClass, TableError> {
        let by_method = OperationClass::of_method(method);
        let mut conditions = Vec::new();
        for node in [path, operation] {
            for parameter in self.values.elements(node.member("parameters"), "parameters")? {
                let header = self.header(parameter)?.filter(|header| is_condition(header));
                let is_new = |header: &String| {
                    conditions.iter().all(|known: &Precondition| !known.name().eq_ignore_ascii_case(header))
                };
                if let Some(header) = header.filter(is_new) {
                    conditions.push(Precondition::header(header));
                }
            }
        }
        let is_safe_anyway = by_method != OperationClass::Never || conditions.is_empty();
        Ok(if is_safe_anyway { by_method } else { OperationClass::conditional(conditions) })
    }

    /// The name of a parameter that is a header.
    fn header(&self, parameter: &Node) -> Result<Option<String>, TableError> {
        let parameter = match parameter.member("$ref") {
            Some(reference) => match self.resolved(reference) {
                Some(parameter) => parameter,
                None => return Ok(None),
            },
            None => parameter,
        };
        self.values.members(Some(parameter), "a parameter")?;
        let text = |key: &str| parameter.member(key).and_then(Node::text);
        Ok(text("name").filter(|_| text("in") == Some("header")).map(str::to_owned))
    }

    /// The value that a reference within the document leads to.
    fn resolved(&self, reference: &Node) -> Option<&'a Node> {
        let target = reference.text().and_then(|text| text.strip_prefix("#/"));
        let unescaped = |part: &str| part.replace("~1", "/").replace("~0", "~");
        let root = self.root;
        let found = target
            .and_then(|target| target.split('/').try_fold(root, |node, part| node.member(&unescaped(part))));
        if found.is_none() {
            let message = "the reference leads out of the document or nowhere: its parameter is not read";
            let help = "put the parameter into this document; tools such as redocly bundle do that";
            self.values.warn("skipped-entry", reference.span, message, help);
        }
        found
    }
}

/// Returns whether a header is a key by which a server carries out a request once, or a condition that is true once.
fn is_condition(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    header.contains("idempotency") || CONDITIONS.contains(&header.as_str())
}
