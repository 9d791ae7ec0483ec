//! Faults of the emulator.

use super::{StorageCall, StorageObject};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

/// A fault of a [`StorageEmulator`](super::StorageEmulator): it happens to one request, unless said otherwise. Of faults without a
/// place one happens to a request, in the order in which they were added.
///
/// A place in an object ([`at`](Self::at)) is counted from the object's begin, so that it is the same place whatever the chunks
/// or ranges. A fault with a place happens to the first request that passes it, besides any other: of an upload when that many
/// bytes have been received, of a download when that many have been sent. Of other requests the place is counted in the reply's
/// body.
///
/// # Examples
///
/// ```
/// use gax_testing::{StorageCall, StorageFault};
///
/// // The connection breaks when 300,000 bytes of the object have come.
/// let cut = StorageFault::reset().at(300_000);
/// // The reply to the second chunk is lost, though the chunk has been persisted.
/// let lost = StorageFault::lost_reply().on(StorageCall::Upload).skip(1);
/// # drop((cut, lost));
/// ```
#[derive(Debug, Clone)]
#[must_use = "a fault happens in a StorageEmulator"]
pub struct StorageFault {
    pub(crate) action: Action,
    pub(crate) at: Option<u64>,
    pub(crate) call: Option<StorageCall>,
    pub(crate) object: Option<String>,
    pub(crate) skip: u32,
    /// `None`: always.
    pub(crate) times: Option<u32>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) is_early: bool,
    pub(crate) is_bare: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Action {
    Reset,
    Stall,
    Status(u16),
    Delay(Duration),
    LostReply,
    CutReply(u64),
    Corrupt,
    Truncate,
    IgnoredRange,
    EarlierRange(u64),
    Persisted(u64),
    Claimed(u64),
    Expired(u16),
    Header(HeaderName, Option<HeaderValue>),
    Overwrite(Box<StorageObject>),
}

impl StorageFault {
    fn of(action: Action) -> Self {
        Self {
            action,
            at: None,
            call: None,
            object: None,
            skip: 0,
            times: Some(1),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            is_early: false,
            is_bare: false,
        }
    }

    /// The connection breaks; over HTTP/2 the stream is reset. Without a place before anything of the request is read.
    pub fn reset() -> Self {
        Self::of(Action::Reset)
    }

    /// Nothing more is read or sent, and the connection stays open.
    /// [`StorageEmulator::stalled`](super::StorageEmulator::stalled) waits for it.
    pub fn stall() -> Self {
        Self::of(Action::Stall)
    }

    /// That status, instead of carrying the request out. With a place, the bytes of an upload before it are treated as received.
    /// The rest of the request is read, unless the reply is [early](Self::early).
    pub fn status(status: u16) -> Self {
        Self::of(Action::Status(status))
    }

    /// A pause.
    pub fn delay(time: Duration) -> Self {
        Self::of(Action::Delay(time))
    }

    /// The request is carried out, and the connection breaks before the reply.
    pub fn lost_reply() -> Self {
        Self::of(Action::LostReply)
    }

    /// The request is carried out, and the connection breaks after the reply's head and so many bytes of its body.
    pub fn cut_reply(bytes: u64) -> Self {
        Self::of(Action::CutReply(bytes))
    }

    /// The byte at that place of the object is another one, as it is stored or as it is sent.
    pub fn corrupt(place: u64) -> Self {
        Self::of(Action::Corrupt).at(place)
    }

    /// The reply ends there as if it were whole: without a length, and without an error.
    pub fn truncate(place: u64) -> Self {
        Self::of(Action::Truncate).at(place)
    }

    /// A range that was asked for is ignored: 200, and the whole object.
    pub fn ignored_range() -> Self {
        Self::of(Action::IgnoredRange).on(StorageCall::Download)
    }

    /// A range begins that many bytes before the place that was asked for, and says so.
    pub fn earlier_range(bytes: u64) -> Self {
        Self::of(Action::EarlierRange(bytes)).on(StorageCall::Download)
    }

    /// Of the bytes that a request brings to an upload, only so many are persisted.
    pub fn persisted(bytes: u64) -> Self {
        Self::of(Action::Persisted(bytes)).on(StorageCall::Upload)
    }

    /// The reply says that so many bytes of the upload have been persisted, whatever is true.
    pub fn claimed(bytes: u64) -> Self {
        Self::of(Action::Claimed(bytes))
    }

    /// The upload has expired: this request and all later ones of the upload are replied to with that status, 404 or 410.
    pub fn expired(status: u16) -> Self {
        Self::of(Action::Expired(status))
    }

    /// A header of the reply has that value, whatever is true.
    pub fn header(name: HeaderName, value: HeaderValue) -> Self {
        Self::of(Action::Header(name, Some(value)))
    }

    /// A header of the reply is missing.
    pub fn without_header(name: HeaderName) -> Self {
        Self::of(Action::Header(name, None))
    }

    /// Somebody else writes the object that the request is about, just before the request: it has a new generation.
    pub fn overwrite(object: impl Into<StorageObject>) -> Self {
        Self::of(Action::Overwrite(Box::new(object.into())))
    }

    gax_text::setters! { self:
        /// It happens when that many bytes of the object have passed. Resets, stalls, statuses and pauses have a place.
        pub at(place: u64) => self.at = Some(place);

        /// It happens to requests of that kind only.
        pub on(call: StorageCall) => self.call = Some(call);

        /// It happens to requests about that object only. The start of an upload has to name it in its query.
        pub object(name: &str) => self.object = Some(name.to_owned());

        /// That many requests that it could happen to come first.
        pub skip(requests: u32) => self.skip = requests;

        /// It happens to so many requests.
        pub times(requests: u32) => self.times = Some(requests);
    }

    /// It happens to every request.
    pub fn always(self) -> Self {
        Self { times: None, ..self }
    }

    /// A header of the reply with the [status](Self::status).
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// The body of the reply with the [status](Self::status).
    pub fn with_body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// The [status](Self::status) is sent immediately, while the request is still coming.
    pub fn early(self) -> Self {
        Self { is_early: true, ..self }
    }

    /// The [status](Self::status) has no `X-Goog-Upload-Status`, which of Google's universal protocol means that it is final.
    pub fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    pub(crate) fn is_for(&self, call: StorageCall, object: &str) -> bool {
        self.call.is_none_or(|of| of == call) && self.object.as_deref().is_none_or(|of| of == object)
    }

    /// Returns whether its place lies there: a byte is corrupted only if it is there.
    pub(crate) fn is_within(&self, begin: u64, end: u64) -> Option<u64> {
        let is_byte = matches!(self.action, Action::Corrupt);
        self.at.filter(|&at| begin <= at && if is_byte { at < end } else { at <= end })
    }
}
