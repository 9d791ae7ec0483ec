//! A download, as a program describes it.

use crate::checksum::Checksums;
use crate::download::file::PartialFile;
use crate::download::options::DownloadOptions;
use crate::download::receiver::Receiver;
use crate::download::sink::Sink;
use crate::download::state::Checkpoints;
use crate::error::{Failure, TransferError, TransferErrorKind};
use crate::progress::TransferProgress;
use crate::protocol::OnProgress;
use crate::request::TransferRequest;
use crate::service::TransferService;
use crate::transferred::Transferred;
use bytes::Bytes;
use gax_driver::CallOptions;
use gax_http::__private::{LayeredClient, layered_client};
use gax_http::HttpRetryService;
use http::header::RANGE;
use http::{HeaderName, HeaderValue, Method};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWrite;

/// The most ranges at once, each of which may take a connection.
const MAX_RANGES: u32 = 256;
/// The most bytes in memory, unless the program says otherwise.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// A download that resumes, over a client with the HTTP layer. Use it for objects that are too large to start over after a failure.
///
/// All its requests are attempts of one operation, with the settings of that layer. If the body ends early, the next request asks for
/// the missing part of the same version of the object, by its generation or its strong `ETag`. Each response is verified: bytes other
/// than the requested ones are never appended. Received bytes are progress: back-off and the number of attempts start again.
///
/// If a server names no version, or the bytes are decompressed in transit, everything is requested again, and the bytes that were
/// already received are skipped if they have the same CRC32C.
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | [`checksums`](Self::checksums) | CRC32C, compared with `x-goog-hash` |
/// | [`idle_timeout`](Self::idle_timeout) | the layer's, else 60 s |
/// | [`max_bytes`](Self::max_bytes) | 1 GiB |
/// | [`stored`](Self::stored) | the server may decompress |
/// | [`resumable`](Self::resumable) | a failed download leaves no file |
///
/// # Errors
///
/// [`TransferError`], with the report of all requests.
///
/// # Cancel safety
///
/// Dropping the future drops the request in flight. A temporary file is removed, unless the download is
/// [resumable](Self::resumable); a writer has what was written.
///
/// # Examples
///
/// ```no_run
/// use gax_http::HttpRetryLayer;
/// use gax_http::{presets, ReqwestService};
/// use gax_transfer::Download;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ReqwestService::for_transfers(reqwest::Client::builder())?;
/// let client = HttpRetryLayer::preset(&presets::storage().without_deadline().with_max_attempts(8)).layer(client);
/// let download = Download::of_object("https://storage.googleapis.com", "photos", "cat.jpg");
/// let downloaded = download.header("authorization", "Bearer ya29...").resumable().to_file(&client, "cat.jpg").await?;
/// println!("generation {:?}, {} bytes", downloaded.generation(), downloaded.bytes());
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is sent until a method that receives it is awaited"]
pub struct Download<'a> {
    request: TransferRequest,
    is_object: bool,
    generation: Option<i64>,
    is_stored: bool,
    checksums: Checksums,
    idle_timeout: Option<Duration>,
    is_resumable: bool,
    state_name: Option<String>,
    parallel: Option<(u64, u64)>,
    max_bytes: u64,
    on_progress: Option<OnProgress<'a>>,
}

impl<'a> Download<'a> {
    /// A download of an object of Cloud Storage, by its JSON API. The endpoint is `https://storage.googleapis.com` or an emulator.
    /// Without a [generation](Self::generation), it is that of the first response. A response without the headers that describe an
    /// object, such as a proxy's login page, is an error ([`Malformed`](TransferErrorKind::Malformed)).
    pub fn of_object(endpoint: &str, bucket: &str, name: &str) -> Self {
        let request = TransferRequest::to_object(Method::GET, endpoint, "/storage/v1", bucket, name);
        Self { is_object: true, ..Self::of(request.query("alt", "media")) }
    }

    /// A download of the resource that this request gets. The request has no body, and its method becomes `GET`. Its extensions may
    /// have a [`Preset`](gax_http::Preset) or [`CallOptions`], like those of any request. `Accept-Encoding` is set by the download.
    /// A `Range` header is an error ([`Invalid`](TransferErrorKind::Invalid)), because the download requests the ranges that it needs.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_transfer::Download;
    ///
    /// let request = http::Request::get("https://example.com/large.iso").body(())?;
    /// let download = Download::new(request).resumable();
    /// # drop(download);
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn new(request: http::Request<()>) -> Self {
        Self::of(TransferRequest::new(request, Method::GET))
    }

    fn of(request: TransferRequest) -> Self {
        Self {
            request,
            is_object: false,
            generation: None,
            is_stored: false,
            checksums: Checksums::default(),
            idle_timeout: None,
            is_resumable: false,
            state_name: None,
            parallel: None,
            max_bytes: MAX_BYTES,
            on_progress: None,
        }
    }

