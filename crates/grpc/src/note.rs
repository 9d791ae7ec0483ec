//! The notes that only operations over gRPC have. They are equal to those of tonic-gax, which have the same names.

use gax_driver::Note;

/// More of a stream of requests was sent than the replay limit of a call allows to be buffered.
pub(crate) const STREAM_TOO_LARGE_TO_REPLAY: Note = Note::new(&(
    "grpc.stream_too_large_to_replay",
    "the stream of requests exceeded the replay limit: committed",
));
/// The streams of all calls together had reached the limit of what is buffered.
pub(crate) const REPLAY_MEMORY_USED_UP: Note =
    Note::new(&("grpc.replay_memory_used_up", "the shared replay memory was used up: committed"));
/// The response failed behind a message, and both were handed to the caller.
pub(crate) const FAILED_BEHIND_MESSAGES: Note = Note::new(&(
    "grpc.failed_behind_messages",
    "the response failed after its first message: the caller gets both",
));
/// The server ended the call because its `grpc-timeout` had passed.
pub(crate) const COUNTED_AS_DEADLINE_EXCEEDED: Note = Note::new(&(
    "grpc.counted_as_deadline_exceeded",
    "the attempt's time had passed: treated as DEADLINE_EXCEEDED",
));
