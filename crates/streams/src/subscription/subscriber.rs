//! Opens subscriptions, all by the same settings.

use crate::resumed::{MessageStream, SharedSource, StreamProtocol};
use crate::resumption::WithheldLimits;
use crate::subscription::connections::OwnConnections;
use crate::subscription::connector::{BoxConnect, Connector};
use crate::subscription::opening::Opening;
use crate::subscription::shared::Shared;
use crate::subscription::strategy::SubscriptionStrategy;
use crate::subscription::stream::Subscription;
use gax_driver::OperationOptions;
use gax_driver::protocol::Name;
use gax_retry::{MethodKind, MethodSettings};
use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use tokio_stream::Stream;
use tonic::{Response, Status};
use tonic_gax::__private::{MethodConfig, SharedState};

/// Opens [`Subscription`]s, all with the same settings. Use it for streams that should survive broken connections for days.
///
/// The settings are those of a method: its retryable codes, delays, limits and [timeouts of
/// streams](MethodSettings::stream_timeouts), or a generated client's `CallSettings`. RPC timeouts don't
/// apply to streams (by gax-java's rules they bound each connection), and neither does hedging.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`named`](Self::named) | `subscription` |
/// | [`without_total_timeout`](Self::without_total_timeout) | the total timeout counts from the first attempt |
/// | [`max_withheld_messages`](Self::max_withheld_messages) | 10,000 |
/// | [`max_withheld_bytes`](Self::max_withheld_bytes) | 16 MiB, by the strategy's [`size`](SubscriptionStrategy::size) |
/// | [`options`](Self::options) | see [`OperationOptions`] |
///
/// # Examples
///
/// A feed that ends each stream after two events. In a program, the closure calls a client.
///
/// ```
/// use tonic::{Response, Status};
/// use gax_streams::resumption::{Processed, Resume, StreamResumption};
/// use gax_streams::subscription::{OnEnd, Opening, Subscriber, SubscriptionStrategy, Update};
/// use tonic_gax::{Code, MethodSettings, RetrySettings};
///
/// struct Feed { after: u64 }
///
/// impl StreamResumption for Feed {
///     type Request = u64;
///     type Response = u64;
///
///     fn process(&mut self, event: &mut u64) -> Processed {
///         self.after = *event;
///         Processed::Deliver
///     }
///
///     fn resume(&mut self, _: &Status) -> Resume<u64> {
///         Resume::Again(self.after)
///     }
/// }
///
/// impl SubscriptionStrategy for Feed {
///     type Message = ();
///
///     fn ended(&mut self) -> OnEnd {
///         if self.after < 5 { OnEnd::Reconnect } else { OnEnd::End }
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let settings = MethodSettings::new(RetrySettings::builder().max_attempts(5).build()?, [Code::Unavailable]);
/// let mut events = Subscriber::new(settings).subscribe(0, Feed { after: 0 }, |opening: Opening<u64, ()>| async move {
///     let after = *opening.request();
///     Ok(Response::new(tokio_stream::iter([Ok(after + 1), Ok(after + 2)])))
/// });
/// let mut seen = Vec::new();
/// while let Some(update) = events.update().await? {
///     seen.extend(update.into_message());
/// }
/// assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Subscriber {
    settings: MethodSettings,
    options: OperationOptions,
    name: Cow<'static, str>,
    is_endless: bool,
    limits: WithheldLimits,
}

impl Subscriber {
    /// Opens subscriptions by these settings.
    pub fn new(settings: impl Into<MethodSettings>) -> Self {
        Self {
            settings: settings.into(),
            options: OperationOptions::default(),
            name: Cow::Borrowed("subscription"),
            is_endless: false,
            limits: WithheldLimits::default(),
        }
    }

    /// Names the operations in reports and errors, for example by the path of the method.
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets options over the ones that were set before: budget, observers, compatibility and others.
    pub fn options(mut self, options: OperationOptions) -> Self {
        self.options.set(options);
        self
    }

    /// For subscriptions that last longer than any timeout: the settings' total timeout doesn't apply. No limit is
    /// needed then; `max_attempts`, if set, limits the consecutive connections that deliver nothing.
    pub fn without_total_timeout(self) -> Self {
        Self { is_endless: true, ..self }
    }

    gax_text::setters! { self:
        /// The most messages that are withheld. With one more the subscription ends with `RESOURCE_EXHAUSTED`.
        pub max_withheld_messages(messages: usize) => self.limits.messages = messages;

        /// The most bytes of messages that are withheld. With more the subscription ends with `RESOURCE_EXHAUSTED`.
        pub max_withheld_bytes(bytes: usize) => self.limits.bytes = bytes;
    }

    /// Returns a subscription, which opens its first connection when it is first polled. The first connection starts with
    /// `request`, and each later one with the request that the strategy [resumes](crate::resumption::StreamResumption::resume)
    /// with. `connect` opens them.
    ///
    /// In a server's handler, it has no more time than the request of the task that polls it first
    /// ([`DeadlineLayer`](tonic_gax::DeadlineLayer)).
    pub fn subscribe<S, F, Fut, T>(&self, request: S::Request, strategy: S, mut connect: F) -> Subscription<S>
    where
        S: SubscriptionStrategy<Request: Send, Response: Send> + 'static,
        F: FnMut(Opening<S::Request, S::Message>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Response<T>, Status>> + Send + 'static,
        T: Stream<Item = Result<S::Response, Status>> + Send + 'static,
    {
        let shared = Arc::new(Shared::new(strategy, self.limits));
        let config = self.config();
        let (wait_timeout, idle_timeout) = (self.settings.wait_timeout(), self.settings.idle_timeout());
        let name = Name::from(self.name.clone());
        let connect: BoxConnect<S> = Box::new(move |opening| {
            let opening = connect(opening);
            Box::pin(async move { Ok(opening.await?.map(|messages| Box::pin(messages) as _)) })
        });
        let connector = Connector::new(connect, Arc::clone(&shared), name, request);
        let protocol = StreamProtocol::new(connector, OwnConnections(Arc::clone(&shared)), wait_timeout);
        let source = Box::new(MessageStream::new(protocol, config));
        Subscription::new(SharedSource::new(source, idle_timeout), shared)
    }

    /// The config of a subscription that is opened now.
    fn config(&self) -> Arc<MethodConfig> {
        let settings = self.settings.clone().hedging(None);
        let shared = SharedState {
            options: self.options.clone(),
            observers: self.options.observers.shared(),
            ..SharedState::new(self.options.compatibility.unwrap_or_default())
        };
        let config = MethodConfig::new(&settings, MethodKind::ServerStreaming, Arc::new(shared));
        let config = config.of_call(None).unwrap_or_else(|| Arc::new(config));
        config.of_long_stream(self.is_endless, config.timeout)
    }
}