    /// Adds a header. It is sent with every request to the same origin. Requests to another origin, after a redirect,
    /// have no credentials.
    pub fn header(
        self,
        name: impl TryInto<HeaderName, Error: Into<http::Error>>,
        value: impl TryInto<HeaderValue, Error: Into<http::Error>>,
    ) -> Self {
        Self { request: self.request.header(name, value), ..self }
    }

    /// Adds a parameter to the query.
    pub fn query(self, name: &str, value: &str) -> Self {
        Self { request: self.request.query(name, value), ..self }
    }

    /// The generation that is wanted. A response that names another one, or none, is an error
    /// ([`Malformed`](TransferErrorKind::Malformed)).
    pub fn generation(self, generation: i64) -> Self {
        Self { generation: Some(generation), ..self }.query("generation", &generation.to_string())
    }

    /// Requests the bytes as they are stored. Objects that are stored compressed are received compressed, can be resumed by
    /// ranges, and have the server's checksums. The client must not decompress it, as reqwest does with its feature `gzip`: see
    /// `ReqwestService::for_transfers`.
    pub fn stored(self) -> Self {
        Self { is_stored: true, ..self }
    }

    gax_text::setters! { self:
        /// The checksums that are computed and compared.
        pub checksums(checksums: Checksums) => self.checksums = checksums;

        /// The longest that nothing may come while a request is in flight. It is treated as an attempt that timed out.
        pub idle_timeout(timeout: Duration) => self.idle_timeout = Some(timeout);
    }

    /// A download [to a file](Self::to_file) that failed, or whose process was killed, leaves the received bytes in `PATH.gax-part`
    /// and `PATH.gax-state`, and the same download resumes from there. If the object was replaced meanwhile, or the file has other
    /// bytes than the state's CRC32C, it starts over. The state is written every 16 MiB, after each failure, and when
    /// everything is there; if the server sends a checksum, bytes after that are used as well. CRC32C is always computed.
    ///
    /// A state file of a request with another URI, or one that can't be read, is an error
    /// ([`StateFile`](TransferErrorKind::StateFile)): remove the two files to start again. A URI that is signed again is a different
    /// URI: [name](Self::state_name) its object.
    pub fn resumable(self) -> Self {
        Self { is_resumable: true, ..self }
    }

    /// The object's name in the state file of a [resumable](Self::resumable) download, instead of the URI. Use it for URIs that are
    /// signed, whose query is another one each time. Default: the URI.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_transfer::Download;
    ///
    /// let request = http::Request::get("https://example.com/large.iso?expires=1800000000&signature=s3cret").body(())?;
    /// let download = Download::new(request).resumable().state_name("https://example.com/large.iso");
    /// # drop(download);
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn state_name(self, name: impl Into<String>) -> Self {
        Self { state_name: Some(name.into()), ..self }
    }

    /// Receives several ranges of [a file](Self::to_file) at the same time: as many as the object has pieces of that many bytes, the last of
    /// which may be shorter, and so many at most (256 are the limit). All have the same length. A range of 256 KiB before them shows how
    /// long the object is. It is for networks on which one connection is slow; gsutil does so from 150 MiB on. Each range is an
    /// operation with its own retries.
    ///
    /// It makes no difference for writers and memory, and little for a server that knows no ranges, or names neither the length of its
    /// object nor a version. An object that is replaced meanwhile is an error.
    pub fn parallel(self, ranges: u32, least: u64) -> Self {
        let ranges = u64::from(ranges.min(MAX_RANGES));
        Self { parallel: (ranges > 0).then_some((ranges, least.max(1))), ..self }
    }

    gax_text::setters! { self:
        /// The most bytes that are received [into memory](Self::to_bytes). A longer object is an error
        /// ([`Sink`](TransferErrorKind::Sink)), as soon as its length is known or that many bytes have come.
        pub max_bytes(bytes: u64) => self.max_bytes = bytes;

        /// Calls this as bytes arrive. A panic of it is the caller's.
        pub on_progress(on_progress: impl FnMut(&TransferProgress) + Send + 'a) =>
            self.on_progress = Some(Box::new(on_progress));

        /// Settings of this download alone.
        pub options(options: CallOptions) => self.request = self.request.extension(options);
    }

    /// Receives it into a file. It is written to that path with `.gax-part` at its end, and gets its name once it is whole and
    /// verified, instead of a file that was there, whose permissions it gets. Of a symbolic link the file that it names is replaced.
    ///
    /// The path is yours to choose: see [`path_within`](crate::path_within) for names that a server has given.
    ///
    /// # Errors
    ///
    /// See [`TransferError`]. Nothing has the name of the path then but what had it before. While another download receives into
    /// that file, in this process or (on Unix) another one, this is an error immediately.
    ///
    /// # Cancel safety
    ///
    /// See [`Download`].
    pub fn to_file<S: TransferService, P: Into<PathBuf>>(
        self,
        client: &HttpRetryService<S>,
        path: P,
    ) -> impl Future<Output = Result<Transferred, TransferError>> + Send + use<'a, S, P> {
        let (client, path) = (layered_client(client).clone(), path.into());
        async move {
            let parallel = self.parallel;
            let mut file = PartialFile::open(&path, self.is_resumable).await.map_err(Failure::unbegun)?;
            let state = self.is_resumable.then(|| Checkpoints::new(file.state()));
            let receiver = self.receiver(client, state).map_err(Failure::unbegun)?;
            let options = Arc::clone(&receiver.options);
            let ended = receiver.receive_file(&file, parallel).await;
            let is_useless = ended.as_ref().is_err_and(|error| {
                let kinds = [TransferErrorKind::ChecksumMismatch, TransferErrorKind::ObjectChanged];
                kinds.contains(&error.kind()) || file.length() == 0
            });
            if is_useless {
                file.discard();
            }
            let downloaded = match ended {
                Ok(downloaded) => {
                    let finished = file.finish(downloaded.bytes()).await;
                    finished.map_err(|failure| downloaded.failed(failure)).map(|()| downloaded)
                }
                failed => failed,
            };
            if let Some(state) = options.state.as_ref().filter(|_| is_useless || downloaded.is_ok()) {
                // A download that starts over replaces it, should it stay.
                drop(state.set(None).await);
            }
            downloaded
        }
    }

