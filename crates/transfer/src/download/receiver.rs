//! Downloads on their way, in one range or in several at once.

use crate::checksum::{Checksums, Hasher};
use crate::download::exchange::DownloadExchange;
use crate::download::file::PartialFile;
use crate::download::head::{Position, Version};
use crate::download::options::DownloadOptions;
use crate::download::received::{SharedProgress, mismatch};
use crate::download::sink::{Sink, hash_part};
use crate::download::state::{DownloadState, StoredRange};
use crate::error::{Failure, TransferError};
use crate::exchange::Boxed;
use crate::progress::TransferProgress;
use crate::protocol::{Ended, OnProgress, TransferProtocol};
use crate::service::TransferService;
use crate::transferred::Transferred;
use bytes::Bytes;
use futures_util::future::try_join_all;
use gax_driver::__private::Locked;
use gax_http::__private::{HttpConfig, LayeredClient};
use std::sync::Arc;
use std::time::Duration;

/// The most bytes of the range that shows how long the object is.
const PROBE: u64 = 256 * 1024;

/// All that it takes to receive a download.
pub(super) struct Receiver<'a, S> {
    pub(super) client: LayeredClient<S>,
    pub(super) config: Arc<HttpConfig>,
    pub(super) options: Arc<DownloadOptions>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) on_progress: Option<OnProgress<'a>>,
    pub(super) checksums: Checksums,
}

impl<'a, S: TransferService> Receiver<'a, S> {
    pub(super) fn progress(&self, sink: Sink<'a>) -> SharedProgress<'a> {
        let position = Position {
            is_object: self.options.is_object,
            is_stored: self.options.is_stored,
            generation: self.options.generation,
            is_hashed: self.checksums.crc32c,
            ..Position::default()
        };
        SharedProgress::new(sink, position, 0)
    }

    /// Receives all of it, or one range, in one operation.
    pub(super) fn range(
        &self,
        progress: SharedProgress<'a>,
        on_progress: Option<OnProgress<'a>>,
    ) -> Boxed<'a, Result<Transferred, TransferError>> {
        let (client, request) = (self.client.clone(), &self.options.request);
        let title = (format!("{} {}", request.method, request.uri.path()), None);
        let exchange = DownloadExchange::new(&self.options, progress.clone());
        let (config, timeout) = (Arc::clone(&self.config), self.idle_timeout);
        let running = TransferProtocol::run(title, client, config, exchange, timeout, on_progress);
        Box::pin(async move {
            let Ended { result, report, transfer } = running.await;
            let mut progress = progress.lock();
            match result {
                Ok(response) => {
                    let response = match progress.head.take() {
                        Some(head) => http::Response::from_parts(head, Bytes::new()),
                        None => response,
                    };
                    let sums = progress.sink.hasher().sums();
                    let is_verified = sums.has_common(progress.sums);
                    let generation =
                        progress.position.version.as_ref().and_then(|version| version.generation);
                    let ranges = Vec::new();
                    Ok(Transferred { response, generation, transfer, sums, is_verified, report, ranges })
                }
                Err(failure) => Err(TransferError::new(failure, Some(report), transfer, None)),
            }
        })
    }

