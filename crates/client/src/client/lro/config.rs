//! The part of polling that all operations of one RPC share.

use gax_driver::__private::{JitterSeeds, Observers};
use gax_driver::OperationOptions;
use gax_driver::protocol::Name;
use gax_retry::operation::Next;
use gax_retry::{Compatibility, Policy, RetrySettings};
use std::sync::Arc;
use std::time::Duration;

/// How operations are polled.
pub(in crate::client) struct Config {
    pub(super) policy: Policy,
    pub(super) name: Name,
    pub(super) observers: Option<Arc<Observers>>,
    pub(super) seeds: JitterSeeds,
    /// The most that one poll may take with all its retries, by rules that have no RPC timeout of a poll.
    pub(super) poll_timeout: Option<Duration>,
    /// `true` if the server is asked to wait until the operation is done.
    pub(super) waits: bool,
    /// When a server that has waited without success is asked again. gax-java, which never asks a server to wait, looks at its limits
    /// before a delay alone.
    pub(super) after_wait: Next,
    /// `true` if the server is asked to cancel an operation that is not done when polling ends.
    pub(super) cancels: bool,
}

/// The call that an operation's first attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum First {
    /// The one that starts it.
    Start,
    /// A poll.
    Poll,
}

impl Config {
    pub(super) fn new(
        name: Name,
        first: First,
        polling: &RetrySettings,
        options: &OperationOptions,
        observers: Option<Arc<Observers>>,
    ) -> Self {
        let compatibility = options.compatibility.unwrap_or_default();
        let is_java = compatibility == Compatibility::GaxJava;
        let polling = match (polling.max_attempts(), first) {
            // The number is one of polls. By gax-java's rules the call before them is treated as well.
            (Some(polls), First::Start) if !is_java => {
                polling.to_builder().max_attempts(polls.saturating_add(1)).build_unchecked()
            }
            _ => polling.clone(),
        };
        Self {
            policy: Policy::for_polls(&polling, compatibility),
            name,
            observers,
            seeds: options.jitter.clone(),
            poll_timeout: if is_java { None } else { polling.initial_rpc_timeout() },
            waits: false,
            after_wait: if is_java { Next::Later } else { Next::Now },
            cancels: false,
        }
    }
}

impl AsRef<Policy> for Config {
    fn as_ref(&self) -> &Policy {
        &self.policy
    }
}
