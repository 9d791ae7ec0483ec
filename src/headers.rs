//! Headers of methods, as data: whoever knows them stands above the layer.

use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::sync::Arc;
use tonic::Status;

/// The headers that the requests of a method have in addition to those of gRPC. `RetryLayer::headers` asks for them once a method.
///
/// # Examples
///
/// ```
/// use http::{HeaderName, HeaderValue};
/// use tonic_gax::headers::{Clash, MethodHeaders};
/// use tonic_gax::{Code, RetryLayer, RetrySettings};
///
/// let tenant = HeaderName::from_static("x-tenant");
/// let headers = MethodHeaders::new().fixed(tenant, HeaderValue::from_static("blue"), Clash::Callers);
/// let layer = RetryLayer::new((RetrySettings::default(), [Code::Unavailable]))
///     .headers(move |path| path.starts_with("library.v1.").then(|| headers.clone()));
/// # drop(layer);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct MethodHeaders {
    fixed: Arc<[FixedHeader]>,
    by_message: Option<MessageHeader>,
}

/// A header that every request has.
#[derive(Debug, Clone)]
struct FixedHeader {
    name: HeaderName,
    value: HeaderValue,
    clash: Clash,
}

/// The request that is sent if the caller sets a header as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clash {
    /// It has the caller's.
    Callers,
    /// It has both as one, with a space between them.
    Joined,
    /// None: the call fails with `INVALID_ARGUMENT` and this text.
    Refused(&'static str),
}

/// A header whose value follows from the first message.
#[derive(Clone)]
struct MessageHeader {
    name: HeaderName,
    value: Arc<ValueOf>,
}

/// The value that follows from a message.
type ValueOf = dyn Fn(&[u8]) -> Option<HeaderValue> + Send + Sync;

impl fmt::Debug for MessageHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

impl MethodHeaders {
    /// No headers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a header that every request has.
    pub fn fixed(self, name: HeaderName, value: HeaderValue, clash: Clash) -> Self {
        let one_more = FixedHeader { name, value, clash };
        Self { fixed: self.fixed.iter().cloned().chain([one_more]).collect(), ..self }
    }

    /// Adds a header whose value follows from the request's first message, unless the caller sets it. The closure gets the encoded
    /// message, uncompressed; a compressed one can't be read, and is sent without the header. There is one such header.
    pub fn by_message(
        self,
        name: HeaderName,
        value: impl Fn(&[u8]) -> Option<HeaderValue> + Send + Sync + 'static,
    ) -> Self {
        Self { by_message: Some(MessageHeader { name, value: Arc::new(value) }), ..self }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.by_message.is_none()
    }

    /// How many there are at most.
    pub(crate) fn len(&self) -> usize {
        self.fixed.len() + usize::from(self.by_message.is_some())
    }

    /// The name of the header that follows from the first message.
    pub(crate) fn name_by_message(&self) -> Option<&HeaderName> {
        self.by_message.as_ref().map(|header| &header.name)
    }

    /// The value of that header.
    pub(crate) fn value_by_message(&self, message: &[u8]) -> Option<HeaderValue> {
        (self.by_message.as_ref()?.value)(message)
    }

    /// Why a call with these headers is not sent.
    pub(crate) fn refusal(&self, callers: &HeaderMap) -> Option<Status> {
        self.fixed.iter().find_map(|header| match header.clash {
            Clash::Refused(text) if callers.contains_key(&header.name) => {
                Some(Status::invalid_argument(text))
            }
            _ => None,
        })
    }

    /// Puts them into headers that requests are copied from. The one that follows from the message is there, with nothing in it: a request
    /// with room for it takes its value without growing.
    pub(crate) fn prepare(&self, headers: &mut HeaderMap) {
        for header in &*self.fixed {
            headers.insert(header.name.clone(), header.value.clone());
        }
        if let Some(name) = self.name_by_message() {
            headers.insert(name.clone(), HeaderValue::from_static(""));
        }
    }

    /// Adds them to a caller's request, under which they are.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        for FixedHeader { name, value, clash } in &*self.fixed {
            if *clash == Clash::Joined && headers.contains_key(name) {
                let joined = headers.get_all(name).iter().fold(value.clone(), |all, one| joined(&all, one));
                headers.insert(name.clone(), joined);
            } else if !headers.contains_key(name) {
                headers.insert(name.clone(), value.clone());
            }
        }
    }

    /// Puts a caller's header over those that were prepared.
    pub(crate) fn put_over(&self, headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
        let fixed = self.fixed.iter().find(|fixed| fixed.name == *name);
        match (headers.get(name), fixed) {
            (Some(ours), Some(FixedHeader { clash: Clash::Joined, .. })) => {
                let both = joined(ours, value);
                headers.insert(name.clone(), both);
            }
            (Some(ours), fixed) if self.is_own(name, ours, fixed) => {
                drop(headers.insert(name.clone(), value.clone()));
            }
            _ => drop(headers.append(name.clone(), value.clone())),
        }
    }

    fn is_own(&self, name: &HeaderName, value: &HeaderValue, fixed: Option<&FixedHeader>) -> bool {
        let is_by_message = self.name_by_message() == Some(name) && value.is_empty();
        is_by_message || fixed.is_some_and(|fixed| fixed.value == *value)
    }

    /// Writes the header that follows from a message, unless the caller has. `frame` is the message with its prefix; of one that is
    /// compressed nothing can be read.
    pub(crate) fn write_by_message(&self, headers: &mut HeaderMap, frame: Option<&[u8]>) {
        let Some(MessageHeader { name, value }) = &self.by_message else { return };
        if headers.get(name).is_some_and(|value| !value.is_empty()) {
            return;
        }
        match frame.and_then(first_message).and_then(|message| value(message)) {
            Some(value) => drop(headers.insert(name.clone(), value)),
            None => drop(headers.remove(name)),
        }
    }
}

/// The first message of some that have their prefixes.
fn first_message(frames: &[u8]) -> Option<&[u8]> {
    let (length, rest) = frames.strip_prefix(&[0])?.split_first_chunk()?;
    rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

/// Two headers as one, with a space between them.
fn joined(first: &HeaderValue, second: &HeaderValue) -> HeaderValue {
    let text = [first.as_bytes(), b" ", second.as_bytes()].concat();
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| first.clone())
}
