//! The headers that every attempt of a method has.

use crate::grpc::template::previous_attempts::PREVIOUS_ATTEMPTS;
use crate::grpc::template::timeout::{self, GRPC_TIMEOUT};
use crate::headers::MethodHeaders;
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Duration;
use tonic::Status;

pub(super) const TRAILERS: HeaderValue = HeaderValue::from_static("trailers");
pub(super) const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");

/// The headers that gRPC wants of every request, made once for a method: to clone them takes half the instructions of
/// writing them, since no name has to be hashed (bench `speed`, instructions).
#[derive(Debug, Clone)]
pub struct AttemptHeaders {
    prepared: Arc<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    /// The time of an attempt that nothing but the policy bounds: most attempts have no other.
    time: Option<Duration>,
    /// The `grpc-timeout` of such an attempt.
    timeout: Option<HeaderValue>,
    /// `true` if attempts after the first carry the number of those before them.
    counts: bool,
    /// The headers of the method in addition to those of gRPC; `None`: it has none.
    own: Option<MethodHeaders>,
    first: HeaderMap,
    /// Those of the second attempt: to add a header to a copy of the first would allocate.
    second: HeaderMap,
}

/// The `grpc-timeout` of an attempt.
#[derive(Debug)]
pub enum AttemptTimeout {
    /// The one that was prepared.
    Prepared,
    /// Its own, or none.
    Own(Option<HeaderValue>),
}

impl AttemptTimeout {
    /// The header's value for that much time.
    pub fn of(time: Option<Duration>) -> Self {
        Self::Own(time.map(timeout::header_value))
    }
}

impl AttemptHeaders {
    /// The headers of attempts that usually have so much time. With `counts`, those after the first carry the number of
    /// attempts before them.
    pub fn new(time: Option<Duration>, counts: bool, own: Option<MethodHeaders>) -> Self {
        Self::with_timeout(time, time.map(timeout::lasting_value), counts, own)
    }

    fn with_timeout(
        time: Option<Duration>,
        timeout: Option<HeaderValue>,
        counts: bool,
        own: Option<MethodHeaders>,
    ) -> Self {
        let own = own.filter(|own| !own.is_empty());
        let mut first = HeaderMap::with_capacity(4 + own.as_ref().map_or(0, MethodHeaders::len));
        first.insert(TE, TRAILERS);
        first.insert(CONTENT_TYPE, GRPC);
        timeout.clone().and_then(|timeout| first.insert(GRPC_TIMEOUT, timeout));
        if let Some(own) = &own {
            own.prepare(&mut first);
        }
        let mut second = first.clone();
        if counts {
            second.insert(PREVIOUS_ATTEMPTS, number_before(2));
        }
        Self { prepared: Arc::new(Prepared { time, timeout, counts, own, first, second }) }
    }

    /// These headers for attempts that usually have so much time.
    pub fn for_time(self, time: Option<Duration>) -> Self {
        if time == self.prepared.time {
            return self;
        }
        // Calls may have timeouts of their own: too many for their values to stay in memory.
        let timeout = time.map(timeout::header_value);
        Self::with_timeout(time, timeout, self.counts(), self.prepared.own.clone())
    }

    /// These headers for a method that has those in addition to gRPC's.
    pub fn of_method(self, own: MethodHeaders) -> Self {
        Self::with_timeout(self.prepared.time, self.prepared.timeout.clone(), self.counts(), Some(own))
    }

    /// The name of the header that follows from a call's first message.
    pub fn name_by_message(&self) -> Option<&HeaderName> {
        self.prepared.own.as_ref()?.name_by_message()
    }

    /// The value of that header.
    #[cold]
    pub fn value_by_message(&self, message: &[u8]) -> Option<HeaderValue> {
        self.prepared.own.as_ref()?.value_by_message(message)
    }

    /// Why a call that sets these headers is not sent.
    #[inline]
    pub fn refusal(&self, headers: &HeaderMap) -> Option<Status> {
        self.prepared.own.as_ref()?.refusal(headers)
    }

