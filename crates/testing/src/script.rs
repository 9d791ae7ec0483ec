//! Which reply comes when.

use super::Reply;
use super::network::wait;
use gax_driver::__private::Locked;
use gax_text::{Human, closest};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tonic::Status;

/// How many methods are remembered as called.
const MAX_METHODS: usize = 1000;

/// A reply, and how long after the request it comes.
#[derive(Debug, Clone)]
pub struct Step {
    pub(super) after: Duration,
    pub(super) reply: Reply,
}

impl Step {
    gax_text::getters! { self:
        /// How long after the request it comes.
        pub after: Duration = self.after;

        /// The reply.
        pub reply: &Reply = &self.reply;
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reply)?;
        if self.after.is_zero() { Ok(()) } else { write!(f, " after {}", Human(self.after)) }
    }
}

impl From<Reply> for Step {
    fn from(reply: Reply) -> Self {
        Self { after: Duration::ZERO, reply }
    }
}

impl From<(Duration, Reply)> for Step {
    fn from((after, reply): (Duration, Reply)) -> Self {
        Self { after, reply }
    }
}

/// Replies in the order of the requests, of all methods or of one; then the last one again for all that follow.
///
/// Clones follow the same script: what one has replied is not replied again by another.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gax_testing::{Reply, Script};
///
/// let script = Script::new()
///     // The first attempt is refused, the second hangs, the third gets a good reply after 30 ms.
///     .on("GetBook", [Reply::unavailable(), Reply::Hang])
///     .on("ListBooks", [(Duration::from_millis(30), Reply::pushback(250))]);
/// # drop(script);
/// ```
#[derive(Debug, Clone)]
pub struct Script {
    queues: Arc<Shared>,
}

#[derive(Debug)]
struct Shared(Locked<Queues>);

/// A name that nothing came for is most likely misspelt.
impl Drop for Shared {
    #[expect(clippy::print_stderr, reason = "a test that fails for it shows this")]
    fn drop(&mut self) {
        for sentence in self.0.get_mut().misspelt() {
            eprintln!("{sentence}");
        }
    }
}

#[derive(Debug, Clone)]
struct Queues {
    of_all: VecDeque<Step>,
    /// `true` if those of all methods start over after the last one.
    is_cycle: bool,
    /// `true` if all start over with each call.
    is_of_calls: bool,
    /// Methods that were called: whether the script names them.
    called: BTreeMap<String, bool>,
    /// By path without the leading slash, or by the name of the method alone.
    by_method: BTreeMap<String, VecDeque<Step>>,
    /// The reply once the others have been sent.
    last: Step,
}

impl Queues {
    /// The replies of a method, by its path or its name.
    fn of_method(&mut self, path: &str) -> Option<&mut VecDeque<Step>> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let known = [path, name].into_iter().find(|known| self.by_method.contains_key(*known));
        if self.called.len() < MAX_METHODS {
            self.called.insert(path.to_owned(), known.is_some());
        }
        self.by_method.get_mut(known?)
    }

    /// Returns what is to be said of names that no request came for, though one came for a method whose name is close.
    fn misspelt(&self) -> Vec<String> {
        let came =
            |name: &str| self.called.keys().any(|path| path == name || path.rsplit('/').next() == Some(name));
        let others = || self.called.iter().filter(|(_, is_known)| !**is_known).map(|(path, _)| path.as_str());
        let names = self.by_method.keys().filter(|name| !came(name));
        let sentence = |name: &String| {
            let close = closest(
                name,
                others().map(
                    |path| if name.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) },
                ),
            )?;
            Some(format!(
                "the script has replies for {name:?}, which no request came for; did you mean {close:?}?"
            ))
        };
        names.filter_map(sentence).collect()
    }

    fn next_of_all(&mut self) -> Option<Step> {
        let next = self.of_all.pop_front();
        self.of_all.extend(next.clone().filter(|_| self.is_cycle));
        next
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::always(Reply::Serve)
    }
}

impl Script {
    /// The real handler replies to everything; without one, an empty message and OK.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One reply to everything.
    #[must_use]
    pub fn always(reply: Reply) -> Self {
        let queues = Queues {
            of_all: VecDeque::new(),
            is_cycle: false,
            is_of_calls: false,
            called: BTreeMap::new(),
            by_method: BTreeMap::new(),
            last: reply.into(),
        };
        Self { queues: Arc::new(Shared(Locked::new(queues))) }
    }

    /// These replies to requests of whatever method; from then on the real handler replies.
    #[must_use]
    pub fn of(steps: impl IntoIterator<Item = impl Into<Step>>) -> Self {
        let script = Self::new();
        script.queues.0.change(|queues| queues.of_all.extend(steps.into_iter().map(Into::into)));
        script
    }

    /// These replies to requests of whatever method, again and again in this order.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_testing::{Reply, Script};
    ///
    /// // Of each two attempts the first is refused.
    /// let script = Script::cycle([Reply::unavailable(), Reply::Serve]);
    /// # drop(script);
    /// ```
    #[must_use]
    pub fn cycle(steps: impl IntoIterator<Item = impl Into<Step>>) -> Self {
        let script = Self::of(steps);
        script.queues.0.change(|queues| queues.is_cycle = true);
        script
    }

