//! A stream of responses that is observed until its end.

use crate::grpc::methods::MethodConfig;
use gax_driver::__private::{Clock, MessageCounter, Observed, broken_off};
use gax_driver::OperationReport;
use gax_retry::Code;
use gax_retry::operation::AttemptResult;
use gax_wire::__private::FrameBuffer;
use std::fmt;
use std::sync::Arc;

/// Notifies observers of a response that was handed to the caller before its end. Dropped before that end, its operation was
/// cancelled.
pub struct ObservedStream {
    /// `None` once they were notified of the end, or if there are none.
    pub observed: Option<Box<Observed>>,
    /// The report so far, for the error that it may end with, and the operation's clock; `None`: no caller wants it.
    pub report: Option<(OperationReport, Clock)>,
    /// `None`: the response is one message, which is not a stream.
    pub messages: Option<MessageCounter>,
    pub config: Arc<MethodConfig>,
    /// Its deadline is the operation's.
    pub has_all_the_time: bool,
}

impl ObservedStream {
    /// The caller is about to get these bytes.
    pub fn data(&mut self, data: &[u8]) {
        if let (Some(observed), Some(messages)) = (&self.observed, &mut self.messages) {
            messages.count(data, |_| observed.response_received());
        }
    }

    /// These bytes have arrived, and the caller is about to get them.
    pub fn arrived(&mut self, data: &[u8]) {
        if let Some(observed) = &mut self.observed {
            observed.stream_received(data);
        }
        self.data(data);
    }

    /// The stream has ended with that code, which our own clock did if it `timed_out`. The report of a failure, if it is requested.
    pub fn ended(&mut self, code: Code, timed_out: bool) -> Option<OperationReport> {
        let reason = self.config.policy.reason_after_commit(code, timed_out && self.has_all_the_time);
        if let Some(observed) = self.observed.take() {
            observed.stream_ended(code, reason);
        }
        let (report, clock) = self.report.take().filter(|_| code != Code::Ok)?;
        let may_be_repetition = self.config.policy.may_be_repetition(AttemptResult::failed(code));
        Some(broken_off(report, code, clock.elapsed(), reason, may_be_repetition))
    }

    /// A response of which everything is there.
    pub fn whole(mut self, frames: &FrameBuffer) {
        frames.pieces().for_each(|piece| self.data(piece));
        if let Some(observed) = self.observed.take() {
            observed.succeeded();
        }
    }
}

impl fmt::Debug for ObservedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedStream").finish_non_exhaustive()
    }
}
