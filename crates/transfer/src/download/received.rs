//! The part of a download that has been received.

use crate::checksum::{ChecksumValues, Checksums, Hasher};
use crate::download::head::{Decision, Position, Version};
use crate::download::options::DownloadOptions;
use crate::download::sink::Sink;
use crate::download::state::{DownloadState, StoredRange};
use crate::error::{Failure, TransferErrorKind};
use crate::exchange::{End, Incoming};
use bytes::Bytes;
use gax_driver::__private::Locked;
use gax_http::__private::EndedEarly;
use http::HeaderValue;
use std::future::poll_fn;
use std::sync::{Arc, MutexGuard};

/// How far a download has come.
pub(super) struct Progress<'a> {
    pub(super) sink: Sink<'a>,
    pub(super) position: Position,
    /// The head of the first response of the object.
    pub(super) head: Option<http::response::Parts>,
    /// The checksums that the server names.
    pub(super) sums: ChecksumValues,
    /// The consequence of the last head.
    pub(super) decision: Option<Decision>,
    /// Which range of the state file it is.
    pub(super) place: usize,
    /// Up to where the state file has it.
    saved: u64,
}

/// After so many bytes the state file is written again.
const SAVE_EVERY: u64 = 16 * 1024 * 1024;

impl Progress<'_> {
    /// The position, as the sink has it.
    pub(super) fn position(&self) -> Position {
        let is_verified = self.position.is_verified || self.sums.has_common(self.sink.hasher().sums());
        Position { offset: self.sink.offset(), is_verified, ..self.position.clone() }
    }

    /// Returns whether everything is there, as its length and a checksum prove, however the response ends.
    fn is_proved(&self) -> bool {
        let (offset, written) = (self.sink.offset(), self.sink.hasher());
        if self.position.total != Some(offset) || written.bytes() != offset {
            return false;
        }
        let sums = written.sums();
        sums.has_common(self.sums) && sums.difference(self.sums).is_none()
    }

    /// An earlier process has left some of it.
    pub(super) fn resume(&mut self, stored: &DownloadState) {
        let version = stored.version();
        self.position.naming = version.naming();
        self.position.version = Some(version);
        self.position.total = stored.total;
        self.sums = stored.sums();
    }

    /// A response that is of use: the object is known from now on.
    pub(super) fn learn(&mut self, head: &http::response::Parts, total: Option<u64>) {
        let version = Version::of(&head.headers);
        if !version.is_transcoded {
            self.sums = self.sums.or(ChecksumValues::in_headers(&head.headers));
        }
        self.position.total = self.position.total.or(total);
        self.position.naming = self.position.naming.max(version.naming());
        self.position.version.get_or_insert(version);
        if self.head.is_none() {
            self.head = Some(head.clone());
        }
    }

    /// The bytes so far are of no use.
    pub(super) fn forget(&mut self) {
        self.sink.rewind();
        self.position.version = None;
        self.position.total = None;
        self.position.is_restarted = true;
        self.saved = 0;
        self.head = None;
        self.sums = ChecksumValues::default();
    }

    /// The range as the state file has it.
    pub(super) fn range(&self) -> StoredRange {
        let (begin, offset) = (self.position.offset, self.sink.offset());
        let end = Some(self.position.limit.unwrap_or(offset));
        StoredRange { begin, end, ..StoredRange::default() }.reaching(self.sink.hasher())
    }

    /// The state by which another process resumes it; `None`: none can.
    pub(super) fn stored(
        &self,
        options: &DownloadOptions,
        ranges: Vec<StoredRange>,
    ) -> Option<DownloadState> {
        let version = self.position.version.as_ref().filter(|version| version.is_resumable())?;
        let text = |value: &Option<HeaderValue>| value.as_ref()?.to_str().ok().map(str::to_owned);
        Some(DownloadState {
            request: options.name.clone(),
            generation: version.generation,
            etag: text(&version.etag),
            encoding: text(&version.encoding),
            total: self.position.total,
            hash: self.sums.header(),
            ranges,
        })
    }
}

#[derive(Clone)]
pub(super) struct SharedProgress<'a>(Arc<Locked<Progress<'a>>>);

