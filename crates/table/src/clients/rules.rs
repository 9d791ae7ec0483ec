//! The clients, and their rules.

use std::fmt;
use std::str::FromStr;

/// A gRPC client whose behaviour is known.
///
/// # Examples
///
/// ```
/// use gax_table::clients::{Client, ClientOptions, Verdict};
///
/// let text = br#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "1.5s", "retryPolicy": {
///     "maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
///     "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;
/// let client: Client = "grpc-js".parse()?;
/// let report = client.read(text, &ClientOptions::default(), None, None);
/// assert_eq!(report.verdict, Verdict::Changed);
/// assert_eq!(report.reason.as_deref(), Some("the timeout \"1.5s\" is read as 1s"));
/// # Ok::<(), gax_table::clients::UnknownClientError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Client {
    name: &'static str,
    rules: &'static str,
}

impl Client {
    /// All clients that are known.
    pub const ALL: [Self; 4] = [
        Self { name: "grpc-go", rules: include_str!("grpc-go.rules") },
        Self { name: "grpc-java", rules: include_str!("grpc-java.rules") },
        Self { name: "grpcio", rules: include_str!("grpcio.rules") },
        Self { name: "grpc-js", rules: include_str!("grpc-js.rules") },
    ];

    gax_text::getters! { move self:
        /// The name, such as `grpc-js`.
        pub name: &'static str = self.name;

        /// The version that the rules are of.
        pub version: &'static str = self.rule("version");
    }

    /// All rules: the thing, what the client does with it, and where that is from.
    pub fn rules(self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let lines = self.rules.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| {
            let (key, rest) = line.split_once(" = ")?;
            let (value, source) = rest.split_once(" ; ")?;
            Some((key.trim(), value.trim(), source.trim()))
        })
    }

    /// Returns what the client does with a thing; empty for what no rule is about.
    #[must_use]
    pub fn rule(self, key: &str) -> &'static str {
        self.rules().find(|(known, ..)| *known == key).map_or("", |(_, value, _)| value)
    }

    pub(super) fn is(self, key: &str, value: &str) -> bool {
        self.rule(key) == value
    }

    /// A rule that is a number; `None` where the rule says so.
    pub(super) fn number<T: FromStr>(self, key: &str) -> Option<T> {
        self.rule(key).parse().ok()
    }
}

gax_text::short_debug! { self: Client { name: self.name } }

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version())
    }
}

gax_text::parsed_by_name! {
    Client::name, UnknownClientError,
    "is not a client that is known; write grpc-go, grpc-java, grpcio, grpc-js"
}
