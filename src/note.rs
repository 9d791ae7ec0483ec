//! The [notes](Note) that only operations over gRPC have.

use gax_driver::Note;

/// More of a stream of requests was sent than the replay limit of a call allows to be buffered: the attempt that was
/// sent it was committed (gRFC A6).
pub const STREAM_TOO_LARGE_TO_REPLAY: Note = Note::new(&(
    "grpc.stream_too_large_to_replay",
    "the stream of requests exceeded the replay limit: committed",
));
/// The calls of the client or layer had as much of their streams of requests buffered as they may have together: the
/// attempt that would have needed more was committed (gRFC A6).
pub const REPLAY_MEMORY_USED_UP: Note =
    Note::new(&("grpc.replay_memory_used_up", "the shared replay memory was used up: committed"));
/// The response failed behind a message, and no other attempt followed: the message was handed to the caller, and the
/// error behind it.
pub const FAILED_BEHIND_MESSAGES: Note = Note::new(&(
    "grpc.failed_behind_messages",
    "the response failed after its first message: the caller gets both",
));
/// A message of the response is larger than the client's `max_decoding_message_size`. No other attempt would change that.
pub const MESSAGE_ABOVE_DECODING_LIMIT: Note = Note::new(&(
    "grpc.message_above_decoding_limit",
    "a message of the response is larger than max_decoding_message_size: not retried",
));
/// The server's `grpc-status-details-bin` was not valid base64; it was left out of the status.
pub const MALFORMED_STATUS_DETAILS: Note = Note::new(&(
    "grpc.malformed_status_details",
    "the server's status details were not valid base64: removed",
));
/// tonic reported CANCELLED or the server reset the stream, but the attempt's time was up: it
/// is treated as `DEADLINE_EXCEEDED`.
pub const COUNTED_AS_DEADLINE_EXCEEDED: Note = Note::new(&(
    "grpc.counted_as_deadline_exceeded",
    "the attempt's time had passed: treated as DEADLINE_EXCEEDED",
));
/// The strategy of a stream that broke off did not resume it.
pub const NOT_RESUMED: Note = Note::new(&("grpc.not_resumed", "the strategy did not resume the stream"));
/// More messages of a stream were withheld than its resumption allows.
pub const WITHHELD_TOO_MUCH: Note = Note::new(&(
    "grpc.withheld_too_much",
    "more of the stream was withheld than its resumption allows: not resumed",
));
/// A resumption, or a wait or an idle timeout, could not be used over a layer: the request is not a single message of
/// the resumption's type, or the response is compressed. The stream went to the caller as it came.
pub const RESUMPTION_UNUSED: Note = Note::new(&(
    "grpc.resumption_unused",
    "the stream was passed through unchanged: it can't be resumed, and its timeouts don't apply",
));
