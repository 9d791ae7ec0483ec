//! The settings of HTTP/2.

use gax_driver::__private::Clock;
use hyper::client::conn::http2::Builder;
use hyper::rt::Executor;
use hyper_util::rt::TokioTimer;
use std::future::Future;
use std::time::Duration;

/// The settings of HTTP/2 of a connection, by the names that tonic's `Endpoint` has for them.
///
/// # Defaults
///
/// Those of hyper, and no keep-alive: see [`keep_alive_interval`](Self::keep_alive_interval).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gax_connection::{Connection, Http2};
///
/// let http2 = Http2::default().keep_alive_interval(Duration::from_secs(330)).initial_stream_window_size(1 << 20);
/// let connection = Connection::to("http://localhost:50051").http2(http2);
/// # drop(connection);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Http2 {
    stream_window: Option<u32>,
    connection_window: Option<u32>,
    adaptive_window: Option<bool>,
    max_frame_size: Option<u32>,
    header_table_size: Option<u32>,
    max_header_list_size: Option<u32>,
    max_concurrent_reset_streams: Option<usize>,
    reset_stream_duration: Option<Duration>,
    max_local_error_reset_streams: Option<usize>,
    pub(crate) keep_alive_interval: Option<Duration>,
    keep_alive_timeout: Option<Duration>,
    keep_alive_while_idle: bool,
}

impl Http2 {
    gax_text::setters! { self:
        /// How many bytes a server may send in a stream before we have read them.
        pub initial_stream_window_size(bytes: u32) => self.stream_window = Some(bytes);

        /// How many bytes a server may send in all streams together before we have read them.
        pub initial_connection_window_size(bytes: u32) => self.connection_window = Some(bytes);

        /// Lets hyper choose the window sizes by measurement. It sends pings for that while data is arriving, which servers
        /// allow.
        pub adaptive_window(is_adaptive: bool) => self.adaptive_window = Some(is_adaptive);

        /// The largest frame that a server may send, in bytes.
        pub max_frame_size(bytes: u32) => self.max_frame_size = Some(bytes);

        /// The size of the table that headers are compressed with, in bytes.
        pub header_table_size(bytes: u32) => self.header_table_size = Some(bytes);

        /// The most bytes of headers that are accepted of a response.
        pub max_header_list_size(bytes: u32) => self.max_header_list_size = Some(bytes);

        /// How many streams that we have reset are remembered.
        pub max_concurrent_reset_streams(streams: usize) => self.max_concurrent_reset_streams = Some(streams);

        /// For how long they are.
        pub reset_stream_duration(duration: Duration) => self.reset_stream_duration = Some(duration);

        /// How many streams may be reset for errors that a server makes before the connection is closed.
        pub max_local_error_reset_streams(streams: usize) =>
            self.max_local_error_reset_streams = Some(streams);

        /// Sends a ping after this time without a byte from the server while calls are in flight. Default: none.
        ///
        /// Servers count pings. By default those in Go, Java and C++ allow one in five minutes while they send nothing, so 330
        /// s is safe everywhere, and 10 s only if you configure the server to allow it. If a server still ends a connection
        /// with `too_many_pings`, the interval of the endpoint's next connection is doubled (gRFC A8).
        ///
        /// Dead connections are detected without pings: see [`Connection`](crate::Connection).
        pub keep_alive_interval(interval: Duration) => self.keep_alive_interval = Some(interval);

        /// How long a ping's reply may take before the connection is closed. Default: 20 s.
        pub keep_alive_timeout(timeout: Duration) => self.keep_alive_timeout = Some(timeout);

        /// Pings connections without a call in flight too. By default, servers in Go, Java and C++ allow none: set it only if
        /// you configure the server to allow them.
        pub keep_alive_while_idle(is_on: bool) => self.keep_alive_while_idle = is_on;
    }

    /// Looks for values that HTTP/2 doesn't have.
    ///
    /// # Errors
    ///
    /// The first of them.
    pub(crate) fn check(&self) -> Result<(), String> {
        const MAX_WINDOW: u32 = (1 << 31) - 1;
        const FRAMES: std::ops::RangeInclusive<u32> = 1 << 14..=(1 << 24) - 1;
        let windows = [
            ("initial_stream_window_size", self.stream_window),
            ("initial_connection_window_size", self.connection_window),
        ];
        for (name, bytes) in windows {
            if let Some(bytes) = bytes.filter(|bytes| *bytes > MAX_WINDOW) {
                return Err(format!("{name} is {bytes}, but HTTP/2 allows {MAX_WINDOW} bytes at most"));
            }
        }
        if let Some(bytes) = self.max_frame_size.filter(|bytes| !FRAMES.contains(bytes)) {
            let (least, most) = FRAMES.into_inner();
            return Err(format!("max_frame_size is {bytes}, but HTTP/2 allows {least} to {most} bytes"));
        }
        if self.keep_alive_interval.is_some_and(|interval| interval.is_zero()) {
            return Err("keep_alive_interval is zero: leave it out to send no pings".to_owned());
        }
        Ok(())
    }

    /// The maker of a connection with these settings, except for that keep-alive interval.
    pub(crate) fn builder(&self, keep_alive_interval: Option<Duration>) -> Builder<BoxedTasks> {
        // Longer times than the clock can count are none.
        let countable = |time: &Duration| Clock::start().at(*time).is_some();
        let mut builder = Builder::new(BoxedTasks);
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(self.stream_window)
            .initial_connection_window_size(self.connection_window)
            .max_frame_size(self.max_frame_size)
            .header_table_size(self.header_table_size)
            .keep_alive_interval(keep_alive_interval.filter(|interval| {
                self.keep_alive_timeout.is_none_or(|timeout| countable(&interval.saturating_add(timeout)))
                    && countable(interval)
            }))
            .keep_alive_while_idle(self.keep_alive_while_idle);
        self.adaptive_window.map(|is_adaptive| builder.adaptive_window(is_adaptive));
        self.keep_alive_timeout.filter(countable).map(|timeout| builder.keep_alive_timeout(timeout));
        self.max_header_list_size.map(|bytes| builder.max_header_list_size(bytes));
        self.max_concurrent_reset_streams.map(|streams| builder.max_concurrent_reset_streams(streams));
        self.reset_stream_duration.map(|duration| builder.reset_stream_duration(duration));
        self.max_local_error_reset_streams.map(|streams| builder.max_local_error_reset_streams(streams));
        builder
    }
}

/// Spawns the futures that hyper makes of a connection and of its calls, each in a box: they are all as large as the one of the connection,
/// and tokio copies a task's future several times (bench `speed`, instructions).
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxedTasks;

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for BoxedTasks {
    fn execute(&self, future: F) {
        tokio::spawn(Box::pin(future));
    }
}
