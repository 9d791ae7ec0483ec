//! Scripts of an HTTP/1.1 peer.

use super::{HttpArrival, HttpReply};
use gax_driver::__private::Locked;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
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

impl fmt::Debug for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Endless")
    }
}

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