    /// Receives it into a file, from where an earlier process left it. If several ranges are wanted, a short one shows how long the
    /// object is; a server that knows no ranges sends all of it then.
    pub(super) async fn receive_file(
        mut self,
        file: &PartialFile,
        parallel: Option<(u64, u64)>,
    ) -> Result<Transferred, TransferError> {
        let options = Arc::clone(&self.options);
        let left = match &options.state {
            Some(state) => state.left(&options.name, &file.part, self.checksums).await,
            None => Ok(None),
        };
        let (first, mut parts) = self.resumed(file, left.map_err(Failure::unbegun)?);
        let together = self.on_progress.take().map(|callback| Together::new(callback, &first, &parts));
        let callback = |place| together.as_ref().map(|together| together.part(place));
        let mut received = Vec::new();
        if parts.is_empty() {
            let Some((count, least)) = parallel else { return self.range(first, callback(0)).await };
            if first.lock().sink.offset() == 0 {
                first.lock().position.limit = Some(PROBE.min(least));
                received.push(self.range(first.clone(), callback(0)).await?);
            }
            let position = first.lock().position();
            let (begin, total) = (position.offset, position.total.unwrap_or_default());
            let is_whole = position.limit.is_none() || position.total.is_some_and(|total| total <= begin);
            // Otherwise the length is unknown, or whether other ranges are of the same object.
            let is_splittable = begin < total && position.version.as_ref().is_some_and(Version::is_resumable);
            match received.pop() {
                Some(probed) if is_whole => return verified(probed, &first, &[], file).await,
                Some(probed) if !is_splittable => return self.rest(probed, &first, callback(1)).await,
                None if !is_splittable => return self.range(first, callback(0)).await,
                probed => received.extend(probed),
            }
            first.open().await.map_err(Failure::unbegun)?;
            let borders = borders(begin, total, count, least).into_iter().zip(1..);
            let empty = Hasher::new(Checksums::CRC32C);
            parts = borders.map(|(range, place)| self.part(file, &first, range, (&empty, place))).collect();
            if let Some(state) = &options.state {
                let ranges = stored_ranges(&first, &parts);
                let stored = first.lock().stored(&options, ranges);
                state.set(stored).await.map_err(Failure::unbegun)?;
            }
        }
        let is_missing = |part: &SharedProgress<'_>| {
            let position = part.lock().position();
            position.limit > Some(position.offset)
        };
        let missing = parts.iter().zip(1..).filter(|(part, _)| is_missing(part));
        let running = missing.map(|(part, place)| self.range(part.clone(), callback(place)));
        received.extend(try_join_all(running).await?);
        let mut received = received.into_iter();
        let Some(mut downloaded) = received.next() else { return self.range(first, callback(0)).await };
        received.for_each(|range| downloaded.add(range));
        downloaded.transfer.bytes = first.lock().position.total.unwrap_or_default();
        verified(downloaded, &first, &parts, file).await
    }

    /// The first range as an earlier process has left it, and those behind it if something of them is missing.
    fn resumed(
        &self,
        file: &PartialFile,
        left: Option<(DownloadState, Vec<Hasher>)>,
    ) -> (SharedProgress<'a>, Vec<SharedProgress<'a>>) {
        let (part, checksums) = (&file.part, self.checksums);
        let new = |offset, hasher| self.progress(Sink::file((part, false), offset, checksums, hasher));
        let Some((state, written)) = left else { return (new(0, Hasher::new(checksums)), Vec::new()) };
        let ranges = state.ranges.iter().zip(&written);
        let is_whole = ranges.clone().all(|(range, written)| range.is_whole(written));
        let first = match &written[..] {
            // Bytes that were written since are verified with the rest, if there are checksums.
            [written] if state.sums().has_common(written.sums()) => {
                new(file.length().min(state.total.unwrap_or(u64::MAX)), written.clone())
            }
            [written] => new(written.bytes(), written.clone()),
            _ if is_whole => new(state.total.unwrap_or_default(), Hasher::new(checksums)),
            [first, ..] => self.progress(Sink::file((part, true), first.bytes(), checksums, first.clone())),
            [] => new(0, Hasher::new(checksums)),
        };
        if first.lock().sink.offset() > 0 {
            first.lock().resume(&state);
        }
        let parts = ranges.zip(0..).skip(if is_whole { usize::MAX } else { 1 });
        let parts = parts.filter_map(|((range, written), place)| {
            Some(self.part(file, &first, (range.begin, range.end?), (written, place)))
        });
        let parts = parts.collect();
        (first, parts)
    }

    /// Receives what is missing behind the first range, in one operation.
    async fn rest(
        self,
        mut downloaded: Transferred,
        first: &SharedProgress<'a>,
        on_progress: Option<OnProgress<'a>>,
    ) -> Result<Transferred, TransferError> {
        {
            let first = &mut *first.lock();
            first.position.limit = None;
            // The operation counts what it has received itself.
            first.position.offset = first.sink.offset();
        }
        let mut rest = self.range(first.clone(), on_progress).await?;
        rest.transfer.bytes = first.lock().sink.offset();
        // The object is that of the second operation: it starts over if the object was replaced meanwhile.
        std::mem::swap(&mut rest.report, &mut downloaded.report);
        rest.add(downloaded);
        Ok(rest)
    }

    /// A range that is written to the file where it belongs, from where it was left.
    fn part(
        &self,
        file: &PartialFile,
        first: &SharedProgress<'a>,
        (begin, end): (u64, u64),
        (written, place): (&Hasher, usize),
    ) -> SharedProgress<'a> {
        // An MD5 of a range could be compared with nothing.
        let (checksums, written) = if self.checksums.crc32c {
            (Checksums::CRC32C, written.clone())
        } else {
            (Checksums::NONE, Hasher::new(Checksums::NONE))
        };
        let position = first.lock().position();
        let position = Position { offset: begin, limit: Some(end), is_hashed: false, ..position };
        let sink = Sink::file((&file.part, true), begin + written.bytes(), checksums, written);
        SharedProgress::new(sink, position, place)
    }
}

