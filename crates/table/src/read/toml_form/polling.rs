//! `polling` and `batching` of an entry.

use crate::TableError;
use crate::document::Node;
use crate::read::thresholds::read_thresholds;
use crate::values::Values;
use gax_retry::{BatchingSettings, LimitExceeded, RetrySettings};

impl Values<'_> {
    /// How a long-running operation is polled.
    pub(super) fn polling(&self, node: &Node) -> Result<RetrySettings, TableError> {
        let names = ["initial_delay", "delay_multiplier", "max_delay", "total_timeout"];
        let [initial, multiplier, max, total] = self.find(node, "polling", names)?;
        let delay = |node: Option<&Node>| node.map(|node| self.short_time(node)).transpose();
        let multiplier = multiplier.map(|node| self.number(node, "delay_multiplier")).transpose()?;
        let total = total.map(|node| self.timeout(node)).transpose()?;
        let settings = RetrySettings::builder()
            .initial_retry_delay(delay(initial)?)
            .retry_delay_multiplier(multiplier.map(|multiplier| multiplier.value))
            .max_retry_delay(delay(max)?)
            .total_timeout(total.map(|total| self.to_duration(total)).transpose()?)
            .build();
        self.built(node.span, settings)
    }

    /// How requests are batched.
    pub(super) fn batching(&self, node: &Node) -> Result<BatchingSettings, TableError> {
        let names = [
            "element_count_threshold",
            "request_byte_threshold",
            "delay_threshold",
            "max_outstanding_elements",
            "max_outstanding_bytes",
            "limit_exceeded",
        ];
        let [elements, bytes, delay, max_elements, max_bytes, behavior] =
            self.find(node, "batching", names)?;
        let missing = |name: &str| self.fault(node.span, &format!("has no {name}"), format!("add {name}"));
        let delay = delay.ok_or_else(|| missing("delay_threshold"))?;
        let behavior = behavior.map_or(Ok(LimitExceeded::Ignore), |node| self.limit_exceeded(node))?;
        let limits = [("max_outstanding_elements", max_elements), ("max_outstanding_bytes", max_bytes)];
        let settings = read_thresholds(self, [elements, bytes], limits, missing)?;
        Ok(settings.delay_threshold(self.short_time(delay)?).limit_exceeded(behavior).build())
    }

    fn limit_exceeded(&self, node: &Node) -> Result<LimitExceeded, TableError> {
        match node.text() {
            Some("ignore") => Ok(LimitExceeded::Ignore),
            Some("block") => Ok(LimitExceeded::Block),
            Some("throw-exception") => Ok(LimitExceeded::ThrowException),
            _ => {
                let help = "write \"ignore\", \"block\" or \"throw-exception\"";
                Err(self.fault(node.span, "is not a value for limit_exceeded", help))
            }
        }
    }
}
