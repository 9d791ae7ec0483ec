//! An upload, as a program describes it.

use crate::checksum::Checksums;
use crate::error::{Failure, TransferError, TransferErrorKind};
use crate::progress::TransferProgress;
use crate::protocol::{Ended, OnProgress, TransferProtocol};
use crate::range::generation;
use crate::request::TransferRequest;
use crate::service::TransferService;
use crate::session::{Dialect, GRANULARITY, UploadSession};
use crate::state_file::StateFile;
use crate::transferred::Transferred;
use crate::upload::cancel::Abandoned;
use crate::upload::dialects::storage::with_upload_type;
use crate::upload::exchange::{OnSession, UploadExchange};
use crate::upload::options::UploadOptions;
use crate::upload::parts::{UploadParts, UploadState};
use crate::upload::plan::Plan;
use crate::upload::reading::SharedSource;
use crate::upload::source::UploadSource;
use bytes::Bytes;
use gax_driver::__private::Locked;
use gax_driver::{CallOptions, Note};
use gax_http::__private::{HttpConfig, layered_client};
use gax_http::HttpRetryService;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Users other than its owner can write the state file of an upload, so the upload started from the beginning.
pub const STATE_FILE_IGNORED: Note = Note::new(&(
    "transfer.state_file_ignored",
    "users other than its owner can write the state file: ignored",
));

/// The longest source that is sent in one request, unless said: like gsutil.
const SINGLE_BELOW: u64 = 8 * 1024 * 1024;

/// An upload that resumes: by Cloud Storage's protocol or by Google's universal one, over a client with the HTTP layer.
///
/// Use it for files that are too large to send again after a failure. All its requests are attempts of one operation, with the settings
/// of that layer: its statuses are retried, its total timeout limits the whole upload, and its observers are notified. If a reply
/// says that the server has more bytes than before, this is progress: back-off and the number of attempts start again. Starting a
/// session and asking what the server has are not retries.
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | [`checksums`](Self::checksums) | CRC32C, sent with the last bytes and compared with the object's |
/// | [`single_request_below`](Self::single_request_below) | 8 MiB, where one request is safe to retry |
/// | [`chunk_size`](Self::chunk_size) | one streamed request; 8 MiB where the source can't seek |
/// | [`idle_timeout`](Self::idle_timeout) | the layer's, else 60 s |
/// | [`state_file`](Self::state_file) | none |
///
/// # Errors
///
/// [`TransferError`], with the report of all requests and the session, by which the upload can [continue](Self::resume).
///
/// # Cancel safety
///
/// Dropping the future of [`send`](Self::send) drops the request in flight. Then a separate task asks the server to cancel the
/// session, as far as there is one, by a request that no caller waits for; a process that ends takes that with it. Nothing is
/// cancelled where the upload is to continue: with a [`state_file`](Self::state_file), with [`on_session`](Self::on_session), and
/// if it was [resumed](Self::resume).
///
/// # Examples
///
/// ```no_run
/// use gax_http::HttpRetryLayer;
/// use gax_http::{presets, ReqwestService};
/// use gax_transfer::{Upload, UploadSource};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ReqwestService::for_transfers(reqwest::Client::builder())?;
/// let client = HttpRetryLayer::preset(&presets::storage().without_deadline().with_max_attempts(8)).layer(client);
/// let upload = Upload::to_object("https://storage.googleapis.com", "photos", "cat.jpg", UploadSource::file("cat.jpg"))
///     .header("authorization", "Bearer ya29...")
///     .query("ifGenerationMatch", "0")
///     .content_type("image/jpeg")
///     .state_file("cat.jpg.upload");
/// let uploaded = upload.send(&client).await?;
/// println!("{} bytes, {} resumptions", uploaded.bytes(), uploaded.resumptions());
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is sent until `send` is awaited"]
pub struct Upload<'a> {
    request: TransferRequest,
    dialect: Dialect,
    session: Option<UploadSession>,
    source: UploadSource,
    metadata: Bytes,
    content_type: Option<HeaderValue>,
    chunk_size: Option<u64>,
    single_below: u64,
    checksums: Checksums,
    idle_timeout: Option<Duration>,
    state_file: Option<PathBuf>,
    state_name: Option<String>,
    on_session: Option<OnSession<'a>>,
    on_progress: Option<OnProgress<'a>>,
}

