//! Shared by the elements of a batch.

use gax_driver::OperationReport;

/// Shared by the elements of a batch.
#[derive(Debug)]
pub(crate) struct BatchDetail {
    pub(crate) elements: usize,
    pub(crate) report: Option<OperationReport>,
}

impl BatchDetail {
    pub(crate) fn report(&self) -> Option<&OperationReport> {
        self.report.as_ref()
    }
}
