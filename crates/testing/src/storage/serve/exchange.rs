//! A request that is being served, and the faults that happen to it.

use crate::storage::StorageFault;
use crate::storage::fault::Action;
use crate::storage::faults::ArmedFaults;
use crate::storage::serve::route::Route;
use crate::storage::shared::Shared;
use crate::storage::wire::{Reply, Target, text};
use http::request::Parts;
use std::sync::Arc;

/// Why a request isn't carried out to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Broken,
    Reply(Box<Reply>),
}

impl Stop {
    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::Reply(Box::new(Reply::error(status, message)))
    }

    /// A parameter of the query is not a number.
    pub(crate) fn invalid(name: &str) -> Self {
        Self::error(400, &format!("Invalid value for: {name} is not a number."))
    }
}

/// A request that is being served.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) shared: Arc<Shared>,
    pub(crate) index: usize,
    pub(crate) armed: ArmedFaults,
    pub(crate) head: Parts,
    pub(crate) target: Target,
    pub(crate) route: Route,
    /// `true` if an upload by the universal protocol continues, so that replies say so.
    pub(crate) is_universal: bool,
}

impl Exchange {
    /// A header of the request, as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        text(&self.head.headers, name)
    }

    /// The length of the request's body, as its head announces it.
    pub(crate) fn announced(&self) -> Option<u64> {
        self.header("content-length")?.parse().ok()
    }

    /// The fault without a place that happens to it.
    pub(crate) fn action(&self) -> Option<&Action> {
        self.armed.at_once.as_ref().map(|fault| &fault.action)
    }

    /// Says that nothing more happens, and makes that true.
    pub(crate) async fn stall<T>(&self) -> T {
        self.shared.stalls.add_permits(1);
        std::future::pending().await
    }

    /// The reply of a fault.
    pub(crate) fn reply_of(&self, fault: &StorageFault, status: u16) -> Reply {
        let mut reply = Reply::new(status);
        reply.body = fault.body.clone();
        if self.is_universal && !fault.is_bare {
            reply = reply.with("x-goog-upload-status", "active");
        }
        reply.headers.extend(fault.headers.clone());
        reply
    }
}
