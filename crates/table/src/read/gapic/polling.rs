//! `long_running`: how an operation is polled.

use crate::TableError;
use crate::dialect::one_decimal;
use crate::document::Node;
use crate::values::Values;
use gax_retry::RetrySettings;

/// Fields that are about the types of operations.
const OTHERS: [&str; 4] = ["return_type", "metadata_type", "implements_delete", "implements_cancel"];

/// The settings of a `long_running` block; one that lacks a field is treated as absent. Google's Java generator writes
/// the multipliers of schema 2 with one decimal.
pub(super) fn read_polling(
    values: &Values<'_>,
    node: &Node,
    rounds_multipliers: bool,
) -> Result<Option<RetrySettings>, TableError> {
    let names = [
        "initial_poll_delay_millis",
        "poll_delay_multiplier",
        "max_poll_delay_millis",
        "total_poll_timeout_millis",
    ];
    let [initial, multiplier, max, total] = values.find_among(node, "long_running", names, &OTHERS)?;
    let (Some(initial), Some(multiplier), Some(max), Some(total)) = (initial, multiplier, max, total) else {
        let message = "long_running lacks some of its four numbers, so it is ignored";
        let help = format!("write {}", names.join(", "));
        values.warn("incomplete-long-running", node.span, message, help);
        return Ok(None);
    };
    let not_zero = |node, name| Ok(Some(values.millis(node, name)?.value).filter(|time| !time.is_zero()));
    let multiplier = values.number(multiplier, "poll_delay_multiplier")?.value;
    let multiplier = if rounds_multipliers { one_decimal(multiplier) } else { multiplier };
    let settings = RetrySettings::builder()
        .initial_retry_delay(not_zero(initial, "initial_poll_delay_millis")?)
        .retry_delay_multiplier(multiplier)
        .max_retry_delay(not_zero(max, "max_poll_delay_millis")?)
        .total_timeout(not_zero(total, "total_poll_timeout_millis")?)
        .build();
    values.built(node.span, settings).map(Some)
}
