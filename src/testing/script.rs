//! Which reply comes when.

use super::Reply;
use super::wire::wait;
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
/// use tonic_gax::testing::{Reply, Script};
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
    last: Step,
}

#[derive(Debug, Default)]
struct Queues {
    of_all: VecDeque<Step>,
    /// By path without the leading slash, or by the name of the method alone.
    by_method: HashMap<String, VecDeque<Step>>,
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

    /// The same reply to everything.
    #[must_use]
    pub fn always(reply: Reply) -> Self {
        Self { queues: Arc::default(), last: reply.into() }
    }

    /// These replies to requests of whatever method; from then on the real handler replies.
    #[must_use]
    pub fn of(steps: impl IntoIterator<Item = impl Into<Step>>) -> Self {
        let script = Self::new();
        script.change(|queues| queues.of_all.extend(steps.into_iter().map(Into::into)));
        script
    }

    /// The same, all at once.
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

    /// The same, but that reply from then on.
    #[must_use]
    pub fn then_always(self, after: Duration, reply: Reply) -> Self {
        Self { last: Step { after, reply }, ..self }
    }

    /// The next reply to a request of that path.
    pub(super) fn next(&self, path: &str) -> Step {
        let path = path.trim_start_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        let step = self.change(|queues| {
            let of_path = queues.by_method.get_mut(path).and_then(VecDeque::pop_front);
            let of_name = || queues.by_method.get_mut(name).and_then(VecDeque::pop_front);
            of_path.or_else(of_name).or_else(|| queues.of_all.pop_front())
        });
        step.unwrap_or_else(|| self.last.clone())
    }

    /// What a closure gets that is an attempt of that name: nothing, or the status of the next reply, after its delay.
    /// A reply that is no status counts as good, one that hangs or breaks off never comes.
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
    /// use tonic_gax::testing::{Reply, Script};
    /// use tonic_gax::{Code, RetrySettings, retry};
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
