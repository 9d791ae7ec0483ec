//! A source that is being read.

use crate::checksum::{ChecksumValues, Checksums, Hasher};
use crate::error::{Failure, TransferErrorKind};
use crate::upload::source::{Input, SeekableRead, UploadSource};
use bytes::{Bytes, BytesMut};
use gax_driver::__private::Locked;
use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::UNIX_EPOCH;
use tokio::io::{AsyncRead, AsyncSeek as _, ReadBuf};

/// The most that is read at once.
pub(super) const PIECE: u64 = 64 * 1024;
/// Bytes in memory up to that length are hashed at once, so that their checksums are sent with the first request.
const HASHED_AT_ONCE: usize = 8 * 1024 * 1024;

/// A source that an upload shares with the body of its request in flight.
#[derive(Clone)]
pub(super) struct SharedSource(Arc<Locked<SourceReader>>);

/// A source that is being read, hashed as it is.
pub(super) struct SourceReader {
    input: Reading,
    position: Position,
    /// The size that it has to have.
    size: Option<u64>,
    /// A file, and when it was changed last before it is sent.
    watched: Option<(File, Option<u64>)>,
    hasher: Hasher,
    /// The body that may read; those of earlier attempts may not.
    lease: u64,
    /// The problem that a body has found.
    problem: Option<Failure>,
}

enum Reading {
    Seekable {
        source: Box<dyn SeekableRead>,
        last: Option<Bytes>,
    },
    /// Bytes in memory: all of them, or those of a source that can't seek which may have to be sent again.
    Kept {
        /// `None`: everything is read.
        source: Option<Box<dyn AsyncRead + Send + Unpin>>,
        kept: VecDeque<Bytes>,
        start: u64,
        end: u64,
        is_all: bool,
    },
}

impl Reading {
    fn of_reader(source: Box<dyn AsyncRead + Send + Unpin>) -> Self {
        Self::Kept { source: Some(source), kept: VecDeque::new(), start: 0, end: 0, is_all: false }
    }
}

/// Where a source stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Unknown,
    Seeking(u64),
    At(u64),
}

fn unreadable(error: io::Error) -> Failure {
    Failure::new(TransferErrorKind::Source, "the source can't be read").with_source(error)
}

fn changed(problem: &'static str) -> Failure {
    Failure::new(TransferErrorKind::SourceChanged, problem)
}

