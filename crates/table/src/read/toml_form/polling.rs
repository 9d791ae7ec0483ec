//! `polling` and `batching` of an entry.

use super::read::Reader;
use crate::TableError;
use crate::document::{Kind, Node};
use gax_retry::{BatchingSettings, LimitExceeded, RetrySettings};

impl Reader<'_> {
    /// How a long-running operation is polled.
    pub(super) fn polling(&mut self, node: &Node) -> Result<RetrySettings, TableError> {
        let names = ["initial_delay", "delay_multiplier", "max_delay", "total_timeout"];
        let [initial, multiplier, max, total] = self.find(node, "polling", names)?;
        let delay = |node: Option<&Node>| node.map(|node| self.duration(node)).transpose();
        let multiplier = multiplier.map(|node| self.scalars.number(node, "delay_multiplier")).transpose()?;
        let total = total.map(|node| self.timeout(node)).transpose()?;
        let settings = RetrySettings::builder()
            .initial_retry_delay(delay(initial)?)
            .retry_delay_multiplier(multiplier.map(|multiplier| multiplier.value))
            .max_retry_delay(delay(max)?)
            .total_timeout(total.map(|total| self.to_duration(total)).transpose()?)
            .build();
        settings.map_err(|error| {
            self.source.fault(node.span, &format!("has no meaning: {error}"), "correct these values")
        })
    }

    /// How requests are batched.
    pub(super) fn batching(&mut self, node: &Node) -> Result<BatchingSettings, TableError> {
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
        let whole = |node: Option<&Node>, name| {
            node.map(|node| self.scalars.whole(node, name).map(|number| number.value)).transpose()
        };
        let needed = |value: Option<u64>, name: &str| {
            value
                .ok_or_else(|| self.source.fault(node.span, &format!("has no {name}"), format!("add {name}")))
        };
        let delay = delay
            .ok_or_else(|| self.source.fault(node.span, "has no delay_threshold", "add delay_threshold"))?;
        let behavior = behavior.map_or(Ok(LimitExceeded::Ignore), |node| self.limit_exceeded(node))?;
        let mut settings = BatchingSettings::builder()
            .element_count_threshold(needed(
                whole(elements, "element_count_threshold")?,
                "element_count_threshold",
            )?)
            .request_byte_threshold(needed(
                whole(bytes, "request_byte_threshold")?,
                "request_byte_threshold",
            )?)
            .delay_threshold(self.duration(delay)?)
            .limit_exceeded(behavior);
        if let Some(limit) = whole(max_elements, "max_outstanding_elements")? {
            settings = settings.max_outstanding_elements(limit);
        }
        if let Some(limit) = whole(max_bytes, "max_outstanding_bytes")? {
            settings = settings.max_outstanding_bytes(limit);
        }
        Ok(settings.build())
    }

    fn limit_exceeded(&self, node: &Node) -> Result<LimitExceeded, TableError> {
        match &node.kind {
            Kind::String(text) if **text == *"ignore" => Ok(LimitExceeded::Ignore),
            Kind::String(text) if **text == *"block" => Ok(LimitExceeded::Block),
            Kind::String(text) if **text == *"throw-exception" => Ok(LimitExceeded::ThrowException),
            _ => Err(self.source.fault(
                node.span,
                "is not a value for limit_exceeded",
                "write \"ignore\", \"block\" or \"throw-exception\"",
            )),
        }
    }
}
