//! Uploads that can be resumed: by Cloud Storage's protocol, and by Google's universal one, `X-Goog-Upload-*`.

use super::exchange::{Exchange, Stop};
use super::insert::NO_SESSION;
use super::route::Route;
use crate::storage::fault::Action;
use crate::storage::reply_body::length;
use crate::storage::state::{CHUNK, Protocol, Stage};
use crate::storage::wire::{ContentRange, Reply};
use hyper::body::Incoming;
use std::sync::Arc;

/// Bytes that have come, until as many are there as can be persisted.
#[derive(Debug)]
struct Unpersisted {
    place: u64,
    bytes: Vec<u8>,
    /// The place up to which bytes may be persisted.
    limit: u64,
}

impl Exchange {
    /// The stage of the session, how much of it has been persisted, and its declared length.
    fn session(&self) -> Result<(Stage, u64, Option<u64>), Stop> {
        let Route { id, protocol, .. } = &self.route;
        let session = self.shared.state.change(|state| {
            let session = state.sessions.get(id).filter(|session| session.protocol == *protocol)?;
            Some((session.stage.clone(), session.persisted(), session.length))
        });
        session.ok_or_else(|| Stop::error(404, NO_SESSION))
    }

    /// Receives bytes of an upload that begin at the first place, of which none are persisted behind the second one. Whatever ends
    /// the request, those that came are persisted, up to a multiple of the granularity; all of them, if the request ends well.
    /// Returns the place of the request's end.
    async fn persist(&mut self, body: &mut Incoming, (place, most): (u64, u64)) -> Result<u64, Stop> {
        let limit = match self.action() {
            Some(Action::Persisted(bytes)) => place.saturating_add(*bytes).min(most),
            _ => most,
        };
        let granularity = self.shared.state.change(|state| state.granularity).max(1);
        let mut rest = Unpersisted { place, bytes: Vec::new(), limit };
        let (shared, id) = (Arc::clone(&self.shared), self.route.id.clone());
        let persist = |rest: &mut Unpersisted, whole: u64| {
            let count =
                usize::try_from(whole.min(rest.limit).saturating_sub(rest.place)).unwrap_or(usize::MAX);
            let bytes = rest.bytes.get(..count.min(rest.bytes.len())).unwrap_or_default();
            shared.state.change(|state| {
                state.sessions.get_mut(&id).map(|session| session.persist(rest.place, bytes))
            });
            let count = bytes.len();
            rest.place += length(bytes);
            rest.bytes.drain(..count);
        };
        let end = self.receive(body, place, |place, piece| {
            rest.bytes.extend_from_slice(piece);
            let end = place + length(piece);
            persist(&mut rest, end - end % granularity);
        });
        let end = end.await?;
        persist(&mut rest, end);
        Ok(end)
    }

    /// Bytes of an upload.
    pub(crate) async fn upload(&mut self, body: &mut Incoming) -> Result<Reply, Stop> {
        let (stage, persisted, declared) = self.session()?;
        if let Some(reply) = over(&stage, Protocol::Resumable) {
            self.drain(body).await?;
            return Ok(reply);
        }
        let range = match self.header("content-range") {
            // All of it, in one request.
            None => Some(ContentRange::Bytes { first: 0, last: None, total: declared }),
            Some(header) => ContentRange::read(header),
        };
        let Some(ContentRange::Bytes { first, last, total }) = range else {
            self.drain(body).await?;
            return Err(Stop::error(400, "Failed to parse Content-Range header."));
        };
        let sent = self.announced();
        let refusal =
            if last.zip(sent).is_some_and(|(last, sent)| (last - first).checked_add(1) != Some(sent)) {
                Some((400, "The body's length differs from Content-Range."))
            } else if declared.zip(total).is_some_and(|(declared, total)| declared != total) {
                Some((400, "The total length differs from X-Upload-Content-Length."))
            } else if first > persisted {
                Some((503, "Bytes before this chunk are missing."))
            } else if last.is_some_and(|last| is_uneven(first, last, total)) {
                Some((400, "A chunk that isn't the last one has a multiple of 262144 bytes."))
            } else {
                None
            };
        if let Some((status, message)) = refusal {
            self.drain(body).await?;
            return Err(Stop::error(status, message));
        }
        let most = last.map_or(u64::MAX, |last| last.saturating_add(1)).min(total.unwrap_or(u64::MAX));
        let end = self.persist(body, (first, most)).await?;
        if last.is_some_and(|last| last.checked_add(1) != Some(end)) || total.is_some_and(|total| total < end)
        {
            return Err(Stop::error(400, "The body's length differs from Content-Range."));
        }
        let (_, persisted, _) = self.session()?;
        let is_last = match (last, total) {
            (_, Some(total)) => total == persisted,
            // A body to its end is all there is.
            (None, None) => end == persisted,
            (Some(_), None) => false,
        };
        if is_last { Ok(Reply::json(self.finish()?)) } else { Ok(self.incomplete(persisted)) }
    }

    /// How much of an upload has been persisted. `bytes */N` finishes one by Cloud Storage's own protocol that is whole.
    pub(crate) fn query(&self) -> Result<Reply, Stop> {
        let (protocol, (stage, persisted, declared)) = (self.route.protocol, self.session()?);
        if let Some(reply) = over(&stage, protocol) {
            return Ok(reply);
        }
        let total = match self.header("content-range").and_then(ContentRange::read) {
            Some(ContentRange::Query(Some(total))) => Some(total),
            _ => declared,
        };
        if protocol == Protocol::Resumable && total == Some(persisted) {
            return Ok(Reply::json(self.finish()?));
        }
        Ok(self.incomplete(persisted))
    }