impl SharedSource {
    /// Opens a source, and asks for its size.
    pub(super) async fn open(source: UploadSource, checksums: Checksums) -> Result<Self, Failure> {
        let (mut size, mut watched, mut position) = (source.size, None, Position::At(0));
        let mut hasher = Hasher::new(checksums);
        let input = match source.input {
            Input::Bytes(bytes) => {
                let length = bytes.len() as u64;
                if size.is_some_and(|size| size != length) {
                    return Err(changed("the source does not have the size that was given"));
                }
                size = Some(length);
                if !checksums.md5 || bytes.len() <= HASHED_AT_ONCE {
                    hasher.update(&bytes);
                }
                Reading::Kept { source: None, kept: [bytes].into(), start: 0, end: length, is_all: true }
            }
            Input::File(path) => {
                let file = tokio::fs::File::open(&path).await.map_err(unreadable)?;
                let metadata = file.metadata().await.map_err(unreadable)?;
                if metadata.is_dir() {
                    return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
                }
                if metadata.is_file() {
                    let same = file.try_clone().await.map_err(unreadable)?.into_std().await;
                    watched = Some((same, modified(&metadata)));
                    size = size.or(Some(metadata.len()));
                    Reading::Seekable { source: Box::new(file), last: None }
                } else {
                    // A pipe with a name has neither a size nor places.
                    Reading::of_reader(Box::new(file))
                }
            }
            Input::Seekable(mut source) => {
                if size.is_none() {
                    use tokio::io::AsyncSeekExt as _;
                    size = Some(source.seek(SeekFrom::End(0)).await.map_err(unreadable)?);
                }
                position = Position::Unknown;
                Reading::Seekable { source, last: None }
            }
            Input::Reader(source) => Reading::of_reader(source),
        };
        let reader = SourceReader { input, position, size, watched, hasher, lease: 0, problem: None };
        Ok(Self(Arc::new(Locked::new(reader))))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SourceReader> {
        self.0.lock()
    }

    /// Its size and the checksums of the whole, as far as they are known.
    pub(super) fn known(&self) -> (Option<u64>, Option<ChecksumValues>) {
        let reader = self.lock();
        (reader.size, reader.sums())
    }

    /// Goes to that place, as far as the source has it still.
    pub(super) async fn seek(&self, place: u64) -> Result<(), Failure> {
        poll_fn(|cx| self.lock().poll_seek(place, cx)).await
    }

    /// The next bytes, up to so many; none at the end of what can be read.
    pub(super) async fn next(&self, most: u64) -> Result<Bytes, Failure> {
        poll_fn(|cx| self.lock().poll_next(most, cx)).await
    }

    /// Reads a source that can't seek up to that place, or to its end; what comes before `from` is not kept.
    pub(super) async fn fill(&self, from: u64, to: u64) -> Result<(), Failure> {
        poll_fn(|cx| self.lock().poll_fill(from, to, cx)).await
    }

    /// Reads what has not been read yet, for the checksums of the whole. A source that can't seek is not waited for: it is unknown
    /// when the rest of it comes.
    pub(super) async fn hash_to_end(&self) -> Result<(), Failure> {
        let hashed = {
            let mut reader = self.lock();
            if !reader.hasher.is_needed() || !reader.can_seek() || reader.sums().is_some() {
                return Ok(());
            }
            // The rest of the request's body is not needed any longer.
            reader.lend();
            reader.hasher.bytes()
        };
        self.seek(hashed).await?;
        while !self.next(PIECE).await?.is_empty() {}
        Ok(())
    }
}

impl SourceReader {
    gax_text::getters! { self:
        pub(super) size: Option<u64> = self.size;

        /// When the file that it is was changed last, in nanoseconds since 1970.
        pub(super) modified: Option<u64> = self.watched.as_ref().and_then(|(_, modified)| *modified);

        pub(super) can_seek: bool = !matches!(self.input, Reading::Kept { is_all: false, .. });

        /// Returns whether checksums are computed.
        pub(super) is_hashing: bool = self.hasher.is_needed();
    }

    /// Checks that nobody has written to the file that it is.
    pub(super) fn unchanged(&self) -> Result<(), Failure> {
        match &self.watched {
            Some((file, before)) if file.metadata().ok().as_ref().and_then(modified) != *before => {
                Err(changed("the source was written to while it was sent"))
            }
            _ => Ok(()),
        }
    }

    /// The first byte that can still be sent.
    pub(super) fn lowest(&self) -> u64 {
        if let Reading::Kept { start, .. } = &self.input { *start } else { 0 }
    }

    /// The checksums of the whole, once all of it was read.
    pub(super) fn sums(&self) -> Option<ChecksumValues> {
        let is_whole = self.hasher.is_needed() && Some(self.hasher.bytes()) == self.size;
        is_whole.then(|| self.hasher.sums())
    }

    /// From now on only the body with that lease reads.
    pub(super) fn lend(&mut self) -> u64 {
        self.lease += 1;
        self.lease
    }

    pub(super) fn is_lent(&self, lease: u64) -> bool {
        self.lease == lease
    }

    /// A body has found that wrong.
    pub(super) fn fail(&mut self, problem: Failure) {
        self.problem.get_or_insert(problem);
    }

    pub(super) fn take_problem(&mut self) -> Option<Failure> {
        self.problem.take()
    }

