//! Which endpoint a call goes to.

/// How a [`Connection`](crate::Connection) chooses the endpoint of a call, of those that have a connection.
///
/// An attempt avoids endpoints that earlier attempts of its operation failed at while others are ready, and every call those
/// that are [ejected](super::Ejection).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Picker {
    /// One connection, to the first address that takes one (gRPC's `pick_first`). Addresses whose connection was lost without use are
    /// behind the others for as long as the longest [back-off](super::ConnectBackoff). The default.
    #[default]
    First,
    /// One connection to each address, in turn (gRPC's `round_robin`).
    RoundRobin,
    /// One connection to each address; of two at random the one with fewer calls in flight.
    LeastInFlight,
}

/// When calls avoid an endpoint: after a number of consecutive failures there, for some time.
///
/// A call fails an endpoint if its connection breaks, if it uses up its RPC timeout, or if the server responds with `UNAVAILABLE`,
/// `INTERNAL`, `UNKNOWN`, `DATA_LOSS` or `DEADLINE_EXCEEDED`, or over HTTP with a status from 500 on, except 501. A call that ends
/// otherwise resets the count. An endpoint that fails again before it has worked for as long as it was ejected is ejected for longer,
/// up to ten times as long.
///
/// # Defaults
///
/// No endpoint is ejected unless this is [set](crate::ConnectionBuilder::eject). Then: after 5 failures, for 30 s, at most
/// half of the endpoints at a time.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gax_connection::{Connection, Ejection, Picker};
///
/// let connection = Connection::to("dns:///library:50051")
///     .picker(Picker::RoundRobin)
///     .eject(Ejection::default().after(3).time(Duration::from_secs(10)));
/// # drop(connection);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Ejection {
    pub(crate) after: u32,
    pub(crate) time: std::time::Duration,
    pub(crate) max_percent: u32,
}

impl Default for Ejection {
    fn default() -> Self {
        Self { after: 5, time: std::time::Duration::from_secs(30), max_percent: 50 }
    }
}

impl Ejection {
    gax_text::setters! { self:
        /// After how many failures in a row; 0 is treated as 1.
        pub after(failures: u32) => self.after = failures.max(1);

        /// For how long at first.
        pub time(time: std::time::Duration) => self.time = time;

        /// How many of the endpoints may be ejected at a time, in percent.
        pub max_percent(percent: u32) => self.max_percent = percent.min(100);
    }
}
