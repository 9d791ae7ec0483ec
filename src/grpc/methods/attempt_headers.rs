//! The headers that every attempt of a method has.

use super::previous_attempts::PREVIOUS_ATTEMPTS;
use super::timeout::{self, GRPC_TIMEOUT};
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderMap, HeaderValue};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const TRAILERS: HeaderValue = HeaderValue::from_static("trailers");
pub(crate) const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");

/// The headers that gRPC wants of every request, made once for a method: to clone them takes half the instructions of
/// writing them, since no name has to be hashed (bench `speed`, instructions).
#[derive(Debug, Clone)]
pub(crate) struct AttemptHeaders {
    prepared: Arc<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    /// The time of an attempt that nothing but the policy bounds: most attempts have no other.
    time: Option<Duration>,
    /// The `grpc-timeout` of such an attempt.
    timeout: Option<HeaderValue>,
    first: HeaderMap,
    /// Those of the second attempt, if attempts after the first tell the server how many came before them.
    second: Option<HeaderMap>,
}

/// The `grpc-timeout` of an attempt.
#[derive(Debug)]
pub(crate) enum AttemptTimeout {
    /// The one that was prepared.
    Usual,
    /// Its own, or none.
    Own(Option<HeaderValue>),
}

impl AttemptTimeout {
    /// What that much time is written as.
    pub(crate) fn of(time: Option<Duration>) -> Self {
        Self::Own(time.map(timeout::header_value))
    }
}

impl AttemptHeaders {
    /// The headers of attempts that usually have so much time. With `counts_attempts`, those after the first tell the
    /// server how many came before them.
    pub(crate) fn new(time: Option<Duration>, counts_attempts: bool) -> Self {
        let timeout = time.map(timeout::header_value);
        let mut first = HeaderMap::with_capacity(4);
        first.insert(TE, TRAILERS);
        first.insert(CONTENT_TYPE, GRPC);
        timeout.clone().and_then(|timeout| first.insert(GRPC_TIMEOUT, timeout));
        let second = counts_attempts.then(|| {
            let mut second = first.clone();
            second.insert(PREVIOUS_ATTEMPTS, count(1));
            second
        });
        Self { prepared: Arc::new(Prepared { time, timeout, first, second }) }
    }

    /// The same for attempts that usually have so much time.
    pub(crate) fn for_time(self, time: Option<Duration>) -> Self {
        if time == self.prepared.time { self } else { Self::new(time, self.counts_attempts()) }
    }

    /// Whether attempts after the first tell the server how many came before them: that is not for callers to tell then.
    #[inline]
    pub(crate) fn counts_attempts(&self) -> bool {
        self.prepared.second.is_some()
    }

    /// The timeout of an attempt that has so much time.
    #[inline]
    pub(crate) fn timeout(&self, time: Option<Duration>) -> AttemptTimeout {
        if time == self.prepared.time { AttemptTimeout::Usual } else { AttemptTimeout::of(time) }
    }

    /// All headers of the attempt with that number, but for what its caller adds.
    #[inline]
    pub(crate) fn of_attempt(&self, number: u32, timeout: AttemptTimeout) -> HeaderMap {
        let mut headers = match &self.prepared.second {
            Some(second) if number > 1 => second.clone(),
            _ => self.prepared.first.clone(),
        };
        if let AttemptTimeout::Own(timeout) = timeout {
            timeout::set_header(&mut headers, timeout);
        }
        if number > 2 {
            self.tell_count(&mut headers, number);
        }
        headers
    }

    /// Writes what the attempt with that number tells into the headers of a request that is there already.
    #[expect(clippy::inline_always, reason = "what is told is known there (bench `speed`, instructions)")]
    #[inline(always)]
    pub(crate) fn set(&self, headers: &mut HeaderMap, number: u32, timeout: AttemptTimeout) {
        let timeout = match timeout {
            AttemptTimeout::Usual => self.prepared.timeout.clone(),
            AttemptTimeout::Own(timeout) => timeout,
        };
        timeout::set_header(headers, timeout);
        if number > 1 {
            self.tell_count(headers, number);
        }
    }

    #[cold]
    fn tell_count(&self, headers: &mut HeaderMap, number: u32) {
        if self.counts_attempts() {
            headers.insert(PREVIOUS_ATTEMPTS, count(number.saturating_sub(1)));
        }
    }
}

/// The number as a header's value; few attempts are made, as a rule, and their numbers take no allocation.
fn count(number: u32) -> HeaderValue {
    const SMALL: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];
    let small = usize::try_from(number).ok().and_then(|number| SMALL.get(number));
    small.map_or_else(|| HeaderValue::from(number), |digit| HeaderValue::from_static(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Option<Duration> = Some(Duration::from_secs(1));

    fn told(headers: &HeaderMap) -> (Option<&str>, Option<&str>) {
        let value = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap());
        (value("grpc-timeout"), value("grpc-previous-rpc-attempts"))
    }

    /// Whole headers, and those that are put into a request, tell the same.
    fn told_both_ways(headers: &AttemptHeaders, number: u32, time: Option<Duration>) -> (String, String) {
        let whole = headers.of_attempt(number, headers.timeout(time));
        let mut given = HeaderMap::from_iter([(GRPC_TIMEOUT, HeaderValue::from_static("9S"))]);
        headers.set(&mut given, number, headers.timeout(time));
        assert_eq!(told(&whole), told(&given), "attempt {number}");
        assert_eq!((&whole[TE], &whole[CONTENT_TYPE]), (&TRAILERS, &GRPC));
        let (timeout, count) = told(&whole);
        (timeout.unwrap_or("-").to_owned(), count.unwrap_or("-").to_owned())
    }

    #[test]
    fn each_attempt_tells_its_time_and_how_many_came_before() {
        let own = Some(Duration::from_millis(5));
        for (counts, usual, number, time, expected) in [
            (true, SECOND, 1, SECOND, ("1000000u", "-")),
            (true, SECOND, 2, SECOND, ("1000000u", "1")),
            (true, SECOND, 3, SECOND, ("1000000u", "2")),
            (true, SECOND, 9, SECOND, ("1000000u", "8")),
            (true, SECOND, 4_000_000_000, SECOND, ("1000000u", "3999999999")),
            (true, SECOND, 1, own, ("5000000n", "-")),
            (true, SECOND, 2, own, ("5000000n", "1")),
            (true, SECOND, 3, None, ("-", "2")),
            (true, None, 2, None, ("-", "1")),
            (true, None, 3, own, ("5000000n", "2")),
            (false, SECOND, 1, SECOND, ("1000000u", "-")),
            (false, SECOND, 2, SECOND, ("1000000u", "-")),
            (false, SECOND, 3, own, ("5000000n", "-")),
        ] {
            let headers = AttemptHeaders::new(usual, counts);
            let told = told_both_ways(&headers, number, time);
            assert_eq!((&*told.0, &*told.1), expected, "{counts} {usual:?} {number} {time:?}");
        }
    }
}
