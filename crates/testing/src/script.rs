//! Which reply comes when.

use super::Reply;
use super::network::wait;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tonic::Status;

/// A reply, and how long after the request it comes.
#[derive(Debug, Clone)]
pub struct Step {
    pub(super) after: Duration,
    pub(super) reply: Reply,
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
    queues: Arc<Mutex<Queues>>,
}

#[derive(Debug, Clone)]
struct Queues {
    of_all: VecDeque<Step>,
    /// Whether those of all methods start over after the last one.
    is_cycle: bool,
    /// By path without the leading slash, or by the name of the method alone.
    by_method: HashMap<String, VecDeque<Step>>,
    /// The reply once the others have been sent.
    last: Step,
}

impl Queues {
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
            by_method: HashMap::new(),
            last: reply.into(),
        };
        Self { queues: Arc::new(Mutex::new(queues)) }
    }

    /// These replies to requests of whatever method; from then on the real handler replies.
    #[must_use]
    pub fn of(steps: impl IntoIterator<Item = impl Into<Step>>) -> Self {
        let script = Self::new();
        script.change(|queues| queues.of_all.extend(steps.into_iter().map(Into::into)));
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
        script.change(|queues| queues.is_cycle = true);
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
        self.change(|queues| queues.by_method.entry(method).or_default().extend(steps));
        self
    }

    /// With that reply from then on, instead of the real handler's.
    #[must_use]
    pub fn then_always(self, after: Duration, reply: Reply) -> Self {
        self.change(|queues| queues.last = Step { after, reply });
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
        let queues = other.change(|queues| queues.clone());
        self.change(|own| *own = queues);
    }

    /// The next reply to a request of that path.
    pub(super) fn next(&self, path: &str) -> Step {
        let path = path.trim_start_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        self.change(|queues| {
            let of_path = queues.by_method.get_mut(path).and_then(VecDeque::pop_front);
            let of_name = queues.by_method.get_mut(name).filter(|_| of_path.is_none());
            let of_method = of_path.or_else(|| of_name?.pop_front());
            of_method.or_else(|| queues.next_of_all()).unwrap_or_else(|| queues.last.clone())
        })
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
        let Step { after, reply } = self.next(name);
        wait(after).await;
        match reply {
            Reply::Status(status) => Err(*status),
            Reply::Hang | Reply::Reset(_) | Reply::GoAway { .. } | Reply::Close => {
                std::future::pending().await
            }
            Reply::Serve | Reply::Pass | Reply::Play(..) | Reply::Http(..) => Ok(()),
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Queues) -> T) -> T {
        change(&mut self.queues.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
