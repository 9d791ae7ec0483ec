//! The credentials that were fetched last: decisions alone, without a clock and without a task.

use super::auth_headers::AuthHeaders;
use crate::credentials::error::CredentialsError;
use gax_retry::Code;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The least time between two times at which refused credentials are fetched again: a server that refuses all of them is not
/// helped by more.
const BETWEEN_INVALIDATIONS: Duration = Duration::from_secs(10);
/// Others are fetched that much before these expire, or in the last tenth of their lifetime, if that is shorter.
const BEFORE_EXPIRY: Duration = Duration::from_secs(4 * 60);
/// The pause after a fetch that failed. It doubles with each failure in a row, up to the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Credentials are used for at least that long: a source that gives them no lifetime is not asked for each request.
const MIN_LIFETIME: Duration = Duration::from_secs(1);

/// Credentials with the number of their fetch.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    pub(super) headers: Arc<AuthHeaders>,
    pub(super) number: u64,
}

/// The result of a fetch; `None`: it continues.
pub(super) type Landing = Option<Result<Fetched, CredentialsError>>;

/// A fetch that everybody who needs it waits for.
pub(super) type Flight = watch::Receiver<Landing>;

#[derive(Debug, Default)]
pub(super) struct Cache {
    current: Option<Valid>,
    /// How many fetches have succeeded.
    fetches: u64,
    flight: Option<Flight>,
    invalidated: Option<Duration>,
    failure: Option<Failure>,
}

/// The last fetch, which has failed.
#[derive(Debug)]
struct Failure {
    error: CredentialsError,
    pause: Duration,
    /// The end of the pause.
    until: Duration,
}

#[derive(Debug)]
struct Valid {
    fetched: Fetched,
    stale: Option<Duration>,
    expires: Option<Duration>,
}

/// The step that a request needs first.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Use these; and fetch others meanwhile, if `is_stale`.
    Use { fetched: Fetched, is_stale: bool },
    /// Wait for the fetch that is on its way.
    Wait(Flight),
    /// Fetch some, and wait for them.
    Fetch,
    /// There are none: the last fetch has failed a short time ago.
    Failed(CredentialsError),
}

impl Cache {
    /// The step that a request needs first which is sent now.
    pub(super) fn look(&mut self, now: Duration) -> Lookup {
        self.settle(now);
        let failure = self.failure.as_ref().filter(|failure| now < failure.until);
        let current = self.current.as_ref();
        if let Some(current) = current.filter(|current| current.expires.is_none_or(|expires| now < expires)) {
            let is_old = current.stale.is_some_and(|stale| now >= stale);
            let is_stale = is_old && failure.is_none() && self.flight.is_none();
            return Lookup::Use { fetched: current.fetched.clone(), is_stale };
        }
        match (&self.flight, failure) {
            (Some(flight), _) => Lookup::Wait(flight.clone()),
            (None, Some(failure)) => Lookup::Failed(failure.error.clone()),
            (None, None) => Lookup::Fetch,
        }
    }

    /// Notices that the task of a fetch is gone, since the source has panicked.
    pub(super) fn settle(&mut self, now: Duration) {
        if self.flight.as_ref().is_some_and(|flight| flight.has_changed().is_err()) {
            let _panicked = self.landed(Err(panicked()), now);
        }
    }

    /// A fetch is on its way.
    pub(super) fn began(&mut self, flight: Flight) {
        self.flight = Some(flight);
    }

    /// A fetch has ended.
    pub(super) fn landed(
        &mut self,
        result: Result<AuthHeaders, CredentialsError>,
        now: Duration,
    ) -> Result<Fetched, CredentialsError> {
        self.flight = None;
        match result {
            Ok(headers) => {
                self.fetches += 1;
                let lifetime = headers.lifetime.map(|lifetime| lifetime.max(MIN_LIFETIME));
                let expires = lifetime.map(|lifetime| now.saturating_add(lifetime));
                let early = lifetime.map(|lifetime| BEFORE_EXPIRY.min(lifetime / 10));
                let stale = expires.zip(early).map(|(expires, early)| expires.saturating_sub(early));
                let fetched = Fetched { headers: Arc::new(headers), number: self.fetches };
                self.failure = None;
                self.current = Some(Valid { fetched: fetched.clone(), stale, expires });
                Ok(fetched)
            }
            Err(error) => {
                let before = self.failure.as_ref().map(|failure| failure.pause * 2);
                let pause = before.unwrap_or(FIRST_PAUSE).min(MAX_PAUSE);
                self.failure =
                    Some(Failure { error: error.clone(), pause, until: now.saturating_add(pause) });
                Err(error)
            }
        }
    }

    /// A server has refused the credentials of that fetch. Returns whether a request is worth sending again: there are others,
    /// or others are going to be fetched.
    pub(super) fn refused(&mut self, number: u64, now: Duration) -> bool {
        let is_current = self.current.as_ref().is_some_and(|current| current.fetched.number == number);
        if !is_current {
            return true;
        }
        if self.invalidated.is_some_and(|before| now < before + BETWEEN_INVALIDATIONS) {
            return false;
        }
        self.invalidated = Some(now);
        self.current = None;
        true
    }
}