    /// Receives it into a writer, which gets every byte once. A checksum that is wrong is known only once all of it is written.
    ///
    /// # Errors
    ///
    /// See [`TransferError`]. The writer may have a part of it then. What was written can't be taken back, so that an object
    /// which is replaced meanwhile is an error.
    ///
    /// # Cancel safety
    ///
    /// See [`Download`].
    pub fn to_writer<S: TransferService, W: AsyncWrite + Send + Unpin + 'a>(
        self,
        client: &HttpRetryService<S>,
        writer: W,
    ) -> impl Future<Output = Result<Transferred, TransferError>> + Send + use<'a, S, W> {
        let client = layered_client(client).clone();
        async move {
            let checksums = self.checksums;
            let mut receiver = self.receiver(client, None).map_err(Failure::unbegun)?;
            let (sink, on_progress) =
                (Sink::writer(Box::new(writer), checksums), receiver.on_progress.take());
            receiver.range(receiver.progress(sink), on_progress).await
        }
    }

    /// Receives it into memory, up to [`max_bytes`](Self::max_bytes).
    ///
    /// # Errors
    ///
    /// See [`TransferError`].
    ///
    /// # Cancel safety
    ///
    /// See [`Download`].
    pub fn to_bytes<S: TransferService>(
        self,
        client: &HttpRetryService<S>,
    ) -> impl Future<Output = Result<(Bytes, Transferred), TransferError>> + Send + use<'a, S> {
        let client = layered_client(client).clone();
        async move {
            let sink = Sink::memory(self.max_bytes, self.checksums);
            let mut receiver = self.receiver(client, None).map_err(Failure::unbegun)?;
            let (progress, on_progress) = (receiver.progress(sink), receiver.on_progress.take());
            let downloaded = receiver.range(progress.clone(), on_progress).await?;
            let bytes = progress.lock().sink.take_memory();
            Ok((bytes, downloaded))
        }
    }

    /// All that it takes to receive it.
    fn receiver<S: TransferService>(
        self,
        client: LayeredClient<S>,
        state: Option<Checkpoints>,
    ) -> Result<Receiver<'a, S>, Failure> {
        let mut request = self.request.into_parts()?;
        if request.headers.contains_key(RANGE) {
            let problem = "a download requests the ranges that it needs itself: remove the header `Range`";
            return Err(Failure::new(TransferErrorKind::Invalid, problem));
        }
        let config = client.shared.config_for(&mut request);
        let options = DownloadOptions {
            name: self.state_name.unwrap_or_else(|| request.uri.to_string()),
            request,
            is_object: self.is_object,
            generation: self.generation,
            is_stored: self.is_stored,
            state,
        };
        Ok(Receiver {
            client,
            config,
            options: Arc::new(options),
            idle_timeout: self.idle_timeout,
            on_progress: self.on_progress,
            // The state of a resumable download has it.
            checksums: Checksums { crc32c: self.checksums.crc32c || self.is_resumable, ..self.checksums },
        })
    }
}

// Neither URIs nor headers, which may have secrets.
gax_text::short_debug! {
    self: Download<'_> { request: self.request, checksums: self.checksums, is_resumable: self.is_resumable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_of_a_download() {
        let second = Duration::from_secs(1);
        let download = Download::new(http::Request::get("http://storage.test/o").body(()).unwrap());
        assert_eq!(download.max_bytes, 1 << 30);
        let download = download.header("x-a", "1").query("q", "2").idle_timeout(second);
        let download = download.options(CallOptions::new());
        assert_eq!(download.idle_timeout, Some(second));
        let request = download.request.into_parts().unwrap();
        assert_eq!(request.uri.query(), Some("q=2"));
        assert_eq!(request.headers["x-a"], "1");
        assert!(request.extensions.get::<CallOptions>().is_some());
    }
}
