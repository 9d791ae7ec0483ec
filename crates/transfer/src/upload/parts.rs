//! The requests of an upload.

use crate::activity::Activity;
use crate::checksum::ChecksumValues;
use crate::error::{Failure, TransferErrorKind};
use crate::exchange::Prepared;
use crate::origin::{add_headers, is_same_origin};
use crate::session::{Dialect, MAX_GRANULARITY, UploadSession};
use crate::state_file::StateFile;
use crate::upload::body::UploadBody;
use crate::upload::completion::{Coverage, Evidence, ServerObject};
use crate::upload::dialects::{storage, universal};
use crate::upload::options::UploadOptions;
use crate::upload::plan::{Reach, Reply, Step, extent};
use crate::upload::reading::{PIECE, SharedSource, SourceReader};
use bytes::Bytes;
use gax_driver::__private::Locked;
use gax_http::ReplayBody;
use gax_retry::Code;
use gax_retry::jitter::{JitterSource as _, ThreadJitter};
use http::header::CONTENT_LENGTH;
use http::request::Builder;
use http::{HeaderMap, Request, StatusCode, Uri};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The chunks of sources that can't seek, unless said.
const CHUNK: u64 = 8 * 1024 * 1024;

/// All that the requests of an upload have in common.
pub(super) struct UploadParts {
    pub(super) options: UploadOptions,
    pub(super) dialect: Dialect,
    pub(super) source: SharedSource,
    pub(super) session: Locked<Option<UploadSession>>,
    pub(super) state: Option<StateFile>,
    /// The place behind the last byte of the source that a connection has taken.
    pub(super) sent: Arc<AtomicU64>,
    /// `true` if the last failure of the session says that it is of no use any longer.
    pub(super) is_spent: AtomicBool,
    /// `true` if the object that the upload has made was seen to have a checksum of the source.
    pub(super) is_verified: AtomicBool,
}

/// An upload in a state file.
#[derive(Serialize, Deserialize)]
pub(super) struct UploadState {
    /// The object: the URI of the request that started the session, unless the program has named it.
    pub(super) request: String,
    pub(super) dialect: Dialect,
    /// The object as that request described it, in short.
    #[serde(default)]
    start: String,
    session: String,
    control: Option<String>,
    /// The origins that the server named for the two.
    #[serde(default)]
    origins: Vec<String>,
    granularity: u64,
    size: Option<u64>,
    modified: Option<u64>,
    /// The checksums of the source, as `x-goog-hash` has them, if they were known when the session started.
    #[serde(default)]
    hash: Option<String>,
}

impl UploadState {
    /// The session in it; `None`: there is none that can be used.
    pub(super) fn session(&self) -> Option<UploadSession> {
        let origins: Vec<Uri> = self.origins.iter().filter_map(|origin| origin.parse().ok()).collect();
        let uri = |text: &String| {
            text.parse().ok().filter(|uri| origins.iter().any(|origin| is_same_origin(origin, uri)))
        };
        let control = self.control.as_ref().map(|text| uri(text).ok_or(())).transpose().ok()?;
        let granularity = self.granularity.clamp(1, MAX_GRANULARITY);
        let session = UploadSession::new(self.dialect, uri(&self.session)?);
        Some(UploadSession { control, granularity, ..session })
    }

    /// Returns whether it would make the same object: the source is as it was, as far as that is known, and the start would say the same.
    pub(super) fn is_of(&self, options: &UploadOptions, source: &SourceReader) -> bool {
        let hash = ChecksumValues::in_text(self.hash.iter().map(String::as_str));
        let differs = source.sums().is_some_and(|sums| sums.difference(hash).is_some());
        let is_same_source = self.size == source.size() && self.modified == source.modified() && !differs;
        is_same_source && self.start == options.fingerprint()
    }
}

impl UploadParts {
    pub(super) fn session(&self) -> Option<UploadSession> {
        self.session.lock().clone()
    }

    pub(super) fn reach(&self) -> Reach {
        let can_look = self.can_look();
        let source = self.source.lock();
        let sent = self.sent.load(Ordering::Relaxed);
        Reach { size: source.size(), lowest: source.lowest(), sent, can_look }
    }

    pub(super) fn reply(&self, step: Step, head: &http::response::Parts, content: &[u8]) -> Reply {
        let uri = &self.options.request.uri;
        let reply = match self.dialect {
            Dialect::Storage => storage::reply(step, uri, head.status, &head.headers),
            Dialect::Universal => return universal::reply(step, uri, head.status, &head.headers),
        };
        let brings_bytes = !matches!(step, Step::Start | Step::Look);
        match reply {
            Reply::Failed | Reply::Conflict if brings_bytes && self.is_corrupted(head.status, content) => {
                Reply::Corrupted
            }
            reply => reply,
        }
    }