impl<'a> SharedProgress<'a> {
    pub(super) fn new(sink: Sink<'a>, position: Position, place: usize) -> Self {
        let (sums, saved) = (ChecksumValues::default(), sink.offset());
        let progress = Progress { sink, position, head: None, sums, decision: None, place, saved };
        Self(Arc::new(Locked::new(progress)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Progress<'a>> {
        self.0.lock()
    }

    /// Opens the file, if it has to be.
    pub(super) async fn open(&self) -> Result<(), Failure> {
        let opening = self.lock().sink.opening();
        if let Some(opening) = opening {
            let opened = opening.await?;
            self.lock().sink.opened(opened);
        }
        Ok(())
    }

    /// Reads the body of a response into the sink. The state file says how far it came.
    pub(super) async fn receive(
        &self,
        options: &DownloadOptions,
        body: &mut Incoming,
        (skip, end): (u64, Option<u64>),
    ) -> End {
        let received = self.read(options, body, skip, end).await.err().unwrap_or(End::Whole);
        let position = self.lock().position();
        let is_saved = match received {
            // More is requested immediately.
            End::Whole => position.end().is_some_and(|end| position.offset < end),
            End::Failed(_) => true,
            End::Early(_) => false,
        };
        if is_saved {
            return received;
        }
        self.save(options).await.map_or_else(End::Failed, |()| received)
    }

    /// Writes into the state file how far it has come.
    async fn save(&self, options: &DownloadOptions) -> Result<(), Failure> {
        let Some(state) = &options.state else { return Ok(()) };
        poll_fn(|cx| self.lock().sink.poll_flush(cx)).await?;
        let (place, hasher) = {
            let mut progress = self.lock();
            progress.saved = progress.sink.offset();
            (progress.place, progress.sink.hasher().clone())
        };
        state.reach(place, &hasher).await
    }

    async fn read(
        &self,
        options: &DownloadOptions,
        body: &mut Incoming,
        mut skip: u64,
        end: Option<u64>,
    ) -> Result<(), End> {
        let mut prefix = Hasher::new(Checksums::CRC32C);
        loop {
            let position = self.lock().position();
            if position.limit.is_some_and(|limit| position.offset >= limit) {
                break;
            }
            let is_proved = self.lock().is_proved();
            let mut data = match body.next(is_proved).await {
                Some(Ok(data)) => data,
                Some(Err(early)) if !is_proved => return Err(End::Early(early)),
                None | Some(Err(_)) => break,
            };
            let skipped = data.split_to(usize::try_from(skip).unwrap_or(usize::MAX).min(data.len()));
            if !skipped.is_empty() {
                prefix.update(&skipped);
                skip -= skipped.len() as u64;
                if skip == 0 && !self.has_prefix(&prefix) {
                    return Err(changed().into());
                }
            }
            self.clip(&mut data, end)?;
            poll_fn(|cx| self.lock().sink.poll_write(&mut data, cx)).await?;
            let is_due = {
                let progress = self.lock();
                progress.sink.offset() - progress.saved >= SAVE_EVERY
            };
            if is_due {
                self.save(options).await?;
            }
        }
        poll_fn(|cx| self.lock().sink.poll_flush(cx)).await?;
        let progress = self.lock();
        let offset = progress.sink.offset();
        let is_short =
            skip > 0 || progress.position.limit.into_iter().chain(end).min().is_some_and(|end| offset < end);
        if is_short {
            let problem = format!("the response ended at byte {offset} and is incomplete");
            return Err(End::Early(EndedEarly::Broke(problem.into())));
        }
        Ok(())
    }

    /// Returns whether a prefix that came again is the one that was written. Only if that begins at the first byte and was hashed it is
    /// known; otherwise the object's version says so.
    fn has_prefix(&self, prefix: &Hasher) -> bool {
        let progress = self.lock();
        let written = progress.sink.hasher();
        written.bytes() != prefix.bytes() || prefix.sums().difference(written.sums()).is_none()
    }

    /// Cuts off what is not wanted. A server that sends more than it has announced is rejected.
    fn clip(&self, data: &mut Bytes, end: Option<u64>) -> Result<(), Failure> {
        let progress = self.lock();
        let offset = progress.sink.offset();
        let reaches = offset.saturating_add(data.len() as u64);
        if end.is_some_and(|end| reaches > end) {
            return Err(Failure::malformed("the server sent more bytes than it announced"));
        }
        progress.sink.check_length(reaches.max(progress.position.total.unwrap_or(0)))?;
        if let Some(limit) = progress.position.limit {
            data.truncate(usize::try_from(limit.saturating_sub(offset)).unwrap_or(usize::MAX));
        }
        Ok(())
    }
}

pub(super) fn changed() -> Failure {
    Failure::new(TransferErrorKind::ObjectChanged, "the object was replaced while it was received")
}

/// The checksum of that name is another one than the server's.
pub(super) fn mismatch(name: &str) -> Failure {
    let problem = format!("the {name} of the received bytes is not that of the object");
    Failure::new(TransferErrorKind::ChecksumMismatch, problem)
}
