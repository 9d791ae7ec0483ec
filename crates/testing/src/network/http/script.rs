//! Scripts of an HTTP/1.1 peer: its replies, as plain values, and the requests that they are for.

use bytes::Bytes;
use gax_driver::__private::Locked;
use http::HeaderMap;
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The header that names the script of a request.
pub const TEST_ID: &str = "x-retry-test-id";

/// Replies, one for each request in the order of arrival: of all requests, and of those with a test id ([`TEST_ID`]).
/// Beyond its last reply a script replies 200. Clones share the replies.
#[derive(Debug, Clone, Default)]
pub struct HttpScript {
    state: Arc<Locked<State>>,
}

#[derive(Debug, Default)]
struct State {
    all: VecDeque<HttpReply>,
    by_id: HashMap<String, VecDeque<HttpReply>>,
    endless: Option<Endless>,
    idle: Option<(Duration, Option<HttpReply>)>,
    carried_out: HashSet<String>,
    arrived: usize,
}

type Choose = dyn Fn(usize, &HttpArrival) -> HttpReply + Send + Sync;

#[derive(Clone)]
struct Endless(Arc<Choose>);

gax_text::short_debug! { self: Endless {} }

impl HttpScript {
    /// These replies for whatever comes.
    #[must_use]
    pub fn new(replies: impl IntoIterator<Item = HttpReply>) -> Self {
        let script = Self::default();
        script.state.change(|state| state.all.extend(replies));
        script
    }

    /// That reply, always.
    #[must_use]
    pub fn always(reply: HttpReply) -> Self {
        Self::by(move |_, _| reply.clone())
    }

    /// The replies that the function chooses, by a request and its number from 0.
    #[must_use]
    pub fn by(choose: impl Fn(usize, &HttpArrival) -> HttpReply + Send + Sync + 'static) -> Self {
        let script = Self::default();
        script.state.change(|state| state.endless = Some(Endless(Arc::new(choose))));
        script
    }

    /// Connections on which no request comes for that time are closed, behind that reply if there is one, such as a 408 that no
    /// request asked for.
    #[must_use]
    pub fn idle(self, time: Duration, reply: Option<HttpReply>) -> Self {
        self.state.change(|state| state.idle = Some((time, reply)));
        self
    }

    /// These replies for requests with that test id.
    pub fn add(&self, id: &str, replies: impl IntoIterator<Item = HttpReply>) {
        self.state.change(|state| state.by_id.entry(id.to_owned()).or_default().extend(replies));
    }

    /// How many replies for that test id have not been asked for.
    #[must_use]
    pub fn left(&self, id: &str) -> usize {
        self.state.change(|state| state.by_id.get(id).map_or(0, VecDeque::len))
    }

    /// The reply to a request.
    pub(super) fn next(&self, arrival: &HttpArrival) -> HttpReply {
        let (number, next, endless) = self.state.change(|state| {
            let number = state.arrived;
            state.arrived += 1;
            let own = arrival.header(TEST_ID).and_then(|id| state.by_id.get_mut(id));
            let next = own.and_then(VecDeque::pop_front).or_else(|| state.all.pop_front());
            (number, next, state.endless.clone())
        });
        let reply = next.or_else(|| endless.map(|Endless(choose)| choose(number, arrival)));
        match reply.unwrap_or_else(|| HttpReply::status(200)) {
            HttpReply::Once(after, refusal) => {
                let call = arrival.header("x-call").unwrap_or_default().to_owned();
                let is_first = self.state.change(|state| state.carried_out.insert(call));
                if is_first { HttpReply::Slow(vec![(after, "done")]) } else { HttpReply::status(refusal) }
            }
            reply => reply,
        }
    }

    pub(super) fn when_idle(&self) -> Option<(Duration, Option<HttpReply>)> {
        self.state.change(|state| state.idle.clone())
    }

    /// Returns whether a request of that call got [`HttpReply::Once`], so that it was carried out.
    #[must_use]
    pub fn has_carried_out(&self, call: &str) -> bool {
        self.state.change(|state| state.carried_out.contains(call))
    }
}

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

/// A request that reached an [`HttpPeer`](super::HttpPeer) whole.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpArrival {
    /// When, from the peer's start on.
    pub at: Duration,
    /// The method.
    pub method: String,
    /// The path and query, or the whole URI where a client speaks to a proxy.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl HttpArrival {
    /// A header as text. `None`: it is missing, or not ASCII.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