    /// Returns whether a refusal is one of the checksums that were sent: a precondition has the same status.
    fn is_corrupted(&self, status: StatusCode, content: &[u8]) -> bool {
        let text = String::from_utf8_lossy(content).to_ascii_lowercase();
        let names_checksum = ["crc32c", "md5"].iter().any(|name| text.contains(name));
        [400, 412].contains(&status.as_u16()) && names_checksum && self.source.lock().sums().is_some()
    }

    /// Returns whether a success that proves the end of the upload does so by a checksum.
    ///
    /// # Errors
    ///
    /// It proves no end.
    pub(super) fn completion(
        &self,
        (step, reply): (Step, Reply),
        object: ServerObject,
        coverage: Coverage,
    ) -> Result<bool, (Code, Failure)> {
        let is_confirmation = match step {
            Step::Query { confirms } => confirms,
            Step::Single => !self.can_look(),
            _ => false,
        };
        let source = self.source.lock();
        let evidence = Evidence {
            is_final: reply == Reply::Finished,
            needs_object: self.dialect == Dialect::Storage,
            is_confirmation,
            object,
            sums: source.sums().unwrap_or_default(),
            size: source.size(),
            coverage,
        };
        let is_verified = evidence.is_verified();
        self.is_verified.store(matches!(is_verified, Ok(true)), Ordering::Relaxed);
        is_verified
    }

    /// A session has started: it is kept, also for another process.
    pub(super) async fn started(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let uri = &self.options.request.uri;
        let session = match self.dialect {
            Dialect::Storage => storage::session(uri, headers),
            Dialect::Universal => universal::session(uri, headers),
        };
        let session = session
            .map(|session| UploadSession { is_elsewhere: !is_same_origin(uri, &session.uri), ..session });
        self.sent.store(0, Ordering::Relaxed);
        self.is_spent.store(false, Ordering::Relaxed);
        // It is handed over with the error if it can't be written.
        self.session.lock().clone_from(&session);
        let (Some(state), Some(session)) = (&self.state, &session) else { return Ok(()) };
        let ((size, sums), modified) = (self.source.known(), self.source.lock().modified());
        let uris = [Some(&session.uri), session.control.as_ref()];
        let origin = |uri: &Uri| Some(format!("{}://{}", uri.scheme()?, uri.authority()?));
        let upload = UploadState {
            request: self.options.name.clone(),
            dialect: session.dialect,
            start: self.options.fingerprint(),
            session: session.uri.to_string(),
            control: session.control.as_ref().map(Uri::to_string),
            origins: uris.into_iter().flatten().filter_map(origin).collect(),
            granularity: session.granularity,
            size,
            modified,
            hash: sums.and_then(ChecksumValues::header),
        };
        state.save(&upload).await
    }

    /// The request with the caller's headers and that body.
    fn finished(
        &self,
        request: Builder,
        body: impl Into<Option<UploadBody>>,
    ) -> Result<Request<ReplayBody>, Failure> {
        let body = body.into().filter(|body| body.len() > 0);
        let body = body.map_or_else(ReplayBody::empty, ReplayBody::once);
        let mut request = request.body(body).map_err(unsendable)?;
        *request.version_mut() = self.options.request.version;
        Ok(request)
    }

    /// A request of a session, with those of the caller's headers that go there.
    fn of_session(
        &self,
        session: &UploadSession,
        request: Builder,
        body: impl Into<Option<UploadBody>>,
    ) -> Result<Request<ReplayBody>, Failure> {
        let mut request = self.finished(request, body)?;
        let is_own = session.is_own_origin(&self.options.request.uri, request.uri());
        add_headers(&mut request, &self.options.session_headers(), is_own);
        Ok(request)
    }

    /// The chunk of an upload whose pieces have that granularity.
    fn chunk(&self, granularity: u64) -> Option<u64> {
        self.options.chunk_size.map(|chunk| (chunk / granularity * granularity).max(granularity))
    }

    pub(super) async fn single(&self, activity: &Arc<Activity>) -> Prepared<Step> {
        let content = self.read_all(0).await?;
        let size = content.iter().map(|piece| piece.len() as u64).sum();
        let sums = self.source.lock().sums();
        let boundary = format!("gax-{:016x}{:016x}", ThreadJitter.next_u64(), ThreadJitter.next_u64());
        let (request, before, pieces) = storage::single(&self.options, content, sums, &boundary);
        let body = UploadBody::of(pieces, activity).carrying(before, (0, size), &self.sent);
        Ok((Step::Single, self.finished(request, body)?))
    }

    /// All that a source has from that place on.
    async fn read_all(&self, from: u64) -> Result<VecDeque<Bytes>, Failure> {
        self.source.fill(from, u64::MAX).await?;
        self.source.seek(from).await?;
        let mut pieces = VecDeque::new();
        loop {
            let data = self.source.next(PIECE).await?;
            if data.is_empty() {
                return Ok(pieces);
            }
            pieces.push_back(data);
        }
    }