impl<'a> Upload<'a> {
    fn of(request: TransferRequest, dialect: Dialect, source: UploadSource) -> Self {
        Self {
            request,
            dialect,
            session: None,
            source,
            metadata: Bytes::new(),
            content_type: None,
            chunk_size: None,
            single_below: SINGLE_BELOW,
            checksums: Checksums::default(),
            idle_timeout: None,
            state_file: None,
            state_name: None,
            on_session: None,
            on_progress: None,
        }
    }

    /// An upload to an object of Cloud Storage, by its JSON API. The endpoint is `https://storage.googleapis.com` or an emulator.
    /// Names that are `.` or `..`, or have such a part between slashes, are refused.
    pub fn to_object(endpoint: &str, bucket: &str, name: &str, source: impl Into<UploadSource>) -> Self {
        let request =
            TransferRequest::to_object(http::Method::POST, endpoint, "/upload/storage/v1", bucket, name);
        Self::of(request, Dialect::Storage, source.into())
    }

    /// An upload by Cloud Storage's protocol that begins with this request. Its method becomes `POST`, and `uploadType` is
    /// set as it is needed; its extensions may have a [`Preset`](gax_http::Preset) or [`CallOptions`], as those of any request.
    pub fn new(request: http::Request<()>, source: impl Into<UploadSource>) -> Self {
        Self::of(TransferRequest::new(request, http::Method::POST), Dialect::Storage, source.into())
    }

    /// An upload by Google's universal protocol (`X-Goog-Upload-*`: Photos, `YouTube`, files of Gemini) that begins with this
    /// request. It always has a session, and sends no checksums: what a server says of them is compared.
    ///
    /// By that protocol an error without `X-Goog-Upload-Status` is final, regardless of its status, once there is a session.
    pub fn universal(request: http::Request<()>, source: impl Into<UploadSource>) -> Self {
        Self::of(TransferRequest::new(request, http::Method::POST), Dialect::Universal, source.into())
    }

    /// Continues an upload by its session, for example after a restart of the program. The server is asked how much it has. A source
    /// that can't seek has to start at the first byte. If the session has expired (404, 410), the upload fails, because a session
    /// alone doesn't say how to start another one.
    pub fn resume(session: UploadSession, source: impl Into<UploadSource>) -> Self {
        let mut request = http::Request::new(());
        *request.uri_mut() = session.uri.clone();
        let upload =
            Self::of(TransferRequest::new(request, http::Method::POST), session.dialect, source.into());
        Self { session: Some(session), ..upload }
    }

    /// Adds a header to every request of the upload to the same origin; conditions (`If-..`) are only sent with the first request.
    /// A session at another origin gets no credentials. `Content-Type` is the [type of the content](Self::content_type).
    pub fn header(
        self,
        name: impl TryInto<HeaderName, Error: Into<http::Error>>,
        value: impl TryInto<HeaderValue, Error: Into<http::Error>>,
    ) -> Self {
        Self { request: self.request.header(name, value), ..self }
    }

    gax_text::setters! { self:
        /// Adds a parameter to the query of the first request: `ifGenerationMatch`, say, which makes it safe to retry.
        pub query(name: &str, value: &str) => self.request = self.request.query(name, value);

        /// The metadata of the object, as JSON. Checksums join it if they are known before.
        pub metadata(json: impl Into<Bytes>) => self.metadata = json.into();
    }

    /// The type of the content.
    pub fn content_type(mut self, content_type: &str) -> Self {
        match HeaderValue::try_from(content_type) {
            Ok(value) => self.content_type = Some(value),
            Err(error) => self.request.invalidate("the content type is not a value of a header", error),
        }
        self
    }

