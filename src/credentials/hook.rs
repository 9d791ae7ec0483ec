//! Where credentials come from.

use super::auth_headers::AuthHeaders;
use super::cache::{Cache, Fetched, Flight, Landing, Lookup};
use super::credentials_error::CredentialsError;
use crate::operation::Clock;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tonic::Status;

type Fetch = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<AuthHeaders, Status>> + Send>> + Send + Sync>;

/// Credentials, fetched by a closure of the program's and cached. Clones share them.
///
/// The closure is called when an attempt needs credentials and there are none, and again when they are about to expire: 4 minutes
/// before, or in the last tenth of their lifetime, if that is shorter. Until they expire, attempts go on with the old ones
/// meanwhile. It is called once at a time, in a task of its own, whoever waits for it and whoever goes away; all get
/// the same result. If it fails, the attempts that wait fail with its status, as not sent: they are retried if that code is
/// retryable, so let it be `UNAVAILABLE` where trying again may help.
///
/// # Refused credentials
///
/// Where a server refuses a request as `UNAUTHENTICATED`, the cache only believes that its credentials are valid. A client
/// or layer of this crate drops them then, and sends the request again at once with fresh ones, whatever its retryable codes
/// are: an attempt like others, which counts. (By gax-java's rules it is sent after the retry delay.) Credentials are dropped
/// at most once in ten seconds; a call that is refused again ends. That needs a response without messages, as servers
/// send it that look at credentials first.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use tonic_gax::credentials::{AuthHeaders, Credentials, CredentialsService};
///
/// # async fn token() -> Result<String, std::io::Error> { Ok("t".to_owned()) }
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let credentials = Credentials::new(|| async {
///     let token = token().await.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
///     let headers = AuthHeaders::bearer(&token).map_err(|error| tonic::Status::unauthenticated(error.to_string()))?;
///     Ok(headers.expires_in(Duration::from_secs(3600)))
/// });
/// let channel = tonic_gax::client::connect("https://library.example.com").await?;
/// let channel = CredentialsService::new(channel, credentials);
/// // let client = LibraryServiceClient::new(channel);
/// # drop(channel);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Credentials {
    shared: Arc<Shared>,
    universe: Option<Arc<str>>,
}

struct Shared {
    fetch: Fetch,
    clock: Clock,
    cache: Mutex<Cache>,
}

/// Nothing of them is printed.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

impl Credentials {
    /// Credentials that the closure fetches.
    pub fn new<F, Fut>(fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<AuthHeaders, Status>> + Send + 'static,
    {
        let shared = Shared {
            fetch: Box::new(move || Box::pin(fetch())),
            clock: Clock::start(),
            cache: Mutex::default(),
        };
        Self { shared: Arc::new(shared), universe: None }
    }

    /// The universe domain of the service, such as that of its
    /// [`ServiceEndpoint`](crate::google::ServiceEndpoint::universe). Credentials that say that they are of another one are
    /// not sent: the call ends with `FAILED_PRECONDITION`. Default: not compared.
    #[must_use]
    pub fn universe_domain(self, domain: &str) -> Self {
        Self { universe: Some(domain.into()), ..self }
    }

    /// The credentials for a request, if they are there, or else the fetch that they come from.
    pub(super) fn look(&self) -> Result<Result<Fetched, Flight>, CredentialsError> {
        let mut cache = self.shared.cache();
        match cache.look(self.shared.clock.elapsed()) {
            Lookup::Use { fetched, is_stale } => {
                if is_stale && let Ok(flight) = Shared::fetch(&self.shared) {
                    cache.began(flight);
                }
                drop(cache);
                self.checked(fetched).map(Ok)
            }
            Lookup::Wait(flight) => Ok(Err(flight)),
            Lookup::Fetch => {
                let flight = Shared::fetch(&self.shared)?;
                cache.began(flight.clone());
                Ok(Err(flight))
            }
        }
    }

    /// The credentials that a fetch brings.
    pub(super) async fn landed(&self, mut flight: Flight) -> Result<Fetched, CredentialsError> {
        let landing = flight.wait_for(Option::is_some).await.map(|landing| landing.clone());
        match landing {
            Ok(Some(Ok(fetched))) => self.checked(fetched),
            Ok(Some(Err(status))) => Err(CredentialsError::new(status)),
            Ok(None) | Err(_) => Err(CredentialsError::new(Status::unauthenticated(
                "the source of the credentials has panicked",
            ))),
        }
    }

    fn checked(&self, fetched: Fetched) -> Result<Fetched, CredentialsError> {
        match (&self.universe, &fetched.headers.universe) {
            (Some(wanted), Some(universe)) if **wanted != **universe => {
                let problem = format!(
                    "the credentials are of the universe {universe:?}, but the client is of {:?}: use credentials of that one",
                    &**wanted
                );
                Err(CredentialsError::new(Status::failed_precondition(problem)))
            }
            _ => Ok(fetched),
        }
    }

    /// A server has refused the credentials of that fetch. Returns whether the request is worth sending again.
    pub(super) fn refused(&self, number: u64) -> bool {
        self.shared.cache().refused(number, self.shared.clock.elapsed())
    }
}

impl Shared {
    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a fetch, in a task of its own.
    fn fetch(shared: &Arc<Self>) -> Result<Flight, CredentialsError> {
        let runtime = Handle::try_current().map_err(|_| {
            CredentialsError::new(Status::internal(
                "credentials are fetched in a tokio runtime, and there is none here",
            ))
        })?;
        let (sender, flight) = watch::channel::<Landing>(None);
        let shared = Arc::clone(shared);
        let task = async move {
            let result = (shared.fetch)().await;
            let landing = shared.cache().landed(result, shared.clock.elapsed());
            sender.send_replace(Some(landing));
        };
        drop(runtime.spawn(task));
        Ok(flight)
    }
}