    fn poll_seek(&mut self, place: u64, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        // Bytes that were not hashed yet have to be read on the way.
        let target = if self.hasher.is_needed() { place.min(self.hasher.bytes()) } else { place };
        match &mut self.input {
            Reading::Kept { .. } => self.position = Position::At(target),
            Reading::Seekable { source, last } => {
                let is_on_the_way =
                    matches!(self.position, Position::At(at) if (target..=place).contains(&at));
                if !is_on_the_way || last.is_some() {
                    *last = None;
                    if self.position != Position::Seeking(target) {
                        self.position = Position::Unknown;
                        // A seek that an earlier attempt began may still be on its way.
                        ready!(Pin::new(&mut *source).poll_complete(cx)).map_err(unreadable)?;
                        Pin::new(&mut *source).start_seek(SeekFrom::Start(target)).map_err(unreadable)?;
                        self.position = Position::Seeking(target);
                    }
                    let reached = ready!(Pin::new(&mut *source).poll_complete(cx)).map_err(unreadable)?;
                    self.position = Position::At(reached);
                    if reached != target {
                        return Poll::Ready(Err(changed(
                            "the source did not seek to the requested position",
                        )));
                    }
                }
            }
        }
        while let Position::At(reached) = self.position
            && reached < place
        {
            if ready!(self.poll_next(place - reached, cx))?.is_empty() {
                return Poll::Ready(Err(changed("the source is shorter than what the server has received")));
            }
        }
        Poll::Ready(Ok(()))
    }

    pub(super) fn poll_next(&mut self, most: u64, cx: &mut Context<'_>) -> Poll<Result<Bytes, Failure>> {
        let most = at(most.min(PIECE));
        let Position::At(place) = self.position else {
            return Poll::Ready(Err(unreadable(io::Error::other("it is read before it was sought"))));
        };
        match &mut self.input {
            Reading::Kept { kept, start, .. } => {
                let mut before = at(place.saturating_sub(*start));
                let piece = kept.iter().find(|piece| {
                    let is_passed = piece.len() <= before;
                    before -= if is_passed { piece.len() } else { 0 };
                    !is_passed
                });
                let rest = piece.map(|piece| piece.slice(before..)).unwrap_or_default();
                let data = rest.slice(..most.min(rest.len()));
                self.hasher.update_at(place, &data);
                self.position = Position::At(place + data.len() as u64);
                Poll::Ready(Ok(data))
            }
            Reading::Seekable { source, last } => {
                if last.is_none() {
                    let data = ready!(poll_piece(&mut **source, most, cx)).map_err(unreadable)?;
                    self.hasher.update_at(place, &data);
                    let end = place + data.len() as u64;
                    self.position = Position::At(end);
                    match self.size {
                        Some(size) if data.is_empty() && place < size => {
                            return Poll::Ready(Err(changed("the source is shorter than it was")));
                        }
                        Some(size) if end > size => {
                            return Poll::Ready(Err(changed("the source is longer than it was")));
                        }
                        // The last bytes are sent once it is known that they are the last.
                        Some(size) if end == size && !data.is_empty() => *last = Some(data),
                        _ => return Poll::Ready(Ok(data)),
                    }
                }
                let more = ready!(poll_piece(&mut **source, 1, cx)).map_err(unreadable)?;
                Poll::Ready(match last.take() {
                    Some(data) if more.is_empty() => self.unchanged().map(|()| data),
                    _ => Err(changed("the source is longer than it was")),
                })
            }
        }
    }

