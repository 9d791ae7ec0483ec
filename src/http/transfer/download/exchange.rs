//! The requests of a download, and what follows from their responses.

use crate::http::ReplayBody;
use crate::http::transfer::activity::Activity;
use crate::http::transfer::checksum::{Hasher, Sums};
use crate::http::transfer::download::head::{Decision, Position, Version};
use crate::http::transfer::download::sink::Sink;
use crate::http::transfer::error::{Failure, TransferErrorKind};
use crate::http::transfer::exchange::{Boxed, Class, End, Ending, Exchange, Incoming, Received};
use crate::http::transfer::origin::{headers_for, hide_secrets, resolved};
use crate::http::transfer::progress::{TransferProgress, TransferReport};
use crate::http::transfer::protocol::ended_early;
use crate::http::transfer::request::add_query;
use crate::http::transfer::state_file::StateFile;
use bytes::Bytes;
use gax_retry::Code;
use gax_retry::http::HttpFailure;
use http::header::{ACCEPT_ENCODING, IF_RANGE, RANGE};
use http::request::Parts;
use http::{HeaderValue, Request, StatusCode, Uri};
use serde::{Deserialize, Serialize};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Redirects in a row, more of which are a loop.
const MOST_REDIRECTS: u32 = 10;

/// All that the requests of a download have in common.
pub(super) struct DownloadOptions {
    /// The caller's request.
    pub(super) request: Parts,
    /// Whether the object's generation can be asked for in the query.
    pub(super) has_generations: bool,
    /// Whether the bytes are wanted as they are stored.
    pub(super) is_stored: bool,
    pub(super) state: Option<StateFile>,
}

/// A download in a state file.
#[derive(Serialize, Deserialize)]
pub(super) struct DownloadState {
    /// The request that it began with.
    pub(super) request: String,
    pub(super) generation: Option<i64>,
    pub(super) etag: Option<String>,
    encoding: Option<String>,
    pub(super) total: Option<u64>,
    /// The checksums of the object, as `x-goog-hash` has them.
    hash: Option<String>,
}

impl DownloadState {
    pub(super) fn version(&self) -> Version {
        Version::stored(self.generation, self.etag.as_deref(), self.encoding.as_deref())
    }

    pub(super) fn sums(&self) -> Sums {
        Sums::in_text(self.hash.iter().map(String::as_str))
    }
}

/// How far a download has come.
pub(super) struct Progress<'a> {
    pub(super) sink: Sink<'a>,
    pub(super) position: Position,
    /// The head of the first response of the object.
    pub(super) head: Option<http::response::Parts>,
    /// The checksums that the server names.
    pub(super) sums: Sums,
    /// What follows from the last head.
    decision: Option<Decision>,
}

impl Progress<'_> {
    /// The position, as the sink has it.
    fn position(&self) -> Position {
        Position { offset: self.sink.offset(), ..self.position.clone() }
    }

    /// An earlier process has left some of it.
    pub(super) fn go_on(&mut self, stored: &DownloadState) {
        self.position.version = Some(stored.version());
        self.position.total = stored.total;
        self.sums = stored.sums();
    }

    /// A response that is of use: the object is known from now on.
    fn learn(&mut self, head: &http::response::Parts, total: Option<u64>) {
        let version = Version::of(&head.headers);
        if !version.is_transcoded {
            self.sums = self.sums.or(Sums::in_headers(&head.headers));
        }
        self.position.total = self.position.total.or(total);
        self.position.version.get_or_insert(version);
        if self.head.is_none() {
            self.head = Some(head.clone());
        }
    }

    /// The bytes so far are of no use.
    fn forget(&mut self) {
        self.sink.rewind();
        self.position.version = None;
        self.position.total = None;
        self.head = None;
        self.sums = Sums::default();
    }
}

#[derive(Clone)]
pub(super) struct SharedProgress<'a>(Arc<Mutex<Progress<'a>>>);

