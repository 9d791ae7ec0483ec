//! Limits of the buffers of a client over gRPC, and the other options that only gRPC has.

use gax_retry::Compatibility;

/// How much of each call a client over gRPC buffers so that another attempt can be sent, and the two other options that only gRPC has.
/// Pass them to `replay(..)` of tonic-gax's `RetryLayer` and of gax-grpc's `RetryInterceptor`, or to `with_replay(..)` of a generated
/// client's settings. They replace the ones that were set before.
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | [`max_replay_bytes`](Self::max_replay_bytes) | 4 MiB + 64 KiB |
/// | [`replay_streams`](Self::replay_streams) | true with [`Compatibility::Grpc`], else false |
/// | [`max_total_replay_bytes`](Self::max_total_replay_bytes) | 16 MiB |
/// | [`max_response_buffer`](Self::max_response_buffer) | 4 MiB + 64 KiB |
/// | [`map_timeout_cancellations`](Self::map_timeout_cancellations) | true |
/// | [`previous_attempts_header`](Self::previous_attempts_header) | true, but not with [`Compatibility::GaxJava`] |
///
/// # Examples
///
/// ```
/// use gax_driver::ReplayOptions;
/// use tonic_gax::{Code, RetryLayer, RetrySettings};
///
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// // Streams of requests are safe to send twice, and have a megabyte a call at most.
/// let replay = ReplayOptions::new().replay_streams(true).max_replay_bytes(1024 * 1024);
/// let layer = RetryLayer::new((settings, [Code::Unavailable])).replay(replay);
/// # drop(layer);
/// # Ok::<(), gax_driver::SettingsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "options do nothing until a client or layer has them"]
pub struct ReplayOptions {
    #[doc(hidden)]
    pub max_replay_bytes: usize,
    #[doc(hidden)]
    pub max_total_replay_bytes: usize,
    /// `None`: that of the compatibility.
    replay_streams: Option<bool>,
    #[doc(hidden)]
    pub max_response_buffer: usize,
    #[doc(hidden)]
    pub map_timeout_cancellations: bool,
    /// `None`: that of the compatibility.
    previous_attempts_header: Option<bool>,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        // The longest message that a gRPC server accepts by default, and some room for its frame.
        const MESSAGE: usize = 4 * 1024 * 1024 + 64 * 1024;
        Self {
            max_replay_bytes: MESSAGE,
            max_total_replay_bytes: 16 * 1024 * 1024,
            replay_streams: None,
            max_response_buffer: MESSAGE,
            map_timeout_cancellations: true,
            previous_attempts_header: None,
        }
    }
}

impl ReplayOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Buffers requests of any length for replay.
    pub fn without_replay_limit(self) -> Self {
        self.max_replay_bytes(usize::MAX)
    }

    gax_text::setters! { self:
        /// Sets whether streams of requests, of client-streaming and bidirectional RPCs, are buffered as they are sent, so that
        /// another attempt can be sent the same messages and then the rest (gRFC A6). Default: yes with
        /// [`Compatibility::Grpc`], otherwise no, because the messages may not be safe to repeat. A call that is not
        /// buffered makes one attempt.
        ///
        /// The buffer holds references to the encoded messages, up to [`max_replay_bytes`](Self::max_replay_bytes) a call
        /// and [`max_total_replay_bytes`](Self::max_total_replay_bytes) for all calls; a short frame counts for 32 bytes.
        /// A call that passes either limit is committed: it continues without retries, and never waits. The buffer is
        /// released when the call is committed, by a limit or by its response, and when it ends.
        ///
        /// If the response is a stream as well, its headers commit the call, because either side may then wait for the
        /// other. A single response commits the call with its headers by [`Compatibility::Grpc`], and otherwise when its
        /// trailers have arrived without an error. Over the `grpc` crate, headers always commit.
        pub replay_streams(replayed: bool) => self.replay_streams = Some(replayed);

        /// The most bytes that the streams of requests of all calls together have buffered at a time, so that they can be
        /// replayed: gRFC A6's buffer of a channel. A call that would need more is committed to the attempt that it has,
        /// without waiting, and its report has the note `REPLAY_MEMORY_USED_UP`. With zero, no stream is replayed once any of
        /// it was sent.
        ///
        /// It is shared by the clones of a client or layer, and by all services that a layer makes. Unary requests don't count.
        pub max_total_replay_bytes(bytes: usize) => self.max_total_replay_bytes = bytes;

        /// The most bytes of a response that are buffered until its status is known. A longer response is handed to the
        /// caller and isn't retried if it fails later; the report has a note. A generated client buffers as much as it decodes,
        /// whatever this is: its `max_decoding_message_size`.
        pub max_response_buffer(bytes: usize) => self.max_response_buffer = bytes;

        /// Sets whether a response `CANCELLED` "Timeout expired", which a tonic server gives when the `grpc-timeout` that
        /// it was sent has passed, is treated as `DEADLINE_EXCEEDED` once the attempt's time is up.
        pub map_timeout_cancellations(ours: bool) => self.map_timeout_cancellations = ours;

        /// Sets whether attempts after the first have the header `grpc-previous-rpc-attempts`, as in gRFC A6: the number of
        /// earlier attempts, "1", "2" and so on, including hedges and without transparent retries. A value that the
        /// caller sets is removed. Default: yes, except with [`Compatibility::GaxJava`], because gax-java doesn't send it.
        pub previous_attempts_header(is_sent: bool) => self.previous_attempts_header = Some(is_sent);

        /// The longest request, in bytes, that is buffered so that it can be replayed. A longer one is sent once, and the
        /// report has a note. With zero, no request is retried.
        ///
        /// For a [stream of requests that is replayed](Self::replay_streams) it is the most that is buffered of it. Once
        /// more has been sent, the call is committed to the attempt that has sent it: it continues, without retries, and
        /// the report has the note `STREAM_TOO_LARGE_TO_REPLAY`.
        pub max_replay_bytes(bytes: usize) => self.max_replay_bytes = bytes;
    }

    /// Returns whether attempts carry the number of those before them.
    #[doc(hidden)]
    #[must_use]
    pub fn counts_attempts(&self, compatibility: Compatibility) -> bool {
        self.previous_attempts_header.unwrap_or(compatibility != Compatibility::GaxJava)
    }

    /// Returns whether streams of requests are buffered.
    pub(super) fn replays_streams(&self, compatibility: Compatibility) -> bool {
        self.max_replay_bytes > 0 && self.replay_streams.unwrap_or(compatibility == Compatibility::Grpc)
    }
}
