//! Bodies of requests, with faults at their places.

use super::exchange::{Exchange, Stop};
use crate::network::wait;
use crate::storage::fault::Action;
use crate::storage::reply_body::length;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

impl Exchange {
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
