//! The strategy of one call.

use tonic::Status;

/// Decides which messages of a stream are delivered, and how the stream resumes after a failure: gax-java's
/// `StreamResumptionStrategy`. Implement it if [positions](crate::resumption::Resumption::by_position) are not enough.
///
/// Each call has its own strategy, which a [`Resumption`](crate::resumption::Resumption) creates. The task that polls the stream calls
/// it. A panic of the strategy ends the call, and is passed to that task.
///
/// # Examples
///
/// Messages of a feed are numbered, and the request names the number after which the feed starts:
///
/// ```
/// use tonic::Status;
/// use gax_streams::resumption::{Processed, Resume, StreamResumption};
///
/// # #[derive(Clone)]
/// struct Follow { topic: String, after: u64 }
/// struct Event { number: u64 }
///
/// struct Feed { request: Follow }
///
/// impl StreamResumption for Feed {
///     type Request = Follow;
///     type Response = Event;
///
///     fn process(&mut self, event: &mut Event) -> Processed {
///         if event.number <= self.request.after {
///             return Processed::Skip;
///         }
///         self.request.after = event.number;
///         Processed::Deliver
///     }
///
///     fn resume(&mut self, failure: &Status) -> Resume<Follow> {
///         // The server no longer has what came behind that number.
///         if failure.code() == tonic::Code::OutOfRange {
///             return Resume::Stop;
///         }
///         Resume::Again(self.request.clone())
///     }
/// }
/// # let mut feed = Feed { request: Follow { topic: "books".into(), after: 0 } };
/// # assert_eq!(feed.process(&mut Event { number: 1 }), Processed::Deliver);
/// # assert_eq!(feed.process(&mut Event { number: 1 }), Processed::Skip);
/// # assert!(matches!(feed.resume(&Status::unavailable("")), Resume::Again(Follow { after: 1, .. })));
/// # assert_eq!(feed.request.topic, "books");
/// ```
pub trait StreamResumption: Send {
    /// The request that starts the stream.
    type Request;

    /// A message of the stream.
    type Response;

    /// A message of any attempt has arrived. The strategy may change it.
    fn process(&mut self, message: &mut Self::Response) -> Processed;

    /// An attempt has failed with a retryable failure, even if it has delivered nothing. The returned request is sent
    /// with the next attempt, if limits and the retry budget allow one.
    fn resume(&mut self, failure: &Status) -> Resume<Self::Request>;

    /// Returns whether that failure is retried. `None`: the method's retryable codes decide. It is not called for failures that
    /// another attempt can't change, such as a message above the client's limit.
    ///
    /// The streams of Bigtable, for example, end with `INTERNAL` "`RST_STREAM`" if their connection is reset. Its clients
    /// retry that, although `INTERNAL` is not among the codes.
    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        let _ = failure;
        None
    }
}

/// A strategy of one call.
pub(crate) type BoxResumption<Q, M> = Box<dyn StreamResumption<Request = Q, Response = M>>;

/// The decision on a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a message is delivered, is not, or is not yet")]
pub enum Processed {
    /// The caller gets it. After withheld messages, it waits until they are released.
    Deliver,
    /// The caller gets it, and the strategy has changed it.
    Replaced,
    /// The caller does not get it, because it already has it, or because it only reports the position of the stream.
    Skip,
    /// It waits, because the stream can't be resumed after it, until a later message is released, the stream ends, or another
    /// attempt [restarts](Resume::Anew) the stream.
    Withhold,
    /// The caller gets it, after all withheld messages.
    Release,
}

/// The decision on a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a stream goes on, begins anew, or ends")]
pub enum Resume<Q> {
    /// Another attempt continues after the last message. Withheld messages are kept.
    Again(Q),
    /// Another attempt restarts the stream. Withheld messages are dropped, and the caller can see that the stream was
    /// restarted.
    Anew(Q),
    /// No other attempt: the caller gets the failure.
    Stop,
}
