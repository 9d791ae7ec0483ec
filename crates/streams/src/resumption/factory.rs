//! Strategies as settings keep them.
#![allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "partly for the crates of this repository alone"
)]

use crate::resumption::over_bytes::OverBytes;
use crate::resumption::position::ByPosition;
use crate::resumption::strategy::{BoxResumption, StreamResumption};
use crate::resumption::withheld::WithheldLimits;
use bytes::Bytes;
use prost::Message;
use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

/// The request is no message of the strategy's type.
pub(super) type BytesError = prost::DecodeError;

/// Makes the [`StreamResumption`] of each call of a streaming RPC, and says how much of a stream may be withheld.
///
/// Install it with `CallSettings::set_resumption` of gax-client, for all calls of a method of a
/// generated client, or with [`RequestExt::with_resumption`](crate::ResumptionExt::with_resumption), for one call of any client.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`max_withheld_messages`](Self::max_withheld_messages) | 10,000 |
/// | [`max_withheld_bytes`](Self::max_withheld_bytes) | 16 MiB |
/// | [`without_total_timeout`](Self::without_total_timeout) | the total timeout counts from the first attempt |
///
/// # Examples
///
/// Messages have a position, and the request names the position after which the stream starts:
///
/// ```
/// use gax_streams::resumption::Resumption;
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Follow {
///     #[prost(uint64, tag = "1")]
///     after: u64,
/// }
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Event {
///     #[prost(uint64, tag = "1")]
///     number: u64,
/// }
///
/// let resumption = Resumption::by_position(
///     |event: &Event| event.number,
///     |_: &Follow, number| Follow { after: number },
/// );
/// # let _ = resumption;
/// ```
#[derive(Clone)]
#[must_use]
pub struct Resumption {
    factory: Arc<dyn Factory>,
    pub(crate) limits: WithheldLimits,
    #[doc(hidden)]
    pub is_endless: bool,
}

trait Factory: Send + Sync {
    fn types(&self) -> [TypeId; 2];

    fn names(&self) -> [&'static str; 2];

    fn as_any(&self) -> &dyn Any;

    fn over_bytes(&self, first: &Bytes) -> Result<BoxResumption<Bytes, Bytes>, BytesError>;
}

struct Typed<Q, M>(Box<Make<Q, M>>);

type Make<Q, M> = dyn Fn(&Q) -> BoxResumption<Q, M> + Send + Sync;

impl<Q, M> Factory for Typed<Q, M>
where
    Q: Message + Default + 'static,
    M: Message + Default + 'static,
{
    fn types(&self) -> [TypeId; 2] {
        [TypeId::of::<Q>(), TypeId::of::<M>()]
    }

    fn names(&self) -> [&'static str; 2] {
        [type_name::<Q>(), type_name::<M>()]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn over_bytes(&self, first: &Bytes) -> Result<BoxResumption<Bytes, Bytes>, BytesError> {
        Ok(Box::new(OverBytes::new((self.0)(&Q::decode(first.clone())?))))
    }
}

impl Resumption {
    /// Calls the closure with the request of each call, for the call's strategy.
    pub fn new<S, Q, M>(make: impl Fn(&Q) -> S + Send + Sync + 'static) -> Self
    where
        S: StreamResumption<Request = Q, Response = M> + 'static,
        Q: Message + Default + 'static,
        M: Message + Default + 'static,
    {
        let make: Box<Make<Q, M>> = Box::new(move |first| Box::new(make(first)));
        Self { factory: Arc::new(Typed(make)), limits: WithheldLimits::default(), is_endless: false }
    }

    /// Resumes a stream after the position of its last message.
    ///
    /// Positions must increase from message to message. `request` gets the first request and the last position, and returns the request
    /// that continues from there. Before the first message, the first request is sent again. A message whose position is not greater than
    /// the last one is skipped, so the server may start with the given position or after it.
    pub fn by_position<Q, M, K>(
        position: impl Fn(&M) -> K + Send + Sync + 'static,
        request: impl Fn(&Q, K) -> Q + Send + Sync + 'static,
    ) -> Self
    where
        Q: Message + Clone + Default + 'static,
        M: Message + Default + 'static,
        K: PartialOrd + Clone + Send + 'static,
    {
        let functions = Arc::new((position, request));
        Self::new(move |first: &Q| ByPosition::new(first.clone(), Arc::clone(&functions)))
    }

    gax_text::setters! { self:
        /// The most messages that are withheld. With one more the stream ends with `RESOURCE_EXHAUSTED`, and is not resumed.
        pub max_withheld_messages(messages: usize) => self.limits.messages = messages;

        /// The most bytes of messages that are withheld. With more the stream ends with `RESOURCE_EXHAUSTED`, and is not resumed.
        pub max_withheld_bytes(bytes: usize) => self.limits.bytes = bytes;
    }

    /// For streams that last longer than any timeout, such as watches: the settings' total timeout doesn't apply. No limit
    /// is needed then; `max_attempts`, if set, limits the consecutive attempts that deliver nothing.
    pub fn without_total_timeout(self) -> Self {
        Self { is_endless: true, ..self }
    }

    /// The strategy of a call with that request; `None`: the types are others.
    pub fn of<Q: 'static, M: 'static>(&self, first: &Q) -> Option<BoxResumption<Q, M>> {
        let typed = self.factory.as_any().downcast_ref::<Typed<Q, M>>()?;
        Some((typed.0)(first))
    }

    /// The strategy of a call whose messages are bytes.
    pub fn over_bytes(&self, first: &Bytes) -> Result<BoxResumption<Bytes, Bytes>, BytesError> {
        self.factory.over_bytes(first)
    }

    /// Returns whether it is for requests and responses of those types.
    pub fn is_for(&self, types: [TypeId; 2]) -> bool {
        self.factory.types() == types
    }

    /// The names of the types that it is for.
    pub fn type_names(&self) -> [&'static str; 2] {
        self.factory.names()
    }
}

impl fmt::Debug for Resumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [request, response] = self.type_names();
        f.debug_struct("Resumption")
            .field("request", &request)
            .field("response", &response)
            .finish_non_exhaustive()
    }
}

/// Those that are clones of each other, with the same limits, are equal.
impl PartialEq for Resumption {
    fn eq(&self, other: &Self) -> bool {
        let limits = |own: &Self| (own.limits, own.is_endless);
        Arc::ptr_eq(&self.factory, &other.factory) && limits(self) == limits(other)
    }
}
