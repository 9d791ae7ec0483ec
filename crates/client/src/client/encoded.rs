//! The request of a generated client, encoded once for all attempts.

use bytes::Bytes;
use gax_driver::__private::{earlier, until};
use gax_driver::Note;
use http::header::{CONTENT_TYPE, TE};
use http::uri::PathAndQuery;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;
use tonic_gax::__private::{
    AttemptTimeout, ExtraHeaders, GRPC_TIMEOUT, LIKE_EXAMPLE, MethodConfig, PREVIOUS_ATTEMPTS,
    ReplayableRequest, Template, one_frame, shrink, timeout_in, too_large,
};

/// A message, and what its caller added.
#[derive(Debug)]
pub(super) struct Encoded {
    message: Bytes,
    added: Option<Box<Added>>,
}

/// Headers, extensions and times that the caller adds: most calls have none.
#[derive(Debug)]
pub(super) struct Added {
    template: Template,
    extensions: Extensions,
    /// The whole operation's time, by the caller's metadata.
    timeout: Option<Duration>,
    /// The deadline of the request that is being served where the call is made.
    deadline: Option<Instant>,
}

impl Added {
    /// `None`: nothing was added.
    #[inline]
    pub(super) fn of(
        headers: HeaderMap,
        extensions: Extensions,
        deadline: Option<Instant>,
        counts_attempts: bool,
    ) -> Option<Box<Self>> {
        if headers.is_empty() && extensions.is_empty() && deadline.is_none() {
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
        let template = Template::Example(metadata(headers, counts_attempts));
        Self { template, extensions, timeout, deadline }
    }
}

impl Encoded {
    #[inline]
    pub(super) fn new(message: Bytes, added: Option<Box<Added>>) -> Self {
        Self { message, added }
    }
}

impl ReplayableRequest for Encoded {
    fn path(&self, config: &MethodConfig) -> PathAndQuery {
        LIKE_EXAMPLE.path(config.example())
    }

    #[inline]
    fn bound(&self) -> Option<Duration> {
        let added = self.added.as_ref()?;
        earlier(added.timeout, added.deadline.map(until))
    }

    #[inline]
    fn note(&self, config: &MethodConfig) -> Option<Note> {
        too_large(&self.message, config)
    }

    fn is_watched(&self, config: &MethodConfig) -> bool {
        config.example().is_some_and(|example| example.description.is_some())
    }

    fn replace(&mut self, message: Bytes) {
        self.message = message;
    }

    fn shrink(&mut self) {
        shrink(&mut self.message);
    }

    #[expect(clippy::inline_always, reason = "requests are written in one piece: see `template`")]
    #[inline(always)]
    fn write(
        &mut self,
        into: &mut http::Request<Body>,
        config: &MethodConfig,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
    ) {
        let mut template = &LIKE_EXAMPLE;
        if let Some(added) = &self.added {
            into.extensions_mut().clone_from(&added.extensions);
            template = &added.template;
        }
        template.write(into, config.example(), &config.headers, attempt, timeout, is_watched);
        config.headers.write_by_message(into.headers_mut(), Some(&self.message));
        *into.body_mut() = one_frame(&self.message);
    }
}

/// The headers that a caller's metadata adds to those of every gRPC request. Some names gRPC keeps for itself.
fn metadata(metadata: HeaderMap, counts_attempts: bool) -> ExtraHeaders {
    const RESERVED: [HeaderName; 6] = [
        TE,
        CONTENT_TYPE,
        GRPC_TIMEOUT,
        Status::GRPC_STATUS,
        Status::GRPC_MESSAGE,
        HeaderName::from_static("grpc-message-type"),
    ];
    if metadata.is_empty() {
        return None;
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
    Some(others.into_boxed_slice())
}