    pub(super) async fn send(&self, from: u64, activity: &Arc<Activity>) -> Prepared<Step> {
        let session = self.session().ok_or_else(no_session)?;
        let (granularity, mut is_apart) = (session.granularity, false);
        let (can_seek, size) = {
            let mut source = self.source.lock();
            // Bodies of attempts before this one read no more.
            source.lend();
            (source.can_seek(), source.size())
        };
        let to = if let Some(size) = size.filter(|_| can_seek) {
            self.source.seek(from).await?;
            is_apart = {
                let source = self.source.lock();
                self.dialect == Dialect::Storage && source.is_hashing() && source.sums().is_none()
            };
            extent(from, size, granularity, self.chunk(granularity), is_apart)
        } else {
            let chunk = self.chunk(granularity).unwrap_or(CHUNK.max(granularity) / granularity * granularity);
            // One byte more shows whether the chunk is the last.
            self.source.fill(from, from.saturating_add(chunk).saturating_add(1)).await?;
            self.source.seek(from).await?;
            self.source.lock().read_so_far().0.min(from.saturating_add(chunk)).max(from)
        };
        let body = if is_apart && Some(to) == size {
            UploadBody::of(self.read_all(from).await?, activity)
        } else {
            if can_seek && to == from {
                // Nothing is left to be read: this is where the source has to end.
                self.source.next(1).await?;
            }
            UploadBody::streamed(&self.source, to.saturating_sub(from), activity)
        };
        let (total, sums) = self.source.known();
        let is_last = total == Some(to) && (can_seek || self.source.lock().read_so_far().1);
        let request = match self.dialect {
            Dialect::Storage => storage::send(&session, from, to, total, sums.filter(|_| is_last)),
            Dialect::Universal => universal::send(&session, from, is_last),
        };
        Ok((
            Step::Send { from, to, total },
            self.of_session(&session, request, body.carrying(0, (from, to), &self.sent))?,
        ))
    }

    pub(super) fn start(&self, activity: &Arc<Activity>) -> Prepared<Step> {
        let (size, sums) = self.source.known();
        let (request, metadata) = match self.dialect {
            Dialect::Storage => storage::start(&self.options, size, sums),
            Dialect::Universal => universal::start(&self.options, size),
        };
        let pieces = Some(metadata).filter(|metadata| !metadata.is_empty()).into_iter().collect();
        Ok((Step::Start, self.finished(request, UploadBody::of(pieces, activity))?))
    }

    /// Looks whether the object is there.
    pub(super) fn look(&self) -> Prepared<Step> {
        let request = storage::resource(&self.options).ok_or_else(no_session)?;
        Ok((Step::Look, self.finished(request, None)?))
    }

    /// Returns whether it can be looked for, and recognised by its checksum.
    fn can_look(&self) -> bool {
        storage::resource(&self.options).is_some() && self.source.lock().sums().is_some()
    }

    pub(super) fn query(&self, confirms: bool) -> Prepared<Step> {
        let session = self.session().ok_or_else(no_session)?;
        let request = match self.dialect {
            Dialect::Storage => storage::query(&session, self.source.lock().size(), confirms),
            Dialect::Universal => universal::query(&session),
        };
        Ok((Step::Query { confirms }, self.of_session(&session, request, None)?))
    }

    /// An attempt failed so: the session is of no use any more where the server has made another object of it, or refuses to make one.
    pub(super) fn failed(&self, failure: &Failure) {
        let refused = failure.response.as_ref().is_some_and(|response| {
            let is_active = self.dialect == Dialect::Universal && universal::is_active(response.headers());
            [400, 404, 410, 412].contains(&response.status().as_u16()) && !is_active
        });
        let is_over =
            matches!(failure.kind, TransferErrorKind::Cancelled | TransferErrorKind::ChecksumMismatch);
        self.is_spent.store(refused || is_over, Ordering::Relaxed);
    }

    /// The request that cancels the session; `None`: there is none.
    pub(super) fn cancel(&self) -> Option<Request<ReplayBody>> {
        cancel(&self.session()?, &self.options.request.uri, &self.options.session_headers()).ok()
    }
}

/// The request that cancels a session, with those of the headers that go there from the origin of that URI.
pub(super) fn cancel(
    session: &UploadSession,
    origin: &Uri,
    headers: &HeaderMap,
) -> Result<Request<ReplayBody>, Failure> {
    let request = match session.dialect {
        Dialect::Storage => storage::cancel(session),
        Dialect::Universal => universal::cancel(session).header(CONTENT_LENGTH, 0),
    };
    let mut request = request.body(ReplayBody::empty()).map_err(unsendable)?;
    let is_own = session.is_own_origin(origin, request.uri());
    add_headers(&mut request, headers, is_own);
    Ok(request)
}

fn unsendable(error: http::Error) -> Failure {
    Failure::new(TransferErrorKind::Invalid, "the request can't be made").with_source(error)
}

fn no_session() -> Failure {
    Failure::malformed("the upload has no session")
}
