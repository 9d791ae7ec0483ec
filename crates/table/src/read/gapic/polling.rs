//! `long_running`: how an operation is polled.

use super::context::Context;
use crate::TableError;
use crate::diagnostics::Findings;
use crate::document::Node;
use gax_retry::RetrySettings;

/// Fields that are about the types of operations.
const OTHERS: [&str; 4] = ["return_type", "metadata_type", "implements_delete", "implements_cancel"];

/// The settings of a `long_running` block; one that lacks a field is treated as absent.
pub(super) fn read_polling(
    context: &Context<'_>,
    node: &Node,
    findings: &mut Findings,
) -> Result<Option<RetrySettings>, TableError> {
    let names = [
        "initial_poll_delay_millis",
        "poll_delay_multiplier",
        "max_poll_delay_millis",
        "total_poll_timeout_millis",
    ];
    let [initial, multiplier, max, total] =
        context.scalars.find_among(node, "long_running", names, &OTHERS, findings)?;
    let (Some(initial), Some(multiplier), Some(max), Some(total)) = (initial, multiplier, max, total) else {
        let message = "long_running lacks some of its four numbers, so it is ignored";
        let help = format!("write {}", names.join(", "));
        findings.push(context.source.warning("incomplete-long-running", node.span, message, help));
        return Ok(None);
    };
    let millis = |node, name| context.scalars.millis(node, name).map(|time| time.value);
    let not_zero = |node, name| Ok(Some(millis(node, name)?).filter(|time| !time.is_zero()));
    let multiplier = context.multiplier(context.scalars.number(multiplier, "poll_delay_multiplier")?.value);
    let settings = RetrySettings::builder()
        .initial_retry_delay(not_zero(initial, "initial_poll_delay_millis")?)
        .retry_delay_multiplier(multiplier)
        .max_retry_delay(not_zero(max, "max_poll_delay_millis")?)
        .total_timeout(not_zero(total, "total_poll_timeout_millis")?)
        .build();
    let settings = settings.map_err(|error| {
        context.source.fault(node.span, &format!("has no meaning: {error}"), "correct these values")
    })?;
    Ok(Some(settings))
}