    /// Cancels an upload.
    pub(crate) fn cancel(&self) -> Result<Reply, Stop> {
        let (stage, ..) = self.session()?;
        if let Stage::Active = stage {
            self.shared.state.change(|state| {
                state.sessions.get_mut(&self.route.id).map(|session| session.stage = Stage::Cancelled)
            });
        }
        let protocol = self.route.protocol;
        Ok(match (stage, protocol) {
            (Stage::Active, Protocol::Resumable) => Reply::new(499),
            (Stage::Active | Stage::Cancelled, Protocol::Universal) => {
                Reply::new(200).with("x-goog-upload-status", "cancelled")
            }
            (Stage::Finished(_), Protocol::Universal) => Reply::error(400, IS_FINAL),
            (stage, _) => over(&stage, protocol).unwrap_or_else(|| Reply::new(499)),
        })
    }

    /// The reply of an upload that continues, with the bytes that have been persisted.
    fn incomplete(&self, persisted: u64) -> Reply {
        let persisted = match self.action() {
            Some(Action::Claimed(bytes)) => *bytes,
            _ => persisted,
        };
        if self.route.protocol == Protocol::Universal {
            return active(Reply::new(200), persisted);
        }
        let is_overridden = self.header("x-guploader-no-308") == Some("yes");
        let mut reply = Reply::new(if is_overridden { 200 } else { 308 });
        if is_overridden {
            reply = reply.with("x-http-status-code-override", "308");
        }
        match persisted.checked_sub(1) {
            Some(last) => reply.with("range", format!("bytes=0-{last}")),
            None => reply,
        }
    }
}

/// The reply to what is sent to an upload that is over.
fn over(stage: &Stage, protocol: Protocol) -> Option<Reply> {
    let is_universal = protocol == Protocol::Universal;
    match stage {
        Stage::Active => None,
        Stage::Finished(resource) if is_universal => {
            Some(Reply::json(resource.clone()).with("x-goog-upload-status", "final"))
        }
        Stage::Finished(resource) => Some(Reply::json(resource.clone())),
        Stage::Cancelled if is_universal => Some(Reply::error(410, "The upload has been cancelled.")),
        Stage::Cancelled => Some(Reply::new(499)),
        Stage::Expired(status) => Some(Reply::error(*status, NO_SESSION)),
    }
}

/// Returns whether a chunk is neither the last one nor has a length or an end that chunks may have.
fn is_uneven(first: u64, last: u64, total: Option<u64>) -> bool {
    let end = last.saturating_add(1);
    total != Some(end) && !(end - first).is_multiple_of(CHUNK) && !end.is_multiple_of(CHUNK)
}

impl Exchange {
    /// Bytes of an upload, its end, or both.
    pub(crate) async fn upload_universal(&mut self, body: &mut Incoming) -> Result<Reply, Stop> {
        let (stage, persisted, declared) = self.session()?;
        let commands = self.header("x-goog-upload-command").unwrap_or_default();
        let is_last = commands.split(',').any(|command| command.trim() == "finalize");
        let offset = self.header("x-goog-upload-offset").map(str::parse::<u64>);
        let sent = self.announced();
        let refusal = match (&stage, offset) {
            (Stage::Finished(_), _) => Some(Reply::error(400, IS_FINAL)),
            (Stage::Cancelled | Stage::Expired(_), _) => over(&stage, Protocol::Universal),
            (Stage::Active, Some(Ok(offset))) if offset != persisted => Some(active(
                Reply::error(409, "The offset differs from the number of bytes received."),
                persisted,
            )),
            (Stage::Active, None) if !is_last => Some(Reply::error(400, "X-Goog-Upload-Offset is missing.")),
            (Stage::Active, Some(Err(_))) => Some(Reply::error(400, "X-Goog-Upload-Offset is not a number.")),
            (Stage::Active, _) => {
                sent.is_some_and(|sent| !is_last && (sent == 0 || !sent.is_multiple_of(CHUNK))).then(|| {
                    Reply::error(400, "A chunk that isn't the last one has a multiple of 262144 bytes.")
                })
            }
        };
        if let Some(reply) = refusal {
            self.drain(body).await?;
            return Ok(reply);
        }
        let most = declared.unwrap_or(u64::MAX);
        let end = self.persist(body, (persisted, most)).await?;
        let (_, persisted, _) = self.session()?;
        if declared.is_some_and(|declared| end > declared || (is_last && end < declared)) {
            return Ok(Reply::error(400, "The length differs from X-Goog-Upload-Header-Content-Length."));
        }
        if is_last && end == persisted {
            let reply = Reply::json(self.finish()?);
            return Ok(reply.with("x-goog-upload-status", "final"));
        }
        Ok(self.incomplete(persisted))
    }
}

const IS_FINAL: &str = "The upload is already final.";

/// The reply of an upload that continues.
fn active(reply: Reply, received: u64) -> Reply {
    reply.with("x-goog-upload-status", "active").with("x-goog-upload-size-received", received)
}
