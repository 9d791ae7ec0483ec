//! `batching`: how requests are batched.

use super::context::Context;
use crate::TableError;
use crate::diagnostics::Findings;
use crate::document::{Kind, Node};
use crate::model::BatchDescriptor;
use gax_retry::{BatchingSettings, LimitExceeded};
use std::sync::Arc;

/// The settings and the descriptor of a `batching` block; one without thresholds is treated as absent.
pub(super) fn read_batching(
    context: &Context<'_>,
    node: &Node,
    findings: &mut Findings,
) -> Result<Option<(BatchingSettings, Option<BatchDescriptor>)>, TableError> {
    let [thresholds, descriptor] =
        context.scalars.find(node, "batching", ["thresholds", "batch_descriptor"], findings)?;
    let Some(thresholds) = thresholds else { return Ok(None) };
    let descriptor = descriptor.ok_or_else(|| missing(context, node, "batch_descriptor"))?;
    let names = [
        "element_count_threshold",
        "request_byte_threshold",
        "delay_threshold_millis",
        "flow_control_element_limit",
        "flow_control_byte_limit",
        "flow_control_limit_exceeded_behavior",
    ];
    let [elements, bytes, delay, element_limit, byte_limit, behavior] = context.scalars.find_among(
        thresholds,
        "batching thresholds",
        names,
        &["element_count_limit", "request_byte_limit"],
        findings,
    )?;
    let needed = |node: Option<_>, name| node.ok_or_else(|| missing(context, thresholds, name));
    let elements = needed(elements, "element_count_threshold")?;
    let bytes = needed(bytes, "request_byte_threshold")?;
    let delay = needed(delay, "delay_threshold_millis")?;
    let whole = |node, name| context.scalars.whole(node, name).map(|number| number.value);
    let mut settings = BatchingSettings::builder()
        .element_count_threshold(whole(elements, "element_count_threshold")?)
        .request_byte_threshold(whole(bytes, "request_byte_threshold")?)
        .delay_threshold(context.scalars.millis(delay, "delay_threshold_millis")?.value)
        .limit_exceeded(behavior.map_or(LimitExceeded::Ignore, limit_exceeded));
    if let Some(limit) = element_limit {
        settings = settings.max_outstanding_elements(whole(limit, "flow_control_element_limit")?);
    }
    if let Some(limit) = byte_limit {
        settings = settings.max_outstanding_bytes(whole(limit, "flow_control_byte_limit")?);
    }
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

fn missing(context: &Context<'_>, node: &Node, name: &str) -> TableError {
    let problem = format!("batching has no {name}, which stops Google's generators");
    context.source.error(node.span, problem, format!("add {name}"))
}
