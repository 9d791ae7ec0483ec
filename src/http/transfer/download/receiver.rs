//! Downloads on their way, in one range or in several at once.

use crate::http::config::HttpConfig;
use crate::http::shared_state::SharedState;
use crate::http::transfer::checksum::{Checksums, Hasher, Sums};
use crate::http::transfer::download::downloaded::Downloaded;
use crate::http::transfer::download::exchange::DownloadExchange;
use crate::http::transfer::download::head::{Position, Version};
use crate::http::transfer::download::options::DownloadOptions;
use crate::http::transfer::download::received::SharedProgress;
use crate::http::transfer::download::sink::{Sink, hash_file};
use crate::http::transfer::error::{Failure, TransferError, TransferErrorKind};
use crate::http::transfer::exchange::Boxed;
use crate::http::transfer::progress::TransferProgress;
use crate::http::transfer::protocol::{OnProgress, TransferProtocol};
use crate::http::transfer::run::{Ended, run};
use crate::http::transfer::service::TransferService;
use crate::transport::SharedService;
use std::future::poll_fn;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// All that a client with the layer consists of.
pub(super) type ClientParts<S> = (S, SharedService<S>, Arc<SharedState>);

/// All that it takes to receive a download.
pub(super) struct Receiver<'a, S> {
    pub(super) client: ClientParts<S>,
    pub(super) config: Arc<HttpConfig>,
    pub(super) options: Arc<DownloadOptions>,
    pub(super) idle_timeout: Duration,
    pub(super) on_progress: Option<OnProgress<'a>>,
    pub(super) checksums: Checksums,
}

impl<'a, S: TransferService> Receiver<'a, S> {
    pub(super) fn progress(&self, sink: Sink<'a>) -> SharedProgress<'a> {
        SharedProgress::new(sink, Position { is_hashed: self.checksums.crc32c, ..Position::default() })
    }

    /// Receives it in one operation.
    pub(super) fn receive(
        mut self,
        progress: SharedProgress<'a>,
    ) -> Boxed<'a, Result<Downloaded, TransferError>> {
        let on_progress = self.on_progress.take();
        self.range(progress, on_progress)
    }

    /// Receives one range.
    fn range(
        &self,
        progress: SharedProgress<'a>,
        on_progress: Option<OnProgress<'a>>,
    ) -> Boxed<'a, Result<Downloaded, TransferError>> {
        let (service, spare, shared) = self.client.clone();
        let exchange = DownloadExchange::new(&self.options, progress.clone());
        let protocol =
            TransferProtocol::new((service, spare), shared, exchange, self.idle_timeout, on_progress);
        let running = run(protocol, Arc::clone(&self.config));
        Box::pin(async move {
            let Ended { result, report, transfer } = running.await;
            let mut progress = progress.lock();
            match result {
                Ok(response) => {
                    let head = progress.head.take().unwrap_or_else(|| response.into_parts().0);
                    let sums = progress.sink.hasher().sums();
                    let is_verified = sums.has_common(progress.sums);
                    let version = progress.position.version.clone().unwrap_or_default();
                    Ok(Downloaded { head, version, transfer, sums, is_verified, report, ranges: Vec::new() })
                }
                Err(failure) => Err(TransferError::new(failure, Some(report), transfer, None)),
            }
        })
    }

    /// Receives it into a file in several ranges at once, each of which has that many bytes at least. The first one shows how long
    /// it is; a server that knows no ranges sends all of it then.
    pub(super) async fn receive_ranges(
        mut self,
        path: &Path,
        (count, least): (u64, u64),
    ) -> Result<Downloaded, TransferError> {
        let on_progress = self.on_progress.take().map(Together::new);
        let callback = |place| on_progress.as_ref().map(|together| together.part(place));
        let first = self.progress(Sink::file(path.to_owned(), 0, self.checksums));
        first.lock().position.limit = Some(least);
        let mut downloaded = self.range(first.clone(), callback(0)).await?;
        let position = first.lock().position();
        let is_whole =
            position.limit.is_none() || position.total.is_some_and(|total| total <= position.offset);
        let version = position.version.filter(Version::is_resumable);
        let (total, version) = match (position.total, version) {
            _ if is_whole => {
                let hasher = first.lock().sink.hasher().clone();
                let sums = first.lock().sums;
                return verified(downloaded, hasher, (path, position.offset, self.checksums), sums).await;
            }
            (Some(total), Some(version)) => (total, version),
            // Nobody knows how much there is, or whether other ranges are of the same object.
            _ => return self.rest(downloaded, &first, callback(1)).await,
        };
        let sums = first.lock().sums;
        let borders = borders(position.offset, total, count, least);
        let parts: Vec<_> =
            borders.iter().map(|&(begin, end)| self.part(path, (begin, end, total), &version)).collect();
        let running =
            parts.iter().enumerate().map(|(place, part)| self.range(part.clone(), callback(place + 1)));
        for range in all(running.collect()).await? {
            downloaded.transfer.bytes += range.transfer.bytes;
            downloaded.add(range);
        }
        let mut hasher = first.lock().sink.hasher().clone();
        for part in &parts {
            let part = part.lock();
            let own = part.sink.hasher();
            if let Some(crc32c) = own.sums().crc32c {
                hasher.join(crc32c, own.bytes());
            }
        }
        verified(downloaded, hasher, (path, total, self.checksums), sums).await
    }

    /// Receives what is missing behind the first range, in one operation.
    async fn rest(
        self,
        mut downloaded: Downloaded,
        first: &SharedProgress<'a>,
        on_progress: Option<OnProgress<'a>>,
    ) -> Result<Downloaded, TransferError> {
        {
            let first = &mut *first.lock();
            first.position.limit = None;
            // The operation counts what it has received itself.
            first.position.offset = first.sink.offset();
        }
        let rest = self.range(first.clone(), on_progress).await?;
        downloaded.transfer.bytes = first.lock().sink.offset();
        let (version, sums, is_verified) = (rest.version.clone(), rest.sums, rest.is_verified);
        downloaded.add(rest);
        Ok(Downloaded { version, sums, is_verified, ..downloaded })
    }

    /// A range that is written to the file where it belongs.
    fn part(
        &self,
        path: &Path,
        (begin, end, total): (u64, u64, u64),
        version: &Version,
    ) -> SharedProgress<'a> {
        let checksums = Checksums { md5: false, ..self.checksums };
        let position = Position {
            offset: begin,
            limit: Some(end),
            version: Some(version.clone()),
            total: Some(total),
            is_hashed: false,
        };
        SharedProgress::new(Sink::part(path.to_owned(), begin, checksums), position)
    }
}

