//! `allow`: findings that are known and left out, with a reason.

use super::read::Reader;
use crate::document::{Kind, Node, Span};
use crate::{Suppression, TableError};

impl Reader<'_> {
    /// A list of suppressions for a part of the file, or (without an extent) for all of it.
    pub(super) fn suppressions(
        &mut self,
        node: Option<&Node>,
        extent: Option<Span>,
    ) -> Result<Vec<Suppression>, TableError> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let elements = self.scalars.array(node, "allow")?;
        elements.iter().map(|element| self.suppression(element, extent)).collect()
    }

    fn suppression(&mut self, node: &Node, extent: Option<Span>) -> Result<Suppression, TableError> {
        let [rule, reason] = self.find(node, "allow", ["rule", "reason"])?;
        let text = |node: Option<&Node>| match node.map(|node| &node.kind) {
            Some(Kind::String(text)) if !text.trim().is_empty() => Some(text.clone()),
            _ => None,
        };
        match (text(rule), text(reason)) {
            (Some(rule), Some(reason)) => Ok(Suppression {
                rule: rule.to_string(),
                reason: reason.to_string(),
                origin: self.source.origin(node.span),
                extent: extent.map(|extent| extent.start..extent.end),
            }),
            (None, _) => Err(self.source.fault(node.span, "allows no rule", "write rule = \"its-name\"")),
            (_, None) => {
                let help = "write reason = \"why it may be so\"";
                Err(self.source.fault(node.span, "has no reason", help))
            }
        }
    }
}
