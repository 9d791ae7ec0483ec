//! The options of a REST transport.

use crate::http_rule::HttpRule;
use crate::problem::RestError;
use gax_retry::Compatibility;
use http::Uri;
use std::fmt;
use std::sync::Arc;

/// Options of a [`RestTransport`](crate::RestTransport).
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | [`origin`](Self::origin) | `https://` and the service's `google.api.default_host`, if it has one |
/// | [`patch_by_override`](Self::patch_by_override) | false |
/// | [`numeric_enums`](Self::numeric_enums) | for services with a `google.api.default_host` |
/// | [`gzip`](Self::gzip) | true |
/// | [`max_response_bytes`](Self::max_response_bytes) | 16 MiB |
/// | [`compatibility`](Self::compatibility) | that of the client's settings; else [`Compatibility::Documented`] |
/// | [`rule`](Self::rule) | those of the protos |
/// | [`descriptors`](Self::descriptors) | those of all protos of the client's build |
#[derive(Debug, Clone)]
#[must_use = "options do nothing until a transport is made with them"]
pub struct RestOptions {
    pub(super) origin: Option<Uri>,
    pub(super) patch_by_override: bool,
    /// `None`: that of the service.
    pub(super) numeric_enums: Option<bool>,
    pub(super) gzip: bool,
    pub(super) max_response_bytes: usize,
    /// `None`: that of the client.
    pub(super) compatibility: Option<Compatibility>,
    pub(super) rules: Vec<(String, HttpRule)>,
    pub(super) descriptors: Vec<Encoded>,
}

/// An encoded `FileDescriptorSet`.
#[derive(Clone)]
pub(super) struct Encoded(pub(super) Arc<[u8]>);

/// Short: how long it is.
impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Default for RestOptions {
    fn default() -> Self {
        Self {
            origin: None,
            patch_by_override: false,
            numeric_enums: None,
            gzip: true,
            max_response_bytes: 16 * 1024 * 1024,
            compatibility: None,
            rules: Vec::new(),
            descriptors: Vec::new(),
        }
    }
}

impl RestOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    gax_text::setters! { self:
        /// Where requests go: scheme, host and, if it has one, a path before that of the rules. An origin that the client
        /// itself puts into requests (`with_origin`) takes precedence. Without a scheme or a host, creating the transport
        /// fails.
        pub origin(origin: Uri) => self.origin = Some(origin);

        /// Sets whether `PATCH` is sent as `POST` with `X-HTTP-Method-Override: PATCH`, as Java's clients send it: there are
        /// proxies that let no `PATCH` through.
        pub patch_by_override(is_overridden: bool) => self.patch_by_override = is_overridden;

        /// Sets whether the server is asked for enums as numbers (`$alt=json;enum-encoding=int`), so that one which this program
        /// doesn't know is not lost. Google's servers know the parameter; others may refuse it.
        pub numeric_enums(are_numeric: bool) => self.numeric_enums = Some(are_numeric);

        /// Sets whether the server may compress its responses (`Accept-Encoding: gzip`).
        pub gzip(is_accepted: bool) => self.gzip = is_accepted;

        /// The longest JSON that is read, in bytes as they are after decompression: of a response or, if it is a stream, of each of
        /// its messages. A longer one ends the call with `OUT_OF_RANGE`, and is not retried. The client's
        /// `max_decoding_message_size` limits the resulting message.
        pub max_response_bytes(bytes: usize) => self.max_response_bytes = bytes;

        /// The rules for errors below HTTP: with [`Compatibility::GaxJava`], a broken connection is `UNKNOWN`, and not
        /// retried, an undecodable response `CANCELLED`, and a request that fits no binding is sent by the first.
        pub compatibility(compatibility: Compatibility) => self.compatibility = Some(compatibility);
    }

    /// The rule of an RPC, such as `google.longrunning.Operations.GetOperation`, instead of its proto's.
    pub fn rule(mut self, method: impl Into<String>, rule: HttpRule) -> Self {
        self.rules.push((method.into(), rule));
        self
    }

    /// Descriptors of more messages, as an encoded `FileDescriptorSet` with all imports: for what a `google.protobuf.Any` may hold
    /// and the protos of the client's build don't define. Files that are in both are those of the build.
    pub fn descriptors(mut self, encoded: impl Into<Arc<[u8]>>) -> Self {
        self.descriptors.push(Encoded(encoded.into()));
        self
    }

    /// Checks that requests can go to the origin.
    pub(super) fn check(&self) -> Result<(), RestError> {
        let Some(origin) = &self.origin else { return Ok(()) };
        let problem = match (origin.scheme(), origin.authority()) {
            (Some(_), Some(_)) => return Ok(()),
            (_, Some(authority)) => format!("has no scheme: write http://{authority} or https://{authority}"),
            (_, None) => "has no host: write it as https://api.example.com".to_owned(),
        };
        Err(RestError::new(format!("the origin {:?} {problem}", origin.to_string())))
    }

    pub(super) fn is_java(&self) -> bool {
        self.compatibility == Some(Compatibility::GaxJava)
    }
}
