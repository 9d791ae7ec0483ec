//! Acts of the server, and scripts of them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The header that names the script of a request.
pub const TEST_ID: &str = "x-retry-test-id";

/// The server's treatment of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpAct {
    /// It replies in full.
    Reply {
        /// The status.
        status: u16,
        /// Headers besides the content's length.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// It breaks the connection without a byte of a reply.
    Reset,
    /// It replies 200, promises 100 bytes, sends five and breaks the connection.
    Truncate,
    /// It replies with that status, promises 100 bytes, sends five and nothing more.
    StallInBody(u16),
    /// It replies 200 with a body in pieces, each after a pause.
    Slow(Vec<(Duration, &'static str)>),
    /// It replies 200, promises more, sends so many bytes and breaks the connection.
    TruncateAfter(usize),
    /// It replies 200, promises more, sends so many bytes and then nothing.
    StallAfter(usize),
    /// It carries the request out, unless it has carried out one of the same call (by the header `x-call`), and replies 200
    /// after that time; otherwise it replies with that status at once.
    Once(Duration, u16),
    /// It replies with these bytes, and nothing more.
    Raw(Vec<u8>),
    /// It never replies.
    Stall,
}

impl HttpAct {
    /// A reply with that status and a body that names it.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let body = format!(r#"{{"status":{status}}}"#).into_bytes();
        HttpAct::Reply { status, headers: Vec::new(), body }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        if let HttpAct::Reply { headers, .. } = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }

    /// Replaces the body.
    #[must_use]
    pub fn with_body(mut self, text: impl Into<Vec<u8>>) -> Self {
        if let HttpAct::Reply { body, .. } = &mut self {
            *body = text.into();
        }
        self
    }
}

/// Acts, one for each request in the order of arrival: of all requests, and of those with a test id.
/// Beyond its last act a script replies 200.
#[derive(Debug, Clone, Default)]
pub struct HttpScript {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    all: VecDeque<HttpAct>,
    by_id: HashMap<String, VecDeque<HttpAct>>,
    endless: Option<HttpAct>,
    carried_out: HashSet<String>,
}

impl HttpScript {
    /// These acts for whatever comes.
    #[must_use]
    pub fn new(acts: impl IntoIterator<Item = HttpAct>) -> Self {
        let script = Self::default();
        script.change(|state| state.all.extend(acts));
        script
    }

    /// That act, always.
    #[must_use]
    pub fn always(act: HttpAct) -> Self {
        let script = Self::default();
        script.change(|state| state.endless = Some(act));
        script
    }

    /// These acts for requests with that test id.
    pub fn add(&self, id: &str, acts: impl IntoIterator<Item = HttpAct>) {
        self.change(|state| state.by_id.entry(id.to_owned()).or_default().extend(acts));
    }

    /// How many acts for that test id have not been asked for.
    #[must_use]
    pub fn left(&self, id: &str) -> usize {
        self.change(|state| state.by_id.get(id).map_or(0, VecDeque::len))
    }

    pub(super) fn next(&self, id: Option<&str>) -> HttpAct {
        let next = self.change(|state| {
            let own = id.and_then(|id| state.by_id.get_mut(id)).and_then(VecDeque::pop_front);
            own.or_else(|| state.all.pop_front()).or_else(|| state.endless.clone())
        });
        next.unwrap_or_else(|| HttpAct::status(200))
    }

    /// Whether a request of that call was met with [`HttpAct::Once`], so that it was carried out.
    #[must_use]
    pub fn has_carried_out(&self, call: &str) -> bool {
        self.change(|state| state.carried_out.contains(call))
    }

    /// Carries out a request of that call. Whether that is the first time.
    pub(super) fn carry_out(&self, call: &str) -> bool {
        self.change(|state| state.carried_out.insert(call.to_owned()))
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
