//! The [notes](Note) of operations over gRPC, whichever library sends them.

use gax_driver::__private::Limit;
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
/// tonic reported CANCELLED or the server reset the stream, but the attempt's time was up: it
/// is treated as `DEADLINE_EXCEEDED`.
pub const COUNTED_AS_DEADLINE_EXCEEDED: Note = Note::new(&(
    "grpc.counted_as_deadline_exceeded",
    "the attempt's time had passed: treated as DEADLINE_EXCEEDED",
));

/// The note of an attempt that was committed by a limit.
#[doc(hidden)]
#[must_use]
pub const fn committed_by(limit: Limit) -> Note {
    match limit {
        Limit::Call => STREAM_TOO_LARGE_TO_REPLAY,
        Limit::Memory => REPLAY_MEMORY_USED_UP,
    }
}