    gax_text::setters! { self:
        /// Sends chunks of this size, each in a separate request, instead of one streamed request. It has to be a multiple of 256 KiB. A
        /// chunk of a source that can't seek is held in memory until the server has it.
        pub chunk_size(bytes: u64) => self.chunk_size = Some(bytes);

        /// Sends a source of at most that many bytes in one request without a session, from memory, if such a request is safe to retry
        /// by the layer's idempotency table: for example with `ifGenerationMatch`. 0: there is always a session.
        pub single_request_below(bytes: u64) => self.single_below = bytes;

        /// The checksums that are computed, sent and compared.
        pub checksums(checksums: Checksums) => self.checksums = checksums;

        /// The longest that nothing may be sent or received while a request is in flight. It is treated as an attempt that timed out.
        pub idle_timeout(timeout: Duration) => self.idle_timeout = Some(timeout);

        /// Stores the session in that file, so that the same upload continues in another process. The file is removed at the end. The
        /// session is a secret: only the file's owner can read it. If the source has another size, a file was changed meanwhile, or bytes
        /// in memory have another checksum, the upload starts again. It also does so with another content type, other metadata or
        /// conditions. For other sources, only the size is compared. A file that other users can write is ignored, with the note
        /// [`STATE_FILE_IGNORED`](crate::STATE_FILE_IGNORED). It is written as `PATH.gax-new` first.
        ///
        /// A file of another request, a file without an upload's state, and a file that can't be written are errors
        /// ([`StateFile`](TransferErrorKind::StateFile)) before anything is sent. The file stays after a failure from which the upload
        /// can continue later. Two uploads may use one file at the same time: each continues with the session that it has found or
        /// started, and the server accepts each byte once. With the universal protocol, the upload that ends the session second is
        /// rejected.
        pub state_file(path: impl Into<PathBuf>) => self.state_file = Some(path.into());

        /// The object's name in the [state file](Self::state_file), instead of the URI of the first request. Use it for URIs that are
        /// signed, whose query is another one each time. Default: the URI.
        pub state_name(name: impl Into<String>) => self.state_name = Some(name.into());

        /// Calls this with each session that is started, so that the program can keep it.
        pub on_session(on_session: impl FnMut(&UploadSession) + Send + 'a) =>
            self.on_session = Some(Box::new(on_session));

        /// Calls this while bytes are sent. A panic of the closure is passed to the caller.
        pub on_progress(on_progress: impl FnMut(&TransferProgress) + Send + 'a) =>
            self.on_progress = Some(Box::new(on_progress));

        /// Sets options for this upload only.
        pub options(options: CallOptions) => self.request = self.request.extension(options);
    }

    /// Sends the source.
    ///
    /// # Errors
    ///
    /// See [`TransferError`].
    ///
    /// # Cancel safety
    ///
    /// See [`Upload`].
    pub fn send<S: TransferService>(
        self,
        client: &HttpRetryService<S>,
    ) -> impl Future<Output = Result<Transferred, TransferError>> + Send + use<'a, S> {
        let client = layered_client(client).clone();
        async move {
            let Self { request, dialect, session, source, metadata, content_type, chunk_size, .. } = self;
            let mut request = request.into_parts().map_err(Failure::unbegun)?;
            let config = client.shared.config_for(&mut request);
            // A header of that name speaks of the content, too.
            let content_type = content_type.or(request.headers.remove(CONTENT_TYPE));
            let name = self.state_name.unwrap_or_else(|| request.uri.to_string());
            let options = UploadOptions { request, name, metadata, content_type, chunk_size };
            options.check(self.checksums).map_err(Failure::unbegun)?;
            let source = SharedSource::open(source, self.checksums).await.map_err(Failure::unbegun)?;
            let state = self.state_file.map(StateFile::new);
            let is_resumed = session.is_some();
            let (session, note) = match (session, &state) {
                (None, Some(state)) => {
                    stored(state, dialect, &options, &source).await.map_err(Failure::unbegun)?
                }
                (session, _) => (session, None),
            };
            let plan = if session.is_some() {
                Plan::resumed(!is_resumed)
            } else {
                let is_single =
                    dialect == Dialect::Storage && is_single(&config, &options, &source, self.single_below);
                Plan::new(is_single, state.is_some())
            };
            let goes_on = is_resumed || state.is_some() || self.on_session.is_some();
            let parts = Arc::new(UploadParts {
                options,
                dialect,
                source,
                session: Locked::new(session),
                state,
                sent: Arc::default(),
                is_spent: AtomicBool::new(false),
                is_verified: AtomicBool::new(false),
            });
            let mut abandoned = Abandoned::new(client.service.clone(), &parts, !goes_on);
            let (started, on_session) = (&parts.options.request, self.on_session);
            // Even the path of a session's URI may be a secret.
            let name = if is_resumed {
                "resume an upload".to_owned()
            } else {
                format!("{} {}", started.method, started.uri.path())
            };
            let exchange = UploadExchange { parts: Arc::clone(&parts), plan, on_session, doubt: None };
            let (timeout, on_progress) = (self.idle_timeout, self.on_progress);
            let running = TransferProtocol::run((name, note), client, config, exchange, timeout, on_progress);
            let Ended { result, report, transfer } = running.await;
            abandoned.disarm();
            let is_spent = result.is_err() && parts.is_spent.load(Ordering::Relaxed);
            if is_spent {
                *parts.session.lock() = None;
            }
            let is_kept = result
                .as_ref()
                .is_err_and(|failure| !is_spent && failure.kind != TransferErrorKind::SourceChanged);
            if !is_kept && let Some(state) = &parts.state {
                // The server knows of a session that its upload has ended, should the file stay.
                drop(state.remove().await);
            }
            match result {
                Ok(response) => {
                    let sums = parts.source.lock().sums().unwrap_or_default();
                    let generation = generation(response.headers());
                    let (is_verified, ranges) = (parts.is_verified.load(Ordering::Relaxed), Vec::new());
                    Ok(Transferred { response, generation, transfer, sums, is_verified, report, ranges })
                }
                Err(failure) => Err(TransferError::new(failure, Some(report), transfer, parts.session())),
            }
        }
    }
}

/// The session in a state file, if it would make the object of this upload, and what is to be noted of the file.
async fn stored(
    state: &StateFile,
    dialect: Dialect,
    options: &UploadOptions,
    source: &SharedSource,
) -> Result<(Option<UploadSession>, Option<Note>), Failure> {
    let Some(stored) = state.load::<UploadState>().await? else { return Ok((None, None)) };
    if stored.dialect != dialect || stored.request != options.name {
        return Err(state.of_another());
    }
    if !state.is_private().await {
        return Ok((None, Some(STATE_FILE_IGNORED)));
    }
    let is_same = stored.is_of(options, &source.lock());
    Ok((stored.session().filter(|_| is_same), None))
}

/// Returns whether all of it goes into one request: it is short, and the request safe to retry.
fn is_single(config: &HttpConfig, options: &UploadOptions, source: &SharedSource, below: u64) -> bool {
    let is_short = source.lock().size().is_some_and(|size| size <= below);
    let mut request = options.request.clone();
    request.uri = with_upload_type(&request.uri, "multipart");
    is_short && below > 0 && config.classify(&request, &options.metadata).permits(config.strategy)
}

impl UploadOptions {
    fn check(&self, checksums: Checksums) -> Result<(), Failure> {
        let invalid = |problem: &'static str| Err(Failure::new(TransferErrorKind::Invalid, problem));
        if self.chunk_size.is_some_and(|chunk| chunk == 0 || chunk % GRANULARITY != 0) {
            return invalid("the chunk size is not a multiple of 256 KiB");
        }
        let is_object = || serde_json::from_slice::<serde_json::Map<_, _>>(&self.metadata).is_ok();
        if !checksums.is_empty() && !self.metadata.is_empty() && !is_object() {
            return invalid("the metadata is not a JSON object");
        }
        Ok(())
    }
}

/// Short: neither URIs nor headers, which may have secrets.
impl fmt::Debug for Upload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Upload");
        // Even the path of a session's URI may be a secret.
        match &self.session {
            Some(session) => text.field("session", session),
            None => text.field("request", &self.request),
        };
        text.field("source", &self.source).field("checksums", &self.checksums).finish_non_exhaustive()
    }
}
