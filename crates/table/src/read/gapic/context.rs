//! The context in which a block of GAPIC YAML is read.

use crate::TableError;
use crate::dialect::one_decimal;
use crate::document::{Node, Source};
use crate::values::Scalars;
use std::sync::Arc;

/// The text, and how its values are read.
pub(super) struct Context<'a> {
    pub(super) source: &'a Source,
    pub(super) scalars: Scalars<'a>,
    pub(super) rounds_multipliers: bool,
}

impl Context<'_> {
    /// A polling multiplier: Google's Java generator writes those of schema 2 with one decimal.
    pub(super) fn multiplier(&self, value: f64) -> f64 {
        if self.rounds_multipliers { one_decimal(value) } else { value }
    }
}

/// The name that a block can't do without.
pub(super) fn needed_name(
    context: &Context<'_>,
    node: &Node,
    name: Option<&Node>,
    what: &str,
) -> Result<Arc<str>, TableError> {
    match name {
        Some(name) => context.scalars.string(name, "name"),
        None => Err(context.source.error(node.span, format!("{what} has no name"), "add name")),
    }
}
