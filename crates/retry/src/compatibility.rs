//! Which library's rules turn settings into attempts.

/// Which client's rules turn settings into attempts.
///
/// It belongs to the client or layer, not to the settings: the same table can be run by any of them.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::Compatibility;
///
/// assert_eq!("gax-java".parse(), Ok(Compatibility::GaxJava));
/// assert_eq!(Compatibility::default().to_string(), "documented");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Compatibility {
    /// The rules of the documentation of Google's client libraries, with every attempt clamped to what
    /// is left of the operation's total timeout when it really starts.
    #[default]
    Documented,
    /// The rules of gax-java 2.63.1, attempt for attempt: whole milliseconds, jitter in [0, delay), the
    /// time left taken before the sleep, 0 as "not set". See [`gax_java`](crate::gax_java), also for what
    /// Java's `setLogicalTimeout` means.
    GaxJava,
    /// The rules of gRPC itself for a service config (gRFC A6, as grpc-java and grpc-go run it): no timeout
    /// of an attempt, waits within a fifth of their delay, at most five attempts, and a wait that passes
    /// the deadline ends there, as `DEADLINE_EXCEEDED`.
    Grpc,
}

gax_text::names! {
    const ALL;
    fn as_str for Compatibility {
        Documented = "documented",
        GaxJava = "gax-java",
        Grpc = "grpc",
    }
}

gax_text::parsed_by_name! { Compatibility, ParseCompatibilityError, "is not a compatibility (documented, gax-java or grpc)" }