impl<'a> SharedProgress<'a> {
    pub(super) fn new(sink: Sink<'a>, position: Position) -> Self {
        let progress = Progress { sink, position, head: None, sums: Sums::default(), decision: None };
        Self(Arc::new(Mutex::new(progress)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Progress<'a>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the file, if it has to be.
    async fn open(&self) -> Result<(), Failure> {
        let unopened = self.lock().sink.unopened();
        if let Some(unopened) = unopened {
            let opened = unopened.open().await?;
            self.lock().sink.opened(opened);
        }
        Ok(())
    }

    /// Reads the body of a response into the sink.
    async fn receive(&self, body: &mut Incoming, mut skip: u64, end: Option<u64>) -> End {
        let mut prefix = Hasher::new(crate::http::transfer::Checksums::CRC32C);
        loop {
            let position = self.lock().position();
            if position.limit.is_some_and(|limit| position.offset >= limit) {
                break;
            }
            let mut data = match body.next().await {
                None => break,
                Some(Ok(data)) => data,
                Some(Err(end)) => return end,
            };
            if skip > 0 {
                let skipped = data.split_to(usize::try_from(skip).unwrap_or(usize::MAX).min(data.len()));
                prefix.update(&skipped);
                skip -= skipped.len() as u64;
                if skip == 0 && !self.has_prefix(&prefix) {
                    return End::Failed(changed());
                }
            }
            if let Some(failure) = self.clip(&mut data, end) {
                return End::Failed(failure);
            }
            if let Err(failure) = poll_fn(|cx| self.lock().sink.poll_write(&mut data, cx)).await {
                return End::Failed(failure);
            }
        }
        if let Err(failure) = poll_fn(|cx| self.lock().sink.poll_flush(cx)).await {
            return End::Failed(failure);
        }
        let progress = self.lock();
        let offset = progress.sink.offset();
        let is_short =
            skip > 0 || progress.position.limit.into_iter().chain(end).min().is_some_and(|end| offset < end);
        if is_short {
            return End::Broken(format!("the response ended at byte {offset} and is not whole").into());
        }
        End::Whole
    }

    /// Whether a prefix that came again is the one that was written. Only where that begins at the first byte and was hashed it is
    /// known; otherwise the object's version says so.
    fn has_prefix(&self, prefix: &Hasher) -> bool {
        let progress = self.lock();
        let written = progress.sink.hasher();
        written.bytes() != prefix.bytes() || prefix.sums().difference(written.sums()).is_none()
    }

    /// Cuts off what is not wanted. A server that sends more than it has announced is not believed.
    fn clip(&self, data: &mut Bytes, end: Option<u64>) -> Option<Failure> {
        let progress = self.lock();
        let offset = progress.sink.offset();
        let reaches = offset.saturating_add(data.len() as u64);
        if end.is_some_and(|end| reaches > end) {
            return Some(Failure::malformed("the server sent more bytes than it announced"));
        }
        if let Some(limit) = progress.position.limit.filter(|limit| reaches > *limit) {
            data.truncate(usize::try_from(limit.saturating_sub(offset)).unwrap_or(usize::MAX));
        }
        None
    }
}

fn changed() -> Failure {
    Failure::new(TransferErrorKind::ObjectChanged, "the object was replaced while it was received")
}

/// A download, between its requests.
pub(super) struct DownloadExchange<'a> {
    options: Arc<DownloadOptions>,
    progress: SharedProgress<'a>,
    name: String,
    /// Where a redirect leads.
    redirected: Option<Uri>,
    redirects: u32,
    /// The place of the first byte.
    begin: u64,
    /// The most bytes that were ever written.
    best: u64,
    is_interrupted: bool,
    resumptions: u32,
}

impl<'a> DownloadExchange<'a> {
    pub(super) fn new(options: &Arc<DownloadOptions>, progress: SharedProgress<'a>) -> Self {
        let request = &options.request;
        let name = format!("{} {}", request.method, request.uri.path());
        let best = progress.lock().sink.offset();
        let begin = progress.lock().position.offset;
        Self {
            options: Arc::clone(options),
            progress,
            name,
            redirected: None,
            redirects: 0,
            best,
            begin,
            is_interrupted: best > begin,
            resumptions: 0,
        }
    }

    /// Whether there are more bytes than ever.
    fn has_progressed(&mut self) -> bool {
        let offset = self.progress.lock().sink.offset();
        let has_progressed = offset > self.best;
        self.best = self.best.max(offset);
        if has_progressed {
            self.redirects = 0;
        }
        has_progressed
    }

    /// The attempt failed with the body under way.
    fn interrupt(&mut self) {
        self.is_interrupted = self.progress.lock().sink.offset() > self.begin;
        self.redirected = None;
    }

    /// The bytes so far are of another object, or of one that nobody can go on with.
    fn anew(&mut self, received: Option<Received>) -> Ending {
        self.interrupt();
        let failure = match received {
            Some(received) => changed().with_response(received.into_response()),
            None => changed(),
        };
        let mut progress = self.progress.lock();
        if !progress.sink.can_rewind() {
            return Ending::last(Code::Aborted, failure);
        }
        progress.forget();
        Ending::Failed { failure, class: Class::Always(Code::Aborted), progress: false }
    }

    /// The checksums, now that nothing is missing.
    fn whole(&mut self, head: http::response::Parts) -> Ending {
        let mut progress = self.progress.lock();
        if !Version::of(&head.headers).is_transcoded {
            progress.sums = progress.sums.or(Sums::in_headers(&head.headers));
        }
        let written = progress.sink.hasher();
        let is_all = progress.position.limit.is_none() && written.bytes() == progress.sink.offset();
        let difference = written.sums().difference(progress.sums).filter(|_| is_all);
        drop(progress);
        match difference {
            None => Ending::Done(Box::new(http::Response::from_parts(head, Bytes::new()))),
            Some(name) => {
                let problem = format!("the {name} of what was received is not that of the object");
                Ending::last(Code::DataLoss, Failure::new(TransferErrorKind::ChecksumMismatch, problem))
            }
        }
    }

    fn redirect(&mut self, received: Received) -> Ending {
        let base = self.redirected.as_ref().unwrap_or(&self.options.request.uri);
        let location = received.head.headers.get(http::header::LOCATION);
        let target = location.and_then(|location| resolved(base, location));
        self.redirects += 1;
        let problem = match target {
            Some(target) if self.redirects <= MOST_REDIRECTS => {
                self.redirected = Some(target);
                return Ending::NotDone { progress: true };
            }
            Some(_) => "the server redirects in a loop",
            None => "the server redirects to a place that no request goes to",
        };
        let failure = Failure::malformed(problem).with_response(received.into_response());
        Ending::last(Code::Internal, failure)
    }
}

/// The request of an attempt.
fn request(options: &DownloadOptions, target: Option<&Uri>, position: &Position) -> Request<ReplayBody> {
    let first = &options.request.uri;
    let mut uri = target.unwrap_or(first).clone();
    let range = position.range();
    let version = position.version.as_ref().filter(|_| range.is_some());
    if let Some(generation) = version.and_then(|version| version.generation)
        && options.has_generations
        && target.is_none()
    {
        uri = add_query(&uri, "generation", &generation.to_string());
    }
    let mut request = Request::new(ReplayBody::empty());
    *request.method_mut() = options.request.method.clone();
    *request.headers_mut() = headers_for(&options.request.headers, first, &uri);
    *request.uri_mut() = uri;
    *request.version_mut() = options.request.version;
    let headers = request.headers_mut();
    // Compressed on the way, ranges are of other bytes.
    headers.remove(ACCEPT_ENCODING);
    headers.remove(RANGE);
    if options.is_stored {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(range) = range.and_then(|range| HeaderValue::try_from(range).ok()) {
        headers.insert(RANGE, range);
        if let Some(etag) = version.and_then(|version| version.etag.clone()) {
            headers.insert(IF_RANGE, etag);
        }
    }
    request
}

impl<'a> Exchange<'a> for DownloadExchange<'a> {
    type Step = ();

    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&mut self, _: &Arc<Activity>) -> Boxed<'a, Result<((), Request<ReplayBody>), Failure>> {
        if std::mem::take(&mut self.is_interrupted) {
            self.resumptions = self.resumptions.saturating_add(1);
        }
        let (options, progress, target) =
            (Arc::clone(&self.options), self.progress.clone(), self.redirected.clone());
        Box::pin(async move {
            progress.open().await?;
            let position = progress.lock().position();
            Ok(((), request(&options, target.as_ref(), &position)))
        })
    }

