//! Strategies as settings keep them.
#![allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "partly for the crates of this repository alone"
)]

use crate::resumption::strategy::{BoxResumption, Processed, Resume, StreamResumption};
use crate::resumption::withheld::WithheldLimits;
use bytes::Bytes;
use prost::Message;
use std::any::{Any, TypeId, type_name};
use std::marker::PhantomData;
use std::sync::Arc;
use tonic::Status;
use tonic_gax::RequestExt as _;

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
    /// A boxed [`Make`] of its messages.
    make: Arc<dyn Any + Send + Sync>,
    over_bytes: fn(&dyn Any, &Bytes) -> Option<BoxResumption<Bytes, Bytes>>,
    types: [TypeId; 2],
    names: [&'static str; 2],
    pub(crate) limits: WithheldLimits,
    #[doc(hidden)]
    pub is_endless: bool,
}

type Make<Q, M> = dyn Fn(&Q) -> BoxResumption<Q, M> + Send + Sync;

impl Resumption {
    /// Calls the closure with the request of each call, for the call's strategy.
    pub fn new<S, Q, M>(make: impl Fn(&Q) -> S + Send + Sync + 'static) -> Self
    where
        S: StreamResumption<Request = Q, Response = M> + 'static,
        Q: Message + Default + 'static,
        M: Message + Default + 'static,
    {
        let make: Box<Make<Q, M>> = Box::new(move |first| Box::new(make(first)));
        Self {
            make: Arc::new(make),
            over_bytes: |make, first| {
                let make = make.downcast_ref::<Box<Make<Q, M>>>()?;
                Some(Box::new(OverBytes { strategy: make(&Q::decode(first.clone()).ok()?) }))
            },
            types: [TypeId::of::<Q>(), TypeId::of::<M>()],
            names: [type_name::<Q>(), type_name::<M>()],
            limits: WithheldLimits::default(),
            is_endless: false,
        }
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
        Self::new(move |first: &Q| ByPosition {
            first: first.clone(),
            last: None,
            functions: Arc::clone(&functions),
            message: PhantomData,
        })
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
        let make = self.make.downcast_ref::<Box<Make<Q, M>>>()?;
        Some(make(first))
    }

    /// The strategy of a call whose messages are bytes.
    pub fn over_bytes(&self, first: &Bytes) -> Option<BoxResumption<Bytes, Bytes>> {
        (self.over_bytes)(&*self.make, first)
    }

    /// Returns whether it is for requests and responses of those types.
    pub fn is_for(&self, types: [TypeId; 2]) -> bool {
        self.types == types
    }

    /// The names of the types that it is for.
    pub fn type_names(&self) -> [&'static str; 2] {
        self.names
    }
}

/// Sets a [`Resumption`] on a request.
pub trait ResumptionExt {
    /// The request with this resumption in its extensions: the stream of responses is resumed where it breaks off, instead of
    /// the method's resumption, if a generated client has one.
    ///
    /// It works with generated clients and with any other client over a [`RetryLayer`](tonic_gax::RetryLayer). A generated client
    /// ends the call with `INVALID_ARGUMENT` if it is for messages of other types. The layer knows no types: it reads the
    /// request as the resumption's, and passes the stream on unchanged if that can't be done, or if the response is
    /// compressed ([`RESUMPTION_UNUSED`](tonic_gax::note::RESUMPTION_UNUSED)).
    #[must_use]
    fn with_resumption(self, resumption: Resumption) -> Self;
}

impl<T> ResumptionExt for tonic::Request<T> {
    fn with_resumption(self, resumption: Resumption) -> Self {
        self.with_take_over(Arc::new(resumption))
    }
}

gax_text::short_debug! { self: Resumption { request: self.names[0], response: self.names[1] } }

/// Those that are clones of each other, with the same limits, are equal.
impl PartialEq for Resumption {
    fn eq(&self, other: &Self) -> bool {
        let limits = |own: &Self| (own.limits, own.is_endless);
        Arc::ptr_eq(&self.make, &other.make) && limits(self) == limits(other)
    }
}

/// Decodes messages for the strategy, and encodes what it has made.
struct OverBytes<Q, M> {
    strategy: BoxResumption<Q, M>,
}

impl<Q: Message, M: Message + Default> StreamResumption for OverBytes<Q, M> {
    type Request = Bytes;
    type Response = Bytes;

    fn process(&mut self, bytes: &mut Bytes) -> Processed {
        // One that is no such message goes to the client, which says so.
        let Ok(mut message) = M::decode(bytes.clone()) else { return Processed::Deliver };
        let processed = self.strategy.process(&mut message);
        if processed == Processed::Replaced {
            *bytes = message.encode_to_vec().into();
        }
        processed
    }

    fn resume(&mut self, failure: &Status) -> Resume<Bytes> {
        let encoded = |request: Q| request.encode_to_vec().into();
        match self.strategy.resume(failure) {
            Resume::Again(request) => Resume::Again(encoded(request)),
            Resume::Anew(request) => Resume::Anew(encoded(request)),
            Resume::Stop => Resume::Stop,
        }
    }

    fn is_retryable(&self, failure: &Status) -> Option<bool> {
        self.strategy.is_retryable(failure)
    }
}

/// Continues behind the position of the last message.
struct ByPosition<Q, M, K, P, R> {
    first: Q,
    last: Option<K>,
    functions: Arc<(P, R)>,
    message: PhantomData<fn(&M)>,
}

impl<Q, M, K, P, R> StreamResumption for ByPosition<Q, M, K, P, R>
where
    Q: Clone + Send,
    K: PartialOrd + Clone + Send,
    P: Fn(&M) -> K + Send + Sync,
    R: Fn(&Q, K) -> Q + Send + Sync,
{
    type Request = Q;
    type Response = M;

    fn process(&mut self, message: &mut M) -> Processed {
        let position = (self.functions.0)(message);
        if self.last.as_ref().is_some_and(|last| position <= *last) {
            return Processed::Skip;
        }
        self.last = Some(position);
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Q> {
        Resume::Again(match &self.last {
            Some(last) => (self.functions.1)(&self.first, last.clone()),
            None => self.first.clone(),
        })
    }
}