    fn poll_fill(&mut self, from: u64, to: u64, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.drop_before(from);
        while let Reading::Kept { source: unread, kept, start, end, .. } = &mut self.input
            && *end < to
            && let Some(source) = unread
        {
            let data = ready!(poll_piece(&mut **source, at(PIECE), cx)).map_err(unreadable)?;
            self.hasher.update_at(*end, &data);
            *end += data.len() as u64;
            if data.is_empty() {
                *unread = None;
                match self.size {
                    Some(size) if *end != size => {
                        return Poll::Ready(Err(changed("the source is shorter than its size")));
                    }
                    _ => self.size = Some(*end),
                }
            } else if self.size.is_some_and(|size| *end > size) {
                return Poll::Ready(Err(changed("the source is longer than its size")));
            } else if *end <= from {
                *start = *end;
            } else {
                kept.push_back(data);
                self.drop_before(from);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Releases what the server has of a source that can't seek.
    pub(super) fn drop_before(&mut self, place: u64) {
        let Reading::Kept { kept, start, is_all: false, .. } = &mut self.input else { return };
        while *start < place
            && let Some(first) = kept.front_mut()
        {
            let length = first.len() as u64;
            if *start + length <= place {
                kept.pop_front();
                *start += length;
            } else {
                drop(first.split_to(at(place - *start)));
                *start = place;
            }
        }
    }

    /// The place behind what was read of a source that can't seek, and whether that is its end.
    pub(super) fn read_so_far(&self) -> (u64, bool) {
        match &self.input {
            Reading::Kept { end, source, .. } => (*end, source.is_none()),
            Reading::Seekable { .. } => (self.size.unwrap_or_default(), true),
        }
    }
}

/// When a file was changed last, in nanoseconds since 1970.
fn modified(metadata: &Metadata) -> Option<u64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// That many bytes, or as many as there can be in memory.
fn at(place: u64) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// Some bytes, up to so many; none at the end.
fn poll_piece<R: AsyncRead + Unpin + ?Sized>(
    source: &mut R,
    most: usize,
    cx: &mut Context<'_>,
) -> Poll<io::Result<Bytes>> {
    let mut data = BytesMut::zeroed(most);
    let mut buffer = ReadBuf::new(&mut data);
    ready!(Pin::new(source).poll_read(cx, &mut buffer))?;
    let length = buffer.filled().len();
    data.truncate(length);
    Poll::Ready(Ok(data.freeze()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    async fn open(source: UploadSource) -> SharedSource {
        SharedSource::open(source, Checksums::CRC32C).await.unwrap()
    }

    async fn read(source: &SharedSource) -> Result<Vec<u8>, TransferErrorKind> {
        let mut all = Vec::new();
        loop {
            match source.next(4).await {
                Ok(data) if data.is_empty() => return Ok(all),
                Ok(data) => all.extend_from_slice(&data),
                Err(failure) => return Err(failure.kind),
            }
        }
    }

    #[tokio::test]
    async fn a_source_is_read_from_any_place_and_hashed_once() {
        let text = b"0123456789";
        for source in [UploadSource::from(&text[..]), UploadSource::seekable(Cursor::new(&text[..]))] {
            let source = open(source).await;
            for from in [4, 0, 9, 10, 3] {
                source.seek(from).await.unwrap();
                assert_eq!(read(&source).await.unwrap(), &text[at(from)..], "{from}");
            }
            assert_eq!(source.lock().sums().unwrap().crc32c, Some(crc32c::crc32c(text)));
        }
    }

    #[tokio::test]
    async fn a_source_that_changes_its_size_is_noticed_before_its_last_byte() {
        for (size, read_before) in [(9, 8), (11, 10)] {
            let source = UploadSource::seekable(Cursor::new(&b"0123456789"[..])).with_size(size);
            let source = open(source).await;
            for most in [1, 4] {
                source.seek(0).await.unwrap();
                let mut seen = 0;
                let failure = loop {
                    match source.next(most).await {
                        Ok(data) => seen += data.len(),
                        Err(failure) => break failure,
                    }
                };
                assert_eq!((failure.kind, seen), (TransferErrorKind::SourceChanged, read_before));
            }
            let reader = UploadSource::reader(&b"0123456789"[..]).with_size(size);
            let failure = open(reader).await.fill(0, u64::MAX).await.unwrap_err();
            assert_eq!(failure.kind, TransferErrorKind::SourceChanged);
        }
        // Bytes that nobody hashes are not read on the way.
        let source = UploadSource::seekable(Cursor::new(&b"0123456789"[..])).with_size(9);
        let source = SharedSource::open(source, Checksums::NONE).await.unwrap();
        source.seek(10).await.unwrap();
        assert_eq!(read(&source).await, Err(TransferErrorKind::SourceChanged));
        let bytes = SharedSource::open(UploadSource::from("abc").with_size(4), Checksums::NONE).await;
        assert_eq!(bytes.err().unwrap().kind, TransferErrorKind::SourceChanged);
    }

    #[tokio::test]
    async fn bytes_in_memory_are_hashed_at_once_unless_that_takes_long() {
        let long = Bytes::from(vec![0; 8 * 1024 * 1024 + 1]);
        for (bytes, checksums, is_hashed) in [
            (long.clone(), Checksums::CRC32C, true),
            (long.slice(1..), Checksums::BOTH, true),
            (long, Checksums::BOTH, false),
        ] {
            let source = SharedSource::open(UploadSource::from(bytes), checksums).await.unwrap();
            assert_eq!(source.lock().sums().is_some(), is_hashed, "{checksums:?}");
        }
    }

    #[tokio::test]
    async fn the_rest_is_read_only_where_its_checksum_is_wanted() {
        let text = b"0123456789";
        let seekable = || UploadSource::seekable(Cursor::new(&text[..]));
        for (source, checksums, is_read) in [
            (seekable(), Checksums::CRC32C, true),
            (seekable(), Checksums::NONE, false),
            (UploadSource::from(&text[..]), Checksums::CRC32C, false),
            (UploadSource::reader(&text[..]), Checksums::CRC32C, false),
        ] {
            let source = SharedSource::open(source, checksums).await.unwrap();
            source.fill(0, u64::MAX).await.unwrap();
            source.seek(3).await.unwrap();
            let lease = source.lock().lend();
            source.hash_to_end().await.unwrap();
            assert_eq!(source.lock().is_lent(lease), !is_read);
            let rest: &[u8] = if is_read { b"" } else { &text[3..] };
            assert_eq!(read(&source).await.unwrap(), rest);
        }
    }

    #[tokio::test]
    async fn the_rest_is_read_to_its_end() {
        let long = vec![7; usize::try_from(PIECE).unwrap() + 1];
        let source = open(UploadSource::seekable(Cursor::new(long))).await;
        assert!(source.lock().sums().is_none());
        source.hash_to_end().await.unwrap();
        assert!(source.lock().sums().is_some());
    }

    #[tokio::test]
    async fn the_first_problem_of_a_body_is_kept() {
        let source = open(UploadSource::from("abc")).await;
        let mut reader = source.lock();
        for problem in ["first", "second"] {
            reader.fail(Failure::new(TransferErrorKind::Source, problem));
        }
        assert_eq!(reader.take_problem().unwrap().problem, "first");
        assert!(reader.take_problem().is_none());
    }

    #[tokio::test]
    async fn only_the_last_body_reads() {
        let source = open(UploadSource::from("abc")).await;
        let mut reader = source.lock();
        let leases = [reader.lend(), reader.lend()];
        assert_eq!(leases.map(|lease| reader.is_lent(lease)), [false, true]);
    }

    /// Another process resumes its upload only if that is still the same.
    #[tokio::test]
    async fn when_a_file_was_changed() {
        let path = std::env::temp_dir().join(format!("gax-transfer-changed-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(7)).unwrap();
        let source = open(UploadSource::file(path.clone())).await;
        std::fs::remove_file(path).unwrap();
        assert_eq!(source.lock().modified(), Some(7_000_000_000));
    }

    #[tokio::test]
    async fn of_a_reader_only_what_may_be_sent_again_is_kept() {
        let source = open(UploadSource::reader(Cursor::new(vec![7; 200_000]))).await;
        source.fill(0, PIECE).await.unwrap();
        assert_eq!(source.lock().read_so_far(), (65_536, false), "no more than was asked for");
        source.fill(0, 100_001).await.unwrap();
        assert_eq!(source.lock().lowest(), 0);
        assert_eq!(source.lock().read_so_far(), (131_072, false));
        source.seek(1).await.unwrap();
        assert_eq!(read(&source).await.unwrap(), vec![7; 131_071]);
        source.lock().drop_before(70_000);
        source.seek(70_000).await.unwrap();
        assert_eq!(source.lock().lowest(), 70_000);
        assert_eq!(read(&source).await.unwrap().len(), 61_072);
        source.fill(150_000, u64::MAX).await.unwrap();
        source.seek(150_000).await.unwrap();
        assert_eq!(read(&source).await.unwrap().len(), 50_000);
        // What the server has of it, and the source hasn't.
        assert!(source.seek(200_001).await.is_err());
        let reader = source.lock();
        assert_eq!(
            (reader.lowest(), reader.read_so_far(), reader.size()),
            (150_000, (200_000, true), Some(200_000))
        );
        assert_eq!(reader.sums().unwrap().crc32c, Some(crc32c::crc32c(&vec![7; 200_000])));
    }
}
