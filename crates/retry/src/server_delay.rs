//! The delay that a server asks for before another attempt.

use std::time::Duration;

/// The delay that the server asks for before another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "nothing, a lower bound, a moment, or never")]
pub enum ServerDelay {
    /// Nothing.
    #[default]
    None,
    /// At least this long: `Retry-After`, `google.rpc.RetryInfo`. A random time is added, up to the back-off or half of the delay, so
    /// that clients which get the same delay don't return together. If the operation has no time for both, the random time is
    /// shortened. Without a total timeout, `max_server_delay` is the limit.
    AtLeast(Duration),
    /// Exactly this long: `grpc-retry-pushback-ms`.
    Exactly(Duration),
    /// Not at all: a pushback that is negative or unreadable.
    Never,
}

impl ServerDelay {
    /// The delay that values of `grpc-retry-pushback-ms` ask for; `None`: there is no value. Anything but a 32-bit integer, a negative
    /// one, and two values mean [`Never`](Self::Never) (gRFC A6).
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::ServerDelay;
    /// use std::time::Duration;
    ///
    /// let delay = |values: &[&'static str]| ServerDelay::of_pushback(values.iter().map(|value| value.as_bytes()));
    /// assert_eq!(delay(&["300"]), Some(ServerDelay::Exactly(Duration::from_millis(300))));
    /// assert_eq!(delay(&["-1"]), Some(ServerDelay::Never));
    /// assert_eq!(delay(&[]), None);
    /// ```
    pub fn of_pushback<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut values = values.into_iter();
        let milliseconds = str::from_utf8(values.next()?).ok().and_then(|text| text.parse::<i32>().ok());
        Some(match (milliseconds.map(u64::try_from), values.next()) {
            (Some(Ok(milliseconds)), None) => Self::Exactly(Duration::from_millis(milliseconds)),
            _ => Self::Never,
        })
    }
}
