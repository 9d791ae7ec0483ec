//! Where credentials come from.

use super::auth_headers::AuthHeaders;
use super::cache::{Cache, Fetched, Flight, Landing, Lookup, panicked};
use super::scope::Scope;
use crate::credentials::error::CredentialsError;
use crate::locked::Locked;
use crate::operation::{Clock, Timer};
use gax_retry::Code;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

type Fetching = Pin<Box<dyn Future<Output = Result<AuthHeaders, CredentialsError>> + Send>>;
type Fetch = Box<dyn Fn() -> Fetching + Send + Sync>;

/// Credentials, fetched by a closure of the program and cached. Clones share them.
///
/// The closure is called when an attempt needs credentials and there are none, and again when they are about to expire: 4 minutes
/// before, or in the last tenth of their lifetime, if that is shorter. Until they expire, attempts use the old ones. Only one call of
/// the closure runs at a time, in a separate task that doesn't depend on the attempts that wait for it; all of them get the same
/// result. If it fails, the attempts that wait fail with its status, as not sent: they are retried if that code is retryable, so use
/// `UNAVAILABLE` if trying again may help. The closure is called again after a pause: 100 ms, doubled after each consecutive failure,
/// at most 10 s. Attempts that need credentials within the pause fail with the same status. A closure that takes longer than 60 s is
/// dropped, as `UNAVAILABLE`.
///
/// # Refused credentials
///
/// If a server refuses a request as `UNAUTHENTICATED`, or with the HTTP status 401, the cached credentials are no longer valid,
/// although they have not expired. They are dropped, and the operation around the service sends the request again immediately with
/// new ones, whatever its retryable codes are. This is the same attempt, also if there is only one: it has no number and takes
/// nothing from a retry budget. Its RPC timeout starts again, within the total timeout. Credentials are dropped at most once in ten
/// seconds, and a call that is refused a second time ends. The status has to be in the head of the response, as from servers that
/// check credentials first. After a 401, also requests that aren't safe to retry are sent again; a body that can't be replayed
/// isn't. A call that sets `authorization` itself doesn't use these credentials, so its rejection doesn't drop them.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use gax_driver::Code;
/// use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsError, CredentialsService};
///
/// # async fn token() -> Result<String, std::io::Error> { Ok("t".to_owned()) }
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let credentials = Credentials::new(|| async {
///     let token = token().await.map_err(|error| CredentialsError::new(Code::Unavailable, error))?;
///     Ok(AuthHeaders::bearer(&token)?.expires_in(Duration::from_secs(3600)))
/// });
/// # let channel = ();
/// // let channel = gax_driver::client::connect("https://library.example.com").await?;
/// let channel = CredentialsService::new(channel, credentials);
/// // let client = LibraryServiceClient::new(channel);
/// # drop(channel);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Credentials {
    shared: Arc<Shared>,
    scope: Arc<Scope>,
}

/// The credentials of a request.
pub(super) enum RequestCredentials {
    /// It gets none.
    None,
    Fetched(Fetched),
    /// Those that a fetch brings.
    Coming(Flight),
}

/// The longest that a fetch may take.
const MAX_FETCH: Duration = Duration::from_secs(60);

struct Shared {
    fetch: Fetch,
    clock: Clock,
    cache: Locked<Cache>,
}

// Nothing of them is printed.
gax_text::short_debug! { self: Credentials {} }

impl Credentials {
    /// Credentials that the closure fetches.
    pub fn new<F, Fut>(fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<AuthHeaders, CredentialsError>> + Send + 'static,
    {
        let shared = Shared {
            fetch: Box::new(move || Box::pin(fetch())),
            clock: Clock::start(),
            cache: Locked::default(),
        };
        Self { shared: Arc::new(shared), scope: Arc::default() }
    }

    /// The universe domain of the service, such as that of its
    /// `ServiceEndpoint`. Credentials that say that they are of another one are
    /// not sent: the call ends with `FAILED_PRECONDITION`. Default: not compared.
    pub fn universe_domain(mut self, domain: &str) -> Self {
        Arc::make_mut(&mut self.scope).universe = Some(domain.to_owned());
        self
    }

    /// The hosts that get these credentials where a redirect or the session of an upload leads a transfer to [another
    /// origin](crate::credentials::OtherOrigin), without ports: over `https` alone, unless plain text is [allowed](Self::allow_plaintext). The
    /// origin that the program has named gets them in any case. Default: no others.
    pub fn for_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        Arc::make_mut(&mut self.scope).hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Lets the credentials be sent in plain text, for networks that encrypt by other means, such as a service mesh. Default: only to
    /// this machine, over Unix sockets and over a connection's own [connector](https://tonic-gax.github.io/tonic-gax/connecting.html);
    /// other calls end with `FAILED_PRECONDITION`, and nothing is sent.
    pub fn allow_plaintext(mut self) -> Self {
        Arc::make_mut(&mut self.scope).allows_plaintext = true;
        self
    }

    /// The credentials for a request.
    pub(super) fn look<B>(
        &self,
        request: &mut http::Request<B>,
    ) -> Result<RequestCredentials, CredentialsError> {
        if !self.scope.admit(request)? {
            return Ok(RequestCredentials::None);
        }
        let mut cache = self.shared.cache.lock();
        match cache.look(self.shared.clock.elapsed()) {
            Lookup::Use { fetched, is_stale } => {
                if is_stale && let Ok(flight) = Shared::fetch(&self.shared) {
                    cache.began(flight);
                }
                drop(cache);
                self.checked(fetched).map(RequestCredentials::Fetched)
            }
            Lookup::Wait(flight) => Ok(RequestCredentials::Coming(flight)),
            Lookup::Failed(error) => Err(error),
            Lookup::Fetch => {
                let flight = Shared::fetch(&self.shared)?;
                cache.began(flight.clone());
                Ok(RequestCredentials::Coming(flight))
            }
        }
    }

    /// The credentials that a fetch brings.
    pub(super) async fn landed(&self, mut flight: Flight) -> Result<Fetched, CredentialsError> {
        let landing = flight.wait_for(Option::is_some).await.map(|landing| landing.clone());
        match landing {
            Ok(Some(Ok(fetched))) => self.checked(fetched),
            Ok(Some(Err(error))) => Err(error),
            Ok(None) | Err(_) => {
                self.shared.cache.lock().settle(self.shared.clock.elapsed());
                Err(panicked())
            }
        }
    }

    fn checked(&self, fetched: Fetched) -> Result<Fetched, CredentialsError> {
        match (&self.scope.universe, &fetched.headers.universe) {
            (Some(wanted), Some(universe)) if wanted != universe => {
                let problem = format!(
                    "the credentials are for the universe {universe:?}, but the client is for {wanted:?}: use credentials for that universe"
                );
                Err(CredentialsError::new(Code::FailedPrecondition, problem))
            }
            _ => Ok(fetched),
        }
    }

    /// A server has refused the credentials of that fetch. Returns whether the request is worth sending again.
    pub(super) fn refused(&self, number: u64) -> bool {
        self.shared.cache.lock().refused(number, self.shared.clock.elapsed())
    }
}

impl Shared {
    /// Begins a fetch, in a separate task.
    fn fetch(shared: &Arc<Self>) -> Result<Flight, CredentialsError> {
        let runtime = Handle::try_current().map_err(|_| {
            let reason = "credentials are fetched in a tokio runtime, and there is none";
            CredentialsError::new(Code::Internal, reason)
        })?;
        let (sender, flight) = watch::channel::<Landing>(None);
        let shared = Arc::clone(shared);
        let task = async move {
            let (mut fetching, mut timer) = ((shared.fetch)(), Timer::default());
            let deadline = Clock::start().at(MAX_FETCH);
            let result = poll_fn(|cx| match fetching.as_mut().poll(cx) {
                Poll::Ready(result) => Poll::Ready(result),
                Poll::Pending => timer.poll_at(deadline, cx).map(|()| {
                    let reason = format!("fetching the credentials took longer than {MAX_FETCH:?}");
                    Err(CredentialsError::new(Code::Unavailable, reason))
                }),
            });
            let result = result.await;
            let landing = shared.cache.lock().landed(result, shared.clock.elapsed());
            sender.send_replace(Some(landing));
        };
        drop(runtime.spawn(task));
        Ok(flight)
    }
}
