//! The requests of a download, and what follows from their responses.

use crate::activity::Activity;
use crate::checksum::ChecksumValues;
use crate::download::head::{Decision, Position, Version};
use crate::download::options::{DownloadOptions, is_pinned, request};
use crate::download::received::{SharedProgress, changed, mismatch};
use crate::download::state::StoredRange;
use crate::error::{Failure, TransferErrorKind};
use crate::exchange::{Boxed, Class, End, Ending, Exchange, Incoming, Prepared, Received};
use crate::origin::{hide_secrets, resolved};
use crate::progress::TransferProgress;
use bytes::Bytes;
use gax_retry::Code;
use http::{StatusCode, Uri};
use std::sync::Arc;

/// Redirects in a row, more of which are a loop.
const MAX_REDIRECTS: u32 = 10;

/// A download, between its requests.
pub(super) struct DownloadExchange<'a> {
    options: Arc<DownloadOptions>,
    progress: SharedProgress<'a>,
    /// Where a redirect leads.
    redirected: Option<Uri>,
    redirects: u32,
    /// The place of the first byte.
    begin: u64,
    /// The most bytes that were ever written.
    best: u64,
    /// `true` if an attempt has failed since bytes came.
    has_failed: bool,
    is_interrupted: bool,
    resumptions: u32,
}

impl<'a> DownloadExchange<'a> {
    pub(super) fn new(options: &Arc<DownloadOptions>, progress: SharedProgress<'a>) -> Self {
        let best = progress.lock().sink.offset();
        let begin = progress.lock().position.offset;
        Self {
            options: Arc::clone(options),
            progress,
            redirected: None,
            redirects: 0,
            best,
            begin,
            has_failed: false,
            is_interrupted: best > begin,
            resumptions: 0,
        }
    }

    /// Returns whether there are more bytes than ever.
    fn has_progressed(&mut self) -> bool {
        let offset = self.progress.lock().sink.offset();
        let has_progressed = offset > self.best;
        self.best = self.best.max(offset);
        if has_progressed {
            (self.redirects, self.has_failed) = (0, false);
        }
        has_progressed
    }

    /// The attempt failed with the body under way.
    fn interrupt(&mut self) {
        self.is_interrupted = self.progress.lock().sink.offset() > self.begin;
        (self.redirected, self.redirects, self.has_failed) = (None, 0, true);
    }

    /// The bytes so far are of another object, or may be.
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
            progress.sums = progress.sums.or(ChecksumValues::in_headers(&head.headers));
        }
        let written = progress.sink.hasher();
        let is_all = progress.position.limit.is_none() && written.bytes() == progress.sink.offset();
        let difference = written.sums().difference(progress.sums).filter(|_| is_all);
        drop(progress);
        match difference {
            None => Ending::Done(Box::new(http::Response::from_parts(head, Bytes::new()))),
            Some(name) => Ending::last(Code::DataLoss, mismatch(name)),
        }
    }

    fn redirect(&mut self, received: Received) -> Ending {
        let base = self.redirected.as_ref().unwrap_or(&self.options.request.uri);
        let location = received.head.headers.get(http::header::LOCATION);
        let target = location.and_then(|location| resolved(base, location));
        self.redirects += 1;
        let problem = match target {
            Some(target) if self.redirects <= MAX_REDIRECTS => {
                self.redirected = Some(target);
                // To be redirected to a server that fails, again and again, is not progress.
                return Ending::NotDone { progress: !self.has_failed };
            }
            Some(_) => "the server redirects in a loop",
            None => "the server redirects to a place that requests may not go to",
        };
        let failure = Failure::malformed(problem).with_response(received.into_response());
        Ending::last(Code::Internal, failure)
    }
}

