//! The report of a stream that a layer resumes.

use gax_driver::OperationReport;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The report of a stream that a [`RetryLayer`](tonic_gax::RetryLayer) resumes, in the extensions of its response: it is available when
/// the stream has ended, with or without an error.
///
/// The streams of generated clients have a method `report()`.
///
/// # Examples
///
/// ```
/// use gax_streams::StreamReport;
///
/// # fn handle<T>(response: tonic::Response<T>) {
/// let report = StreamReport::of(&response).cloned();
/// // Once all messages have been read:
/// if let Some(report) = report.and_then(|report| report.get()) {
///     println!("{report}");
/// }
/// # }
/// # handle(tonic::Response::new(()));
/// ```
#[derive(Clone, Default)]
pub struct StreamReport(Arc<OnceLock<OperationReport>>);

impl StreamReport {
    /// That of a response. `None`: no layer resumes its stream.
    #[must_use]
    pub fn of<T>(response: &tonic::Response<T>) -> Option<&Self> {
        response.extensions().get()
    }

    /// The report, with a row for each connection; `None`: the stream has not ended.
    #[must_use]
    pub fn get(&self) -> Option<OperationReport> {
        self.0.get().cloned()
    }

    /// The stream has ended so.
    pub fn set(&self, report: Option<OperationReport>) {
        if let Some(report) = report {
            self.0.get_or_init(|| report);
        }
    }
}

impl fmt::Debug for StreamReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamReport").field(&self.0.get()).finish()
    }
}
