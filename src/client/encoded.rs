//! The request of a generated client, encoded once for all attempts.

use super::method::Method;
use crate::grpc::{
    AttemptTimeout, GRPC_TIMEOUT, MethodPlan, PREVIOUS_ATTEMPTS, ReplayableRequest, fill, one_frame, path_of,
    shrink, timeout_in, too_large,
};
use crate::operation::{Note, earlier, until};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, TE};
use http::uri::PathAndQuery;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

/// A message, its method, and what its caller added.
#[derive(Debug)]
pub(super) struct Encoded {
    method: Arc<Method>,
    message: Bytes,
    added: Option<Box<Added>>,
    /// Whether the response carries the report in any case.
    wants_report: bool,
}

/// What most calls have none of.
#[derive(Debug)]
pub(super) struct Added {
    headers: Vec<(HeaderName, HeaderValue)>,
    extensions: Extensions,
    /// What the caller's metadata says of the whole operation's time.
    timeout: Option<Duration>,
    /// The deadline of the request that is being served where the call is made.
    deadline: Option<Instant>,
}

impl Added {
    /// What was added, if it was anything.
    #[inline]
    pub(super) fn of(
        headers: HeaderMap,
        extensions: Extensions,
        deadline: Option<Instant>,
        counts_attempts: bool,
    ) -> Option<Box<Self>> {
        if headers.is_empty() && extensions.is_empty() && deadline.is_none() {
            if headers.capacity() == 0 {
                // It holds nothing, and to drop it would be a call (bench `speed`, instructions).
                std::mem::forget(headers);
            }
            return None;
        }
        Some(Box::new(Self::some(headers, extensions, deadline, counts_attempts)))
    }

    #[cold]
    fn some(
        headers: HeaderMap,
        extensions: Extensions,
        deadline: Option<Instant>,
        counts_attempts: bool,
    ) -> Self {
        let timeout = timeout_in(&headers);
        let headers = metadata(headers, counts_attempts);
        Self { headers, extensions, timeout, deadline }
    }
}

impl Encoded {
    #[inline]
    pub(super) fn new(
        method: Arc<Method>,
        message: Bytes,
        added: Option<Box<Added>>,
        wants_report: bool,
    ) -> Self {
        Self { method, message, added, wants_report }
    }

    /// Whether the response carries the report in any case.
    pub(super) fn wants_report(&self) -> bool {
        self.wants_report
    }

    pub(super) fn method(&self) -> &Method {
        &self.method
    }
}

impl ReplayableRequest for Encoded {
    fn path(&self, _: &MethodPlan) -> PathAndQuery {
        path_of(&self.method.uri)
    }

    #[inline]
    fn bound(&self) -> Option<Duration> {
        let added = self.added.as_ref()?;
        earlier(added.timeout, added.deadline.map(until))
    }

    #[inline]
    fn note(&self, plan: &MethodPlan) -> Option<Note> {
        too_large(&self.message, plan)
    }

    fn is_watched(&self) -> bool {
        self.method.name.is_some()
    }

    fn shrink(&mut self) {
        shrink(&mut self.message);
    }

    #[inline]
    fn write(
        &mut self,
        plan: &MethodPlan,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
        finish: impl FnOnce(&mut http::Request<Body>),
    ) -> http::Request<Body> {
        let mut request = http::Request::new(one_frame(&self.message));
        let headers = plan.headers.of_attempt(attempt, timeout);
        fill(&mut request, self.method.uri.clone(), headers);
        if let Some(added) = &self.added {
            for (name, value) in &added.headers {
                request.headers_mut().append(name.clone(), value.clone());
            }
            request.extensions_mut().clone_from(&added.extensions);
        }
        if let Some(name) = self.method.name.clone().filter(|_| is_watched) {
            request.extensions_mut().insert(name);
        }
        finish(&mut request);
        request
    }
}

/// What a caller's metadata adds to the headers of a gRPC request, but for what gRPC keeps for itself.
fn metadata(metadata: HeaderMap, counts_attempts: bool) -> Vec<(HeaderName, HeaderValue)> {
    const RESERVED: [HeaderName; 6] = [
        TE,
        CONTENT_TYPE,
        GRPC_TIMEOUT,
        Status::GRPC_STATUS,
        Status::GRPC_MESSAGE,
        HeaderName::from_static("grpc-message-type"),
    ];
    if metadata.is_empty() {
        return Vec::new();
    }
    let mut others: Vec<(HeaderName, HeaderValue)> = Vec::with_capacity(metadata.len());
    let mut is_reserved = false;
    for (name, value) in metadata {
        // If a name has several values, the iterator yields it with the first one only.
        let name = match name {
            Some(name) => {
                is_reserved = RESERVED.contains(&name) || (counts_attempts && name == PREVIOUS_ATTEMPTS);
                name
            }
            None => match others.last() {
                Some((name, _)) => name.clone(),
                None => continue,
            },
        };
        if !is_reserved {
            others.push((name, value));
        }
    }
    others
}
