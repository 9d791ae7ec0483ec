//! The messages of a stream that continues over several connections.

use gax_driver::OperationReport;
use http::HeaderMap;
use std::task::{Context, Poll};
use tonic::Status;
use tonic_gax::__private::ResponseBody;

/// Messages of an operation, whatever it is made over.
pub trait MessageSource<M>: Send {
    /// The next message, of whichever connection. After the end or an error there is none.
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<M, Status>>>;

    /// The headers of the connection that was opened last.
    fn head(&self) -> HeaderMap;

    /// The trailers, once the stream has ended well.
    fn take_trailers(&mut self) -> Option<HeaderMap>;

    /// How often the stream was restarted.
    fn restarts(&self) -> u64;

    /// The report, once the stream has ended.
    fn report(&self) -> Option<OperationReport>;

    /// Its messages are no longer read: its connection ends, and so does the stream, with an error that comes next. Returns
    /// whether it has ended; one that is between two connections has not.
    fn abandon(&mut self) -> bool {
        false
    }

    /// A response that is not read message by message, or the rest of one, once: the caller gets it as it comes, behind the
    /// messages so far.
    fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        None
    }
}
