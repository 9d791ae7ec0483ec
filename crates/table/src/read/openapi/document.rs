//! A document on its way to rules.

use crate::TableError;
use crate::diagnostics::Findings;
use crate::document::{Kind, Member, Node, Source, Span, last_of_each};

/// A document, and the findings about it so far.
pub(super) struct Document<'a> {
    pub(super) source: &'a Source,
    pub(super) root: &'a Node,
    pub(super) findings: Findings,
}

impl Document<'_> {
    /// The error of a document without that member.
    pub(super) fn no(&self, member: &str, help: &str) -> TableError {
        let start = Span { start: self.root.span.start, end: self.root.span.start };
        let error = TableError::new(format!("the document has no {member}")).with_help(help);
        error.at(self.source.origin(start), String::new())
    }

    pub(super) fn warn(
        &mut self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: &'static str,
    ) {
        self.findings.push(self.source.warning(rule, span, message, help));
    }

    pub(super) fn note(
        &mut self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: &'static str,
    ) {
        self.findings.push(self.source.note(rule, span, message, help));
    }

    /// The members of an object; of those with one key the last.
    pub(super) fn members<'n>(&self, node: &'n Node, what: &str) -> Result<Vec<&'n Member>, TableError> {
        let Kind::Object(members) = &node.kind else {
            let problem = format!("is {}, but {what} is an object", node.a_kind());
            return Err(self.source.fault(node.span, &problem, "write an object"));
        };
        Ok(last_of_each(members))
    }

    pub(super) fn items<'n>(&self, node: Option<&'n Node>, what: &str) -> Result<&'n [Node], TableError> {
        match node.map(|node| (node, &node.kind)) {
            None => Ok(&[]),
            Some((_, Kind::Array(items))) => Ok(items),
            Some((node, _)) => {
                let problem = format!("is {}, but {what} is an array", node.a_kind());
                Err(self.source.fault(node.span, &problem, "write an array"))
            }
        }
    }
}
