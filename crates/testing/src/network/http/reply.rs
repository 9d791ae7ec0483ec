//! Replies of an HTTP/1.1 peer, as plain values.

use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;

/// An HTTP/1.1 peer's treatment of one request.
///
/// # Examples
///
/// ```
/// use gax_testing::{HttpChange, HttpReply};
///
/// let busy = HttpReply::status(503).with_header("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT");
/// let login = HttpReply::status(200).with_header("content-type", "text/html").with_body("<html>Log in</html>");
/// // What the origin replies, without that header.
/// let dropped = HttpReply::Forward(vec![HttpChange::Remove("x-goog-hash")]);
/// # drop((busy, login, dropped));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpReply {
    /// A full reply. With the header `connection: close` the connection is closed behind it.
    Reply {
        /// The status.
        status: u16,
        /// Headers besides the content's length.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// The origin's reply to the request, which it gets as far as it came, with these changes in their order; without an origin, an empty 200 with them.
    Forward(Vec<HttpChange>),
    /// The connection breaks without a byte of a reply.
    Reset,
    /// 200, 100 bytes promised, five sent, and the connection breaks.
    Truncate,
    /// That status, 100 bytes promised, five sent, and nothing more.
    StallInBody(u16),
    /// 200 with a body in pieces, each after a pause.
    Slow(Vec<(Duration, &'static str)>),
    /// 200, more promised, so many bytes sent, and the connection breaks.
    TruncateAfter(usize),
    /// 200, more promised, so many bytes sent, and nothing more.
    StallAfter(usize),
    /// The request is carried out, unless one of the same call (by the header `x-call`) has been. Then it gets 200 after that time;
    /// otherwise that status immediately.
    Once(Duration, u16),
    /// These bytes, and nothing more.
    Raw(Vec<u8>),
    /// A reply to `CONNECT`, and a tunnel to that address.
    Tunnel(SocketAddr),
    /// No reply.
    Stall,
}

/// A change of a reply on its way, as a proxy makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpChange {
    /// The status is another one.
    Status(u16),
    /// A header is set.
    Set(&'static str, String),
    /// A header is dropped.
    Remove(&'static str),
    /// The body is another one, and its length with it.
    Body(Bytes),
    /// So many bytes of the body are announced, whatever it has.
    Announce(usize),
    /// Only so many bytes of the body are sent, then the connection is closed.
    Cut(usize),
    /// Only so many bytes of the body are sent, then nothing more.
    Stall(usize),
    /// The reply comes twice on the connection.
    Twice,
    /// The connection is closed without a byte of the reply, though the request was carried out.
    Lose,
}

impl HttpReply {
    /// A reply with that status and a body that names it.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let body = format!(r#"{{"status":{status}}}"#).into_bytes();
        HttpReply::Reply { status, headers: Vec::new(), body }
    }

    /// Adds a header to a full reply.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        if let HttpReply::Reply { headers, .. } = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }

    /// Replaces the body of a full reply.
    #[must_use]
    pub fn with_body(mut self, text: impl Into<Vec<u8>>) -> Self {
        if let HttpReply::Reply { body, .. } = &mut self {
            *body = text.into();
        }
        self
    }
}
