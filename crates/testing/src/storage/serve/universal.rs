//! Google's universal protocol of uploads, `X-Goog-Upload-*`.

use super::exchange::{Exchange, Stop};
use super::resumable::over;
use crate::storage::state::{CHUNK, Protocol, Stage};
use crate::storage::wire::Reply;
use hyper::body::Incoming;

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

pub(crate) const IS_FINAL: &str = "The upload is already final.";

/// The reply of an upload that continues.
pub(crate) fn active(reply: Reply, received: u64) -> Reply {
    reply.with("x-goog-upload-status", "active").with("x-goog-upload-size-received", received)
}
