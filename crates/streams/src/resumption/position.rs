//! The strategy for messages that have a position.

use crate::resumption::strategy::{Processed, Resume, StreamResumption};
use std::marker::PhantomData;
use std::sync::Arc;
use tonic::Status;

/// Continues behind the position of the last message.
pub(super) struct ByPosition<Q, M, K, P, R> {
    first: Q,
    last: Option<K>,
    functions: Arc<(P, R)>,
    message: PhantomData<fn(&M)>,
}

impl<Q, M, K, P, R> ByPosition<Q, M, K, P, R> {
    pub(super) fn new(first: Q, functions: Arc<(P, R)>) -> Self {
        Self { first, last: None, functions, message: PhantomData }
    }
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
