//! How elements are batched.

use crate::element::{ElementFailure, ElementReader};
use crate::outcome::{Ended, SendBatch, one_each};
use gax_driver::__private::Observers;
use gax_driver::observe::OperationObserver;
use gax_retry::BatchingSettings;
use gax_retry::batching::{BatchingRules, ElementSize};
use std::borrow::Cow;
use std::sync::Arc;

/// How elements are batched: how a batch is sent, when, and how much may be outstanding. A
/// [`BatchCall`](super::BatchCall) makes one, and a [`Batcher`](super::Batcher) is created from it.
///
/// # Defaults
///
/// | setting | default |
/// | --- | --- |
/// | [`settings`](Self::settings) | each element is sent immediately, and nothing is limited |
/// | [`rules`](Self::rules) | [`Exceeded`](BatchingRules::Exceeded), those of settings made in code |
/// | [`entries`](Self::entries) | an element is one entry |
/// | [`bytes`](Self::bytes) | an element has none, so that byte thresholds and limits don't apply |
/// | [`discriminator`](Self::discriminator), [`discriminator_eq`](Self::discriminator_eq) | all elements share batches |
/// | [`ordering_key`](Self::ordering_key) | any number of batches is in flight |
/// | [`split_failure`](Self::split_failure) | a failed batch fails all its elements |
/// | [`named`](Self::named) | "batcher" |
/// | [`observer`](Self::observer) | none |
#[must_use]
pub struct Batching<T, R, E> {
    pub(super) send: SendBatch<T, R, E>,
    pub(super) settings: BatchingSettings,
    pub(super) rules: BatchingRules,
    pub(super) reader: ElementReader<T>,
    pub(super) name: Cow<'static, str>,
    pub(super) observers: Observers,
}

impl<T, R, E> Batching<T, R, E> {
    pub(super) fn new(send: SendBatch<T, R, E>) -> Self {
        Self {
            send,
            settings: BatchingSettings::builder().build(),
            rules: BatchingRules::default(),
            reader: ElementReader::default(),
            name: Cow::Borrowed("batcher"),
            observers: Observers::default(),
        }
    }

    gax_text::setters! { self:
        /// When batches are sent, and how much may be outstanding. Limits below the thresholds are an error when the batcher is
        /// made, unless they are ignored.
        ///
        /// Without limits, or if they are [ignored](gax_retry::LimitExceeded::Ignore), nothing bounds the elements that gather
        /// while a server hangs.
        pub settings(settings: BatchingSettings) => self.settings = settings;

        /// How thresholds and the delay are read.
        pub rules(rules: BatchingRules) => self.rules = rules;

        /// Counts the entries of an element, where each is a request that may have several.
        pub entries(count: impl Fn(&T) -> u64 + Send + Sync + 'static) =>
            self.reader.entries = Some(Box::new(count));

        /// Counts the bytes of an element.
        pub bytes(count: impl Fn(&T) -> u64 + Send + Sync + 'static) =>
            self.reader.bytes = Some(Box::new(count));
    }

    /// Keeps elements apart: those whose discriminators differ never share a batch.
    pub fn discriminator<K: Into<Vec<u8>>>(mut self, of: impl Fn(&T) -> K + Send + Sync + 'static) -> Self {
        self.reader.discriminator = Some(Box::new(move |element| of(element).into()));
        self
    }

    /// Like [`discriminator`](Self::discriminator), for values that can only be compared, such as messages with maps. An element is
    /// compared with every discriminator of which elements are there.
    pub fn discriminator_eq<K>(mut self, of: impl Fn(&T) -> K + Send + Sync + 'static) -> Self
    where
        K: PartialEq + Send + 'static,
    {
        self.reader.intern(of);
        self
    }

    /// Sends the batches of a key one after the other, in the order in which their elements were taken: the next one once this
    /// one has ended, with whatever result. Elements of different keys never share a batch. An empty key is none.
    pub fn ordering_key<K: Into<Vec<u8>>>(mut self, of: impl Fn(&T) -> K + Send + Sync + 'static) -> Self {
        self.reader.ordering_key = Some(Box::new(move |element| of(element).into()));
        self
    }

    /// Names the batcher for its observers and in events.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Installs an observer, which is notified of batches ([`batch_sent`](OperationObserver::batch_sent)). Of their operations
    /// the observers of the retryer or client are.
    pub fn observer(mut self, observer: Arc<dyn OperationObserver>) -> Self {
        self.observers.push(observer);
        self
    }
}

impl<T, R, E> Batching<T, R, E>
where
    T: 'static,
    R: 'static,
    E: Send + 'static,
{
    /// Splits the error of a batch by a closure, which gets the size of each element and returns a result for each: for servers
    /// that say in an error which entries failed. `None`: all of them did. Another number of results fails all elements with
    /// [`WrongReplies`](super::ElementFailure::WrongReplies), and the batch's error as its cause.
    pub fn split_failure<S>(mut self, split: S) -> Self
    where
        S: Fn(&E, &[ElementSize]) -> Option<Vec<Result<R, E>>> + Send + Sync + 'static,
    {
        let split = Arc::new(split);
        self.send = Box::new(move |elements, sizes| {
            let (call, split) = ((self.send)(elements, Arc::clone(&sizes)), Arc::clone(&split));
            Box::pin(async move {
                let Ended { replies, has_failed, report } = call.await;
                let replies = match replies {
                    Err((ElementFailure::Batch, Some(error))) => match split(&error, &sizes) {
                        Some(replies) => one_each(replies, sizes.len(), Some(error)),
                        None => Err((ElementFailure::Batch, Some(error))),
                    },
                    replies => replies,
                };
                Ended { replies, has_failed, report }
            })
        });
        self
    }
}

gax_text::short_debug! {
    self: [T, R, E] Batching<T, R, E> { name: self.name, settings: self.settings, rules: self.rules }
}