/// Compares the checksums of all ranges together with those of the server. MD5 can't be combined: the file is read for it.
async fn verified(
    downloaded: Transferred,
    first: &SharedProgress<'_>,
    parts: &[SharedProgress<'_>],
    file: &PartialFile,
) -> Result<Transferred, TransferError> {
    let (mut hasher, server, checksums) = {
        let first = first.lock();
        (first.sink.hasher().clone(), first.sums, first.sink.checksums)
    };
    for part in parts {
        let part = part.lock();
        let own = part.sink.hasher();
        if let Some(crc32c) = own.sums().crc32c {
            hasher.join(crc32c, own.bytes());
        }
    }
    let mut sums = hasher.sums();
    if checksums.md5 {
        let whole = hash_part(&file.part, 0, Checksums::MD5, downloaded.bytes()).await;
        sums.md5 = whole.map_err(|failure| downloaded.failed(failure))?.sums().md5;
    }
    match sums.difference(server) {
        Some(name) => Err(downloaded.failed(mismatch(name))),
        None => Ok(Transferred { sums, is_verified: sums.has_common(server), ..downloaded }),
    }
}

/// The ranges as the state file has them.
fn stored_ranges<'a>(first: &SharedProgress<'a>, parts: &[SharedProgress<'a>]) -> Vec<StoredRange> {
    std::iter::once(first).chain(parts).map(|progress| progress.lock().range()).collect()
}

/// The ranges behind the first, of the same length: one for each piece of that many bytes that is begun, and so many at most.
fn borders(begin: u64, end: u64, count: u64, least: u64) -> Vec<(u64, u64)> {
    let ranges = (end - begin).div_ceil(least.max(1)).clamp(1, count.max(1));
    let length = (end - begin).div_ceil(ranges).max(1);
    let mut ranges = Vec::new();
    let mut place = begin;
    while place < end {
        let next = place.saturating_add(length).min(end);
        ranges.push((place, next));
        place = next;
    }
    ranges
}

/// The progress of several ranges, as one, and the program's callback for it.
struct Together<'a>(Arc<Locked<(OnProgress<'a>, Vec<TransferProgress>)>>);

impl<'a> Together<'a> {
    fn new(on_progress: OnProgress<'a>, first: &SharedProgress<'a>, parts: &[SharedProgress<'a>]) -> Self {
        let left = std::iter::once(first).chain(parts).map(|progress| {
            let progress = progress.lock();
            let bytes = progress.sink.offset() - progress.position.offset;
            TransferProgress { bytes, ..TransferProgress::default() }
        });
        Self(Arc::new(Locked::new((on_progress, left.collect()))))
    }

    /// The callback of one range.
    fn part(&self, place: usize) -> OnProgress<'a> {
        let together = Arc::clone(&self.0);
        Box::new(move |progress| {
            let (on_progress, ranges) = &mut *together.lock();
            ranges.resize(ranges.len().max(place + 1), TransferProgress::default());
            if let Some(range) = ranges.get_mut(place) {
                *range = *progress;
            }
            let bytes = ranges.iter().map(|range| range.bytes).sum();
            let resumptions = ranges.iter().map(|range| range.resumptions).sum();
            let total = ranges.iter().find_map(|range| range.total);
            on_progress(&TransferProgress { bytes, total, resumptions });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_and_have_one_length() {
        for ((begin, end, count, least), expected) in [
            ((10, 40, 3, 5), vec![(10, 20), (20, 30), (30, 40)]),
            ((10, 41, 3, 5), vec![(10, 21), (21, 32), (32, 41)]),
            ((10, 12, 3, 5), vec![(10, 12)]),
            ((10, 22, 9, 5), vec![(10, 14), (14, 18), (18, 22)]),
            ((1, 65, 4, 50), vec![(1, 33), (33, 65)]),
            ((10, 10, 3, 5), vec![]),
        ] {
            assert_eq!(borders(begin, end, count, least), expected);
        }
    }
}
