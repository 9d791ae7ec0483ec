//! A request that is being served, and the faults that happen to it.

use crate::network::wait;
use crate::storage::StorageFault;
use crate::storage::fault::Action;
use crate::storage::faults::ArmedFaults;
use crate::storage::reply_body::length;
use crate::storage::serve::route::Route;
use crate::storage::shared::Shared;
use crate::storage::wire::{Reply, Target, text};
use bytes::Bytes;
use http::request::Parts;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
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

    /// Reads a request's body, which begins at that place of the object, and hands on each piece with its place.
    /// Returns the place of its end.
    pub(crate) async fn receive(
        &mut self,
        body: &mut Incoming,
        begin: u64,
        mut piece: impl FnMut(u64, &[u8]),
    ) -> Result<u64, Stop> {
        let mut place = begin;
        // Faults at the very begin need no bytes.
        let mut data = Bytes::new();
        loop {
            loop {
                let end = place + length(&data);
                let reached =
                    self.shared.state.change(|state| state.faults.reach(&mut self.armed, place, end));
                let Some((at, fault)) = reached else { break };
                let before = data.split_to(usize::try_from(at - place).unwrap_or(usize::MAX).min(data.len()));
                piece(place, &before);
                place = at;
                match fault.action {
                    Action::Reset => return Err(Stop::Broken),
                    Action::Stall => return self.stall().await,
                    Action::Delay(time) => wait(time).await,
                    Action::Status(status) => {
                        if !fault.is_early {
                            self.drain(body).await?;
                        }
                        return Err(Stop::Reply(Box::new(self.reply_of(&fault, status))));
                    }
                    Action::Corrupt => {
                        let wrong = data.split_to(1.min(data.len()));
                        piece(place, &wrong.iter().map(|byte| !byte).collect::<Vec<_>>());
                        place += length(&wrong);
                    }
                    _ => {}
                }
            }
            piece(place, &data);
            place += length(&data);
            match self.next(body).await? {
                Some(next) => data = next,
                None => return Ok(place),
            }
        }
    }

    /// Reads a request's body to its end, for nothing.
    pub(crate) async fn drain(&self, body: &mut Incoming) -> Result<(), Stop> {
        while self.next(body).await?.is_some() {}
        Ok(())
    }

    /// The next bytes of a request's body.
    async fn next(&self, body: &mut Incoming) -> Result<Option<Bytes>, Stop> {
        loop {
            let Some(frame) = body.frame().await else { return Ok(None) };
            // A client that is gone gets no reply.
            let Ok(frame) = frame else { return Err(Stop::Broken) };
            if let Ok(data) = frame.into_data() {
                self.shared.note(self.index, |arrival| arrival.received += length(&data));
                return Ok(Some(data));
            }
        }
    }

    /// Reads a whole body into memory.
    pub(crate) async fn collect(&mut self, body: &mut Incoming) -> Result<Bytes, Stop> {
        let mut whole = Vec::new();
        self.receive(body, 0, |_, piece| whole.extend_from_slice(piece)).await?;
        Ok(whole.into())
    }
}