    fn read(&mut self, (): (), mut head: http::response::Parts, mut body: Incoming) -> Boxed<'a, Received> {
        let (options, progress) = (Arc::clone(&self.options), self.progress.clone());
        Box::pin(async move {
            let decision = {
                let mut progress = progress.lock();
                let decision = progress.position().decide(head.status, &head.headers);
                progress.decision = Some(decision);
                decision
            };
            hide_secrets(&mut head.headers);
            let Decision::Body { skip, end, total } = decision else {
                let (content, end) = body.collect().await;
                return Received { head, content, end };
            };
            let is_new = {
                let mut progress = progress.lock();
                progress.learn(&head, total);
                if skip == 0 && head.status != StatusCode::PARTIAL_CONTENT {
                    // A server that knows no ranges sends all of it at once.
                    progress.position.limit = None;
                }
                progress.sink.offset() == 0
            };
            if let Some(state) = options.state.as_ref().filter(|_| is_new) {
                let stored = progress.lock().stored(&options);
                if let Some(stored) = stored
                    && let Err(failure) = state.save(&stored).await
                {
                    return Received { head, content: Bytes::new(), end: End::Failed(failure) };
                }
            }
            let end = progress.receive(&mut body, skip, end).await;
            Received { head, content: Bytes::new(), end }
        })
    }

    fn received(&mut self, (): (), received: Received) -> Ending {
        let Received { head, content, end } = received;
        let progress = self.has_progressed();
        if let End::Failed(failure) = end {
            if failure.kind == TransferErrorKind::ObjectChanged {
                return self.anew(None);
            }
            let class = Class::Never(if failure.kind == TransferErrorKind::Malformed {
                Code::Internal
            } else {
                Code::FailedPrecondition
            });
            return Ending::Failed { failure, class, progress };
        }
        let (position, decision) = {
            let mut progress = self.progress.lock();
            (progress.position(), progress.decision.take())
        };
        let received = Received { head, content, end: End::Whole };
        match decision {
            Some(Decision::Body { .. }) => {
                if let Some(early) = ended_early(end, progress) {
                    self.interrupt();
                    return early;
                }
                let is_whole = match position.end() {
                    Some(end) => position.offset >= end,
                    None => received.head.status.as_u16() != 206,
                };
                if is_whole { self.whole(received.head) } else { Ending::NotDone { progress } }
            }
            Some(Decision::Whole) => self.whole(received.head),
            Some(Decision::Anew) => self.anew(Some(received)),
            Some(Decision::Redirect) => self.redirect(received),
            Some(Decision::Malformed(problem)) => {
                let failure = Failure::malformed(problem).with_response(received.into_response());
                Ending::last(Code::Internal, failure)
            }
            Some(Decision::Failed) | None => {
                self.interrupt();
                let status = received.head.status.as_u16();
                let failure = Failure::status(received.into_response());
                let is_gone = position.offset > 0 && matches!(status, 404 | 412);
                let failure = if is_gone {
                    Failure { kind: TransferErrorKind::ObjectChanged, ..failure }
                } else {
                    failure
                };
                Ending::Failed { failure, class: Class::As(HttpFailure::Status(status)), progress }
            }
        }
    }

    fn lost(&mut self, _: Option<()>) -> (bool, Option<Failure>) {
        let progress = self.has_progressed();
        self.interrupt();
        (progress, None)
    }

    fn progress(&self, _: &Activity) -> TransferProgress {
        let progress = self.progress.lock();
        TransferProgress {
            bytes: progress.sink.offset().saturating_sub(self.begin),
            total: progress.position.total,
            resumptions: self.resumptions,
        }
    }

    fn summary(&self) -> TransferReport {
        let bytes = self.progress.lock().sink.offset().saturating_sub(self.begin);
        TransferReport { bytes, resumptions: self.resumptions }
    }
}

impl Progress<'_> {
    /// What it takes to go on in another process; `None`: nothing can.
    fn stored(&self, options: &DownloadOptions) -> Option<DownloadState> {
        let version = self.position.version.as_ref().filter(|version| version.is_resumable())?;
        let text = |value: &Option<HeaderValue>| value.as_ref()?.to_str().ok().map(str::to_owned);
        Some(DownloadState {
            request: options.request.uri.to_string(),
            generation: version.generation,
            etag: text(&version.etag),
            encoding: text(&version.encoding),
            total: self.position.total,
            hash: self.sums.header(),
        })
    }
}