/// Compares the checksums of all ranges together with those of the server. MD5 can't be combined: the file is read for it.
async fn verified(
    downloaded: Downloaded,
    combined: Hasher,
    (path, total, checksums): (&Path, u64, Checksums),
    server: Sums,
) -> Result<Downloaded, TransferError> {
    let mut sums = combined.sums();
    if checksums.md5 {
        let hashed =
            hash_file(path, Checksums::MD5, total).await.map_err(|failure| downloaded.failed(failure))?;
        sums.md5 = hashed.sums().md5;
    }
    match sums.difference(server) {
        Some(name) => {
            let problem = format!("the {name} of what was received is not that of the object");
            Err(downloaded.failed(Failure::new(TransferErrorKind::ChecksumMismatch, problem)))
        }
        None => Ok(Downloaded { sums, is_verified: sums.has_common(server), ..downloaded }),
    }
}

/// The ranges behind the first: so many, or fewer where they would be too short.
fn borders(begin: u64, end: u64, count: u64, least: u64) -> Vec<(u64, u64)> {
    let length = (end - begin).div_ceil(count.max(1)).max(least).max(1);
    let mut ranges = Vec::new();
    let mut place = begin;
    while place < end {
        let next = place.saturating_add(length).min(end);
        ranges.push((place, next));
        place = next;
    }
    ranges
}

/// Waits for all of them; the first error drops the others.
async fn all<T, E>(running: Vec<Boxed<'_, Result<T, E>>>) -> Result<Vec<T>, E> {
    let mut running: Vec<_> = running.into_iter().map(Some).collect();
    let mut results: Vec<Option<T>> = running.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut is_pending = false;
        for (slot, result) in running.iter_mut().zip(&mut results) {
            let Some(future) = slot else { continue };
            match future.as_mut().poll(cx) {
                Poll::Ready(Ok(value)) => (*slot, *result) = (None, Some(value)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => is_pending = true,
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(Ok(())) }
    })
    .await?;
    Ok(results.into_iter().flatten().collect())
}

/// The progress of several ranges, as one.
struct Together<'a>(Arc<Mutex<Parts<'a>>>);

struct Parts<'a> {
    on_progress: OnProgress<'a>,
    ranges: Vec<TransferProgress>,
    /// The length of the whole, once it is known.
    total: Option<u64>,
}

impl<'a> Together<'a> {
    fn new(on_progress: OnProgress<'a>) -> Self {
        Self(Arc::new(Mutex::new(Parts { on_progress, ranges: Vec::new(), total: None })))
    }

    /// The callback of one range.
    fn part(&self, place: usize) -> OnProgress<'a> {
        let parts = Arc::clone(&self.0);
        Box::new(move |progress| {
            let parts = &mut *parts.lock().unwrap_or_else(PoisonError::into_inner);
            if parts.ranges.len() <= place {
                parts.ranges.resize(place + 1, TransferProgress::default());
            }
            if let Some(range) = parts.ranges.get_mut(place) {
                *range = *progress;
            }
            parts.total = parts.total.or(progress.total);
            let bytes = parts.ranges.iter().map(|range| range.bytes).sum();
            let resumptions = parts.ranges.iter().map(|range| range.resumptions).sum();
            (parts.on_progress)(&TransferProgress { bytes, total: parts.total, resumptions });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_and_none_is_short() {
        for ((begin, end, count, least), expected) in [
            ((10, 40, 3, 5), vec![(10, 20), (20, 30), (30, 40)]),
            ((10, 41, 3, 5), vec![(10, 21), (21, 32), (32, 41)]),
            ((10, 12, 3, 5), vec![(10, 12)]),
            ((10, 22, 9, 5), vec![(10, 15), (15, 20), (20, 22)]),
            ((10, 10, 3, 5), vec![]),
        ] {
            assert_eq!(borders(begin, end, count, least), expected);
        }
    }
}