/// The failure of a fetch whose task is gone.
pub(super) fn panicked() -> CredentialsError {
    CredentialsError::new(Code::Unauthenticated, "the source of the credentials has panicked")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn lasting(seconds: u64) -> AuthHeaders {
        AuthHeaders::bearer("t").unwrap().expires_in(Duration::from_secs(seconds))
    }

    /// The step at that second, in a word.
    fn look(cache: &mut Cache, at: u64) -> String {
        match cache.look(seconds(at)) {
            Lookup::Use { fetched, is_stale } => {
                format!("{}{}", fetched.number, if is_stale { " stale" } else { "" })
            }
            Lookup::Wait(_) => "wait".to_owned(),
            Lookup::Fetch => "fetch".to_owned(),
            Lookup::Failed(error) => error.reason().to_string(),
        }
    }

    #[test]
    fn credentials_are_used_until_shortly_before_they_expire() {
        let mut cache = Cache::default();
        assert_eq!(look(&mut cache, 0), "fetch");
        cache.landed(Ok(lasting(3600)), seconds(1)).unwrap();
        for (at, expected) in [(1, "1"), (3360, "1"), (3361, "1 stale"), (3600, "1 stale"), (3601, "fetch")] {
            assert_eq!(look(&mut cache, at), expected, "{at}");
        }
        let (sender, flight) = watch::channel(None);
        cache.began(flight);
        assert_eq!((look(&mut cache, 3500), look(&mut cache, 3601)), ("1".to_owned(), "wait".to_owned()));
        // The source has panicked.
        drop(sender);
        for (at, expected) in [(3500, "1"), (3501, "1 stale"), (3601, "fetch")] {
            assert_eq!(look(&mut cache, at), expected, "{at}");
        }
        // Those that last a short time are used for nine tenths of it.
        cache.landed(Ok(lasting(100)), seconds(4000)).unwrap();
        assert_eq!((look(&mut cache, 4089), look(&mut cache, 4090)), ("2".to_owned(), "2 stale".to_owned()));
        // Those without a lifetime, for a second.
        cache.landed(Ok(lasting(0)), seconds(4100)).unwrap();
        assert_eq!((look(&mut cache, 4100), look(&mut cache, 4101)), ("3".to_owned(), "fetch".to_owned()));
        cache.landed(Ok(AuthHeaders::new()), seconds(5000)).unwrap();
        assert_eq!(look(&mut cache, u64::MAX), "4");
    }

    #[test]
    fn fetches_that_fail_are_repeated_after_pauses_that_grow() {
        let mut cache = Cache::default();
        cache.landed(Ok(lasting(100)), seconds(0)).unwrap();
        for (at, pause) in [(90_000, 100), (92_000, 200), (94_000, 400), (96_000, 800)] {
            let at = Duration::from_millis(at);
            cache.landed(Err(CredentialsError::new(Code::Unavailable, "down")), at).unwrap_err();
            let next = at + Duration::from_millis(pause);
            let early = cache.look(at + Duration::from_millis(pause - 1));
            assert!(matches!(early, Lookup::Use { is_stale: false, .. }), "{early:?}");
            let late = cache.look(next);
            assert!(matches!(late, Lookup::Use { is_stale: true, .. }), "{late:?}");
        }
        for at in [100, 110, 120, 130] {
            cache.landed(Err(CredentialsError::new(Code::Unavailable, "down")), seconds(at)).unwrap_err();
            assert_eq!(look(&mut cache, at), "down");
        }
        assert_eq!((look(&mut cache, 139), look(&mut cache, 140)), ("down".to_owned(), "fetch".to_owned()));
        cache.landed(Ok(lasting(0)), seconds(140)).unwrap();
        cache.landed(Err(CredentialsError::new(Code::Unavailable, "down")), seconds(150)).unwrap_err();
        assert_eq!((look(&mut cache, 150), look(&mut cache, 151)), ("down".to_owned(), "fetch".to_owned()));
    }

    #[test]
    fn refused_credentials_are_fetched_anew_at_most_once_in_ten_seconds() {
        let mut cache = Cache::default();
        cache.landed(Ok(lasting(3600)), seconds(0)).unwrap();
        assert!(cache.refused(1, seconds(5)));
        assert_eq!(look(&mut cache, 5), "fetch");
        // Another call with the same ones waits for the same fetch.
        assert!(cache.refused(1, seconds(5)));
        cache.landed(Ok(lasting(3600)), seconds(6)).unwrap();
        assert!(cache.refused(1, seconds(7)));
        assert_eq!(look(&mut cache, 7), "2");
        assert!(!cache.refused(2, seconds(14)));
        assert_eq!(look(&mut cache, 14), "2");
        assert!(cache.refused(2, seconds(15)));
        assert_eq!(look(&mut cache, 15), "fetch");
    }
}