    /// Puts a caller's header into a request that was made of the prepared ones.
    #[inline]
    pub fn put_over(&self, headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
        match &self.prepared.own {
            None => drop(headers.append(name.clone(), value.clone())),
            Some(own) => own.put_over(headers, name, value),
        }
    }

    /// Writes the header that follows from a message, which is given with its prefix, where the method has one.
    #[inline]
    pub fn write_by_message(&self, headers: &mut HeaderMap, frame: Option<&[u8]>) {
        if let Some(own) = &self.prepared.own
            && own.name_by_message().is_some()
        {
            own.write_by_message(headers, frame);
        }
    }

    /// Returns whether attempts after the first carry the number of those before them. Callers may not set that header then.
    #[inline]
    pub fn counts(&self) -> bool {
        self.prepared.counts
    }

    /// The timeout of an attempt that has so much time.
    #[inline]
    pub fn timeout(&self, time: Option<Duration>) -> AttemptTimeout {
        if time == self.prepared.time { AttemptTimeout::Prepared } else { AttemptTimeout::of(time) }
    }

    /// The headers that a new request starts from.
    #[inline]
    pub fn prepared(&self, attempt: u32) -> &HeaderMap {
        if attempt > 1 { &self.prepared.second } else { &self.prepared.first }
    }

    /// Sets the headers that are an attempt's own: its timeout, and the number of attempts before it. A request whose headers
    /// were [prepared](Self::prepared) has those of most attempts.
    #[expect(clippy::inline_always, reason = "requests are written in one piece: see the module")]
    #[inline(always)]
    pub fn set(&self, headers: &mut HeaderMap, attempt: u32, timeout: AttemptTimeout, is_prepared: bool) {
        let has_timeout = is_prepared && matches!(timeout, AttemptTimeout::Prepared);
        if !has_timeout {
            let timeout = match timeout {
                AttemptTimeout::Prepared => self.prepared.timeout.clone(),
                AttemptTimeout::Own(timeout) => timeout,
            };
            timeout::set_header(headers, timeout);
        }
        if !is_prepared && let Some(own) = &self.prepared.own {
            own.add_to(headers);
        }
        let has_number = attempt == 1 || (is_prepared && attempt == 2);
        if !has_number {
            self.set_number(headers, attempt);
        }
    }

    #[cold]
    fn set_number(&self, headers: &mut HeaderMap, attempt: u32) {
        if self.counts() {
            headers.insert(PREVIOUS_ATTEMPTS, number_before(attempt));
        }
    }
}

/// The number of attempts before that one. Few are made, as a rule, and a digit takes no allocation.
fn number_before(attempt: u32) -> HeaderValue {
    let before = attempt.saturating_sub(1);
    let digit = usize::try_from(before).ok().and_then(|before| "0123456789".get(before..=before));
    digit.map_or_else(|| HeaderValue::from(before), HeaderValue::from_static)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Option<Duration> = Some(Duration::from_secs(1));

    fn own(headers: &HeaderMap) -> (String, String) {
        let value = |name| headers.get(name).map_or("-", |value: &HeaderValue| value.to_str().unwrap());
        (value("grpc-timeout").to_owned(), value("grpc-previous-rpc-attempts").to_owned())
    }

    /// The headers of an attempt that are its own: the same ones in a new request and in the caller's.
    fn set(headers: &AttemptHeaders, attempt: u32, time: Option<Duration>) -> (String, String) {
        let mut new = headers.prepared(attempt).clone();
        headers.set(&mut new, attempt, headers.timeout(time), true);
        let mut given = HeaderMap::from_iter([(GRPC_TIMEOUT, HeaderValue::from_static("9S"))]);
        headers.set(&mut given, attempt, headers.timeout(time), false);
        assert_eq!(own(&new), own(&given), "attempt {attempt}");
        assert_eq!((&new[TE], &new[CONTENT_TYPE]), (&TRAILERS, &GRPC));
        own(&new)
    }

    #[test]
    fn each_attempt_has_its_time_and_the_number_of_those_before() {
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
            let headers = AttemptHeaders::new(usual, counts, None);
            let set = set(&headers, number, time);
            assert_eq!((&*set.0, &*set.1), expected, "{counts} {usual:?} {number} {time:?}");
        }
    }
}
