//! Notes: whatever else is worth knowing of an operation.

use crate::operation::report::connect_problem::ConnectProblem;
use std::fmt;

/// Something about an operation that the attempts alone don't show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Note {
    /// The request is larger than the replay limit, so that it was sent once only.
    RequestTooLargeToReplay,
    /// The request is a stream that is not replayed, or may be one for all that a layer without descriptors can see, so
    /// that it was sent once only.
    RequestIsAStream,
    /// More of a stream of requests was sent than the replay limit of a call allows to be buffered: the attempt that was
    /// sent it was committed (gRFC A6).
    StreamTooLargeToReplay,
    /// The calls of the client or layer had as much of their streams of requests buffered as they may have together: the
    /// attempt that would have needed more was committed (gRFC A6).
    ReplayMemoryUsedUp,
    /// The response was committed before its end was seen: what came after its first message was not
    /// classified.
    Committed,
    /// The response failed behind a message, and no other attempt followed: the message was handed to the caller, and the
    /// error behind it.
    FailedBehindMessages,
    /// The response was larger than the buffer that responses are classified in, and was handed to the caller.
    ResponseTooLargeToBuffer,
    /// A message of the response is larger than the client's `max_decoding_message_size`. No other attempt would change that.
    MessageAboveDecodingLimit,
    /// The server's `grpc-status-details-bin` was not valid base64; it was left out of the status.
    MalformedStatusDetails,
    /// No more than five attempts are made, as over any gRPC channel, although the settings allow more.
    AttemptsCapped,
    /// The retry budget was used up when a hedge was due, so that it was not sent then (gRFC A6).
    HedgeWithheld,
    /// tonic reported CANCELLED or the server reset the stream, but the attempt's time was up: it
    /// counts as `DEADLINE_EXCEEDED`.
    CountedAsDeadlineExceeded,
    /// The server found a condition of the request not to hold (`FAILED_PRECONDITION`, `ABORTED`, `ALREADY_EXISTS`), and an
    /// attempt before, whose response was lost, may have been carried out: that can be why.
    EarlierAttemptMayHaveSucceeded,
    /// The response breaks the rules of HTTP or gRPC, so that it can't be read: the operation ended there,
    /// whatever codes are retryable.
    UnreadableResponse,
    /// The HTTP client below followed redirects, so that an attempt was more than one request. reqwest does not say how many.
    FollowedRedirects,
    /// The path is one of Cloud Storage, and its host was not named (`with_host`): HTTP's rules for methods decided whether the
    /// request is safe to retry.
    StorageHostNotNamed,
    /// The strategy of a stream that broke off did not resume it.
    NotResumed,
    /// More messages of a stream were withheld than its resumption allows.
    WithheldTooMuch,
    /// A resumption, or a wait or an idle timeout, could not be used over a layer: the request is no single message of the
    /// resumption's type, or the response is compressed. The stream went to the caller as it came.
    ResumptionUnused,
    /// Attempts in a row have used up their RPC timeouts without a byte from the server: a new connection is made for the next.
    ConnectionGivenUp,
    /// The state file of an upload can be written by others than its owner: the upload began anew.
    StateFileIgnored,
    /// No connection can be made, for that reason.
    CannotConnect(ConnectProblem),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Note::RequestTooLargeToReplay => "the request is larger than the replay limit: sent once only",
            Note::RequestIsAStream => "the request is a stream: sent once only",
            Note::StreamTooLargeToReplay => "the stream of requests outgrew the replay limit: committed",
            Note::ReplayMemoryUsedUp => "the replay memory that calls share was used up: committed",
            Note::Committed => "the response was committed before its end was seen",
            Note::FailedBehindMessages => "the response failed behind its first message: both were handed on",
            Note::ResponseTooLargeToBuffer => "the response was larger than the response buffer: committed",
            Note::MessageAboveDecodingLimit => {
                "a message of the response is larger than max_decoding_message_size: not retried"
            }
            Note::MalformedStatusDetails => "the server's status details were not valid base64: left out",
            Note::HedgeWithheld => "a hedge was withheld: the retry budget was used up",
            Note::AttemptsCapped => "no more than five attempts are made, as gRPC's rules have it",
            Note::CountedAsDeadlineExceeded => "the attempt's time was up: counted as DEADLINE_EXCEEDED",
            Note::EarlierAttemptMayHaveSucceeded => "an earlier attempt may have succeeded",
            Note::UnreadableResponse => "the response can't be read: not retried, whatever its code",
            Note::FollowedRedirects => "the client followed redirects: an attempt was more than one request",
            Note::StorageHostNotNamed => {
                "a path of Cloud Storage at a host that was not named: its rules did not count (see with_host)"
            }
            Note::NotResumed => "the stream was not resumed: its strategy said so",
            Note::WithheldTooMuch => {
                "more of the stream was withheld than its resumption allows: not resumed"
            }
            Note::ResumptionUnused => "the stream was passed on as it came: it can't be resumed or watched",
            Note::ConnectionGivenUp => {
                "attempts timed out and the server was silent: the connection was given up"
            }
            Note::StateFileIgnored => "others than its owner can write the state file: ignored",
            Note::CannotConnect(problem) => return problem.fmt(f),
        })
    }
}
