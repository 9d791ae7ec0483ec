//! `batching`: how requests are batched.

use crate::TableError;
use crate::document::{Kind, Node};
use crate::model::BatchDescriptor;
use crate::read::thresholds::read_thresholds;
use crate::values::Values;
use gax_retry::{BatchingSettings, LimitExceeded};
use std::sync::Arc;

/// The settings and the descriptor of a `batching` block; one without thresholds is treated as absent.
pub(super) fn read_batching(
    values: &Values<'_>,
    node: &Node,
) -> Result<Option<(BatchingSettings, Option<BatchDescriptor>)>, TableError> {
    let [thresholds, descriptor] = values.find(node, "batching", ["thresholds", "batch_descriptor"])?;
    let Some(thresholds) = thresholds else { return Ok(None) };
    let descriptor = descriptor.ok_or_else(|| missing(values, node, "batch_descriptor"))?;
    let names = [
        "element_count_threshold",
        "request_byte_threshold",
        "delay_threshold_millis",
        "flow_control_element_limit",
        "flow_control_byte_limit",
        "flow_control_limit_exceeded_behavior",
    ];
    let [elements, bytes, delay, element_limit, byte_limit, behavior] = values.find_among(
        thresholds,
        "batching thresholds",
        names,
        &["element_count_limit", "request_byte_limit"],
    )?;
    let missing = |name: &str| missing(values, thresholds, name);
    let delay = delay.ok_or_else(|| missing("delay_threshold_millis"))?;
    let delay = values.millis(delay, "delay_threshold_millis")?.value;
    let limits = [("flow_control_element_limit", element_limit), ("flow_control_byte_limit", byte_limit)];
    let settings = read_thresholds(values, [elements, bytes], limits, missing)?
        .delay_threshold(delay)
        .limit_exceeded(behavior.map_or(LimitExceeded::Ignore, limit_exceeded));
    Ok(Some((settings.build(), batch_descriptor(descriptor))))
}

/// Which fields are batched; `None`: it does not say so.
fn batch_descriptor(node: &Node) -> Option<BatchDescriptor> {
    let text = |node: &Node| node.text().map(Arc::from);
    let discriminators = node.member("discriminator_fields").map_or(&[][..], Node::items);
    Some(BatchDescriptor {
        batched_field: node.member("batched_field").and_then(text)?,
        discriminator_fields: discriminators.iter().filter_map(text).collect(),
        subresponse_field: node.member("subresponse_field").and_then(text),
    })
}

fn limit_exceeded(node: &Node) -> LimitExceeded {
    match &node.kind {
        Kind::String(text) if **text == *"THROW_EXCEPTION" => LimitExceeded::ThrowException,
        Kind::String(text) if **text == *"BLOCK" => LimitExceeded::Block,
        _ => LimitExceeded::Ignore,
    }
}

fn missing(values: &Values<'_>, node: &Node, name: &str) -> TableError {
    let problem = format!("batching has no {name}, which stops Google's generators");
    values.source.error(node.span, problem, format!("add {name}"))
}