impl<'a> Exchange<'a> for DownloadExchange<'a> {
    type Step = ();

    fn prepare(&mut self, _: &Arc<Activity>) -> Boxed<'a, Prepared<()>> {
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
        let (options, progress, target) =
            (Arc::clone(&self.options), self.progress.clone(), self.redirected.clone());
        Box::pin(async move {
            let decision = {
                let mut progress = progress.lock();
                let position = progress.position();
                let is_pinned = is_pinned(&options, target.as_ref(), &position);
                let decision = Position { is_pinned, ..position }.decide(head.status, &head.headers);
                progress.decision = Some(decision);
                decision
            };
            hide_secrets(&mut head.headers);
            let Decision::Body { skip, end, total } = decision else {
                return body.collect(head).await;
            };
            let is_new = {
                let mut progress = progress.lock();
                progress.learn(&head, total);
                if skip == 0 && end == total {
                    // A server that knows no ranges sends all of it at once.
                    progress.position.limit = None;
                }
                progress.sink.offset() == 0
            };
            let begun = match options.state.as_ref().filter(|_| is_new) {
                Some(state) => {
                    let stored = progress.lock().stored(&options, vec![StoredRange::default()]);
                    state.set(stored).await
                }
                None => Ok(()),
            };
            let end = match begun {
                Ok(()) => progress.receive(&options, &mut body, (skip, end)).await,
                Err(failure) => End::Failed(failure),
            };
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
            let is_malformed = failure.kind == TransferErrorKind::Malformed;
            let code = if is_malformed { Code::Internal } else { Code::FailedPrecondition };
            return Ending::Failed { failure, class: Class::Never(code), progress };
        }
        let (position, decision) = {
            let mut progress = self.progress.lock();
            (progress.position(), progress.decision.take())
        };
        let received = Received { head, content, end: End::Whole };
        match decision {
            Some(Decision::Body { .. }) => {
                if let End::Early(why) = end {
                    self.interrupt();
                    return Ending::Early { why, progress };
                }
                let is_whole = match position.end() {
                    Some(end) => position.offset >= end,
                    None => received.head.status != StatusCode::PARTIAL_CONTENT,
                };
                if is_whole { self.whole(received.head) } else { Ending::NotDone { progress } }
            }
            Some(Decision::Whole) => {
                self.progress.lock().position.total.get_or_insert(position.offset);
                self.whole(received.head)
            }
            Some(Decision::Anew) => self.anew(Some(received)),
            Some(Decision::Unranged) => {
                self.progress.lock().position.limit = None;
                Ending::NotDone { progress: true }
            }
            Some(Decision::Unproved(problem)) => {
                self.interrupt();
                let failure = Failure::malformed(problem).with_response(received.into_response());
                Ending::Failed { failure, class: Class::Always(Code::Unavailable), progress }
            }
            Some(Decision::Redirect) => self.redirect(received),
            Some(Decision::Malformed(problem)) => {
                let failure = Failure::malformed(problem).with_response(received.into_response());
                Ending::last(Code::Internal, failure)
            }
            Some(Decision::Failed) | None => {
                self.interrupt();
                let status = received.head.status.as_u16();
                let generation = position.version.and_then(|version| version.generation);
                let is_pinned = self.options.has_generations() && generation.is_some();
                if status == 404 && position.offset > 0 && is_pinned {
                    // The requested generation is gone. There may be another one.
                    return self.anew(Some(received));
                }
                let mut failure = Failure::status(received.into_response());
                if position.offset > 0 && matches!(status, 404 | 412) {
                    failure.kind = TransferErrorKind::ObjectChanged;
                }
                Ending::Failed { failure, class: Class::ByStatus, progress }
            }
        }
    }

    fn lost(&mut self, _: Option<()>) -> (bool, Option<Failure>) {
        let progress = self.has_progressed();
        self.interrupt();
        (progress, None)
    }

    fn progress(&self, _: u64) -> TransferProgress {
        let progress = self.progress.lock();
        TransferProgress {
            bytes: progress.sink.offset().saturating_sub(self.begin),
            total: progress.position.total,
            resumptions: self.resumptions,
        }
    }
}