    /// Replies that come as soon as their request has been read.
    #[must_use]
    pub fn at_once(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::of(replies)
    }

    /// These replies to the requests of one method, `pkg.Service/Method` or just `Method`, one for each attempt. They
    /// go before those of all methods.
    #[must_use]
    pub fn on(self, method: &str, steps: impl IntoIterator<Item = impl Into<Step>>) -> Self {
        let method = method.trim_start_matches('/').to_owned();
        let steps = steps.into_iter().map(Into::into);
        self.queues.0.change(|queues| queues.by_method.entry(method).or_default().extend(steps));
        self
    }

    /// With that reply from then on, instead of the real handler's.
    #[must_use]
    pub fn then_always(self, after: Duration, reply: Reply) -> Self {
        self.queues.0.change(|queues| queues.last = Step { after, reply });
        self
    }

    /// Starts over with the replies of another script, for requests that come from now on. Clones start over too.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_testing::{Reply, Script, VirtualServer};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let script = Script::always(Reply::unavailable());
    /// let server = VirtualServer::start(script.clone());
    /// // The outage is over.
    /// script.replace(&Script::new());
    /// # drop(server);
    /// # }
    /// ```
    pub fn replace(&self, other: &Script) {
        let queues = other.queues.0.change(|queues| queues.clone());
        self.queues.0.change(|own| {
            let called = std::mem::take(&mut own.called);
            *own = Queues { called, ..queues };
        });
    }

    /// All replies start over with each call, whose requests a server tells apart as [`Arrival::call`](super::Arrival) says. A
    /// method with replies of its own has only these.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_testing::{Reply, Script};
    ///
    /// // The first two attempts of each call are refused.
    /// let script = Script::of([Reply::unavailable(), Reply::unavailable()]).each_call();
    /// # drop(script);
    /// ```
    #[must_use]
    pub fn each_call(self) -> Self {
        self.queues.0.change(|queues| queues.is_of_calls = true);
        self
    }

    /// The methods that it names, as they were given.
    #[must_use]
    pub fn methods(&self) -> Vec<String> {
        self.queues.0.change(|queues| queues.by_method.keys().cloned().collect())
    }

    /// The next reply to a request of that path, the so-manieth of its call.
    pub(super) fn next(&self, path: &str, attempt: usize) -> Step {
        let path = path.trim_start_matches('/');
        self.queues.0.change(|queues| {
            let is_of_calls = queues.is_of_calls;
            let next = match queues.of_method(path) {
                Some(own) if is_of_calls => own.get(attempt).cloned(),
                None if is_of_calls => queues.of_all.get(attempt).cloned(),
                own => own.and_then(VecDeque::pop_front).or_else(|| queues.next_of_all()),
            };
            next.unwrap_or_else(|| queues.last.clone())
        })
    }

    /// The reply to a request of that path, the so-manieth of its call, from 0, where they [start over](Self::each_call) with each.
    #[must_use]
    pub fn reply_to(&self, path: &str, attempt: usize) -> Option<Step> {
        self.queues.0.change(|queues| queues.is_of_calls).then(|| self.next(path, attempt))
    }

    /// An attempt of that name, for closures: nothing, or the status of the next reply, after its delay.
    /// A reply that is no status is treated as good, one that hangs or breaks off never comes.
    ///
    /// # Errors
    ///
    /// The scripted status.
    ///
    /// # Cancel safety
    ///
    /// The reply is taken when the future is first polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_testing::{Reply, Script};
    /// use gax_driver::retry;
    /// use tonic_gax::{Code, RetrySettings};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let script = Script::new().on("save", [Reply::unavailable()]);
    /// let settings = RetrySettings::builder().max_attempts(3).build()?;
    /// retry(&settings, [Code::Unavailable], || script.attempt("save")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn attempt(&self, name: &str) -> Result<(), Status> {
        let Step { after, reply } = self.next(name, 0);
        wait(after).await;
        match reply {
            Reply::Status(status) => Err(*status),
            Reply::Hang | Reply::Break(_) => std::future::pending().await,
            Reply::Serve | Reply::Pass | Reply::Play(..) | Reply::Http(..) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_method_is_reported() {
        let script = Script::new()
            .on("GetBok", [Reply::Hang])
            .on("a.B/ListBooks", [Reply::Hang])
            .on("Other", [Reply::Hang]);
        let misspelt = || script.queues.0.change(|queues| queues.misspelt());
        script.next("/a.B/ListBooks", 0);
        assert!(misspelt().is_empty());
        script.next("/a.B/GetBook", 0);
        let sentence =
            "the script has replies for \"GetBok\", which no request came for; did you mean \"GetBook\"?";
        assert_eq!(misspelt(), [sentence]);
        script.next("/a.B/GetBok", 0);
        assert!(misspelt().is_empty());
    }
}
