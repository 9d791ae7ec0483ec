//! `allow`: findings that are known and left out, with a reason.

use crate::document::{Node, Span};
use crate::values::Values;
use crate::{Suppression, TableError};

impl Values<'_> {
    /// A list of suppressions for a part of the file, or (without an extent) for all of it.
    pub(super) fn suppressions(
        &self,
        node: Option<&Node>,
        extent: Option<Span>,
    ) -> Result<Vec<Suppression>, TableError> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let elements = self.array(node, "allow")?;
        elements.iter().map(|element| self.suppression(element, extent)).collect()
    }

    fn suppression(&self, node: &Node, extent: Option<Span>) -> Result<Suppression, TableError> {
        let [rule, reason] = self.find(node, "allow", ["rule", "reason"])?;
        let text =
            |node: Option<&Node>| Some(node?.text()?.to_owned()).filter(|text| !text.trim().is_empty());
        match (text(rule), text(reason)) {
            (Some(rule), Some(reason)) => Ok(Suppression {
                rule,
                reason,
                origin: self.source.origin(node.span),
                extent: extent.map(|extent| extent.start..extent.end),
            }),
            (None, _) => Err(self.fault(node.span, "allows no rule", "write rule = \"its-name\"")),
            (_, None) => {
                let help = "write reason = \"why it may be so\"";
                Err(self.fault(node.span, "has no reason", help))
            }
        }
    }
}
