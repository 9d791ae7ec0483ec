//! The [notes](Note) that only operations over gRPC have.

use gax_driver::Note;
pub use gax_wire::note::{
    COUNTED_AS_DEADLINE_EXCEEDED, FAILED_BEHIND_MESSAGES, REPLAY_MEMORY_USED_UP, STREAM_TOO_LARGE_TO_REPLAY,
};

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
