//! The state of a batcher, behind its lock: elements, and the batches that they are in.
//!
//! Adding an element and closing take the one lock, so that an element that was taken is in a batch which is sent. Nothing of
//! the program's runs under it: what has to be dropped, sent or woken leaves it as a [`Deferred`].

use crate::element::{ElementError, ElementFailure, ElementFuture, Key};
use crate::error::{AddError, AddRefusal, AddResult};
use crate::outcome::{Ended, results};
use crate::state::deferred::{Deferred, Reply, Waiter};
use crate::totals::BatcherTotals;
use gax_retry::batching::{
    Added, BatchAction, BatchId, Batches, BatchingPolicy, ElementSize, NewElement, ReadyBatch, Refusal,
    Ticket,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;
use tokio::sync::oneshot;

/// Everything behind the lock.
pub(crate) struct State<T, R, E> {
    decisions: Batches<Key>,
    phase: Phase,
    /// Batches that were not begun, also those that the driver is to begin.
    unsent: BTreeMap<BatchId, Contents<T, R, E>>,
    ready: VecDeque<ReadyBatch>,
    in_flight: BTreeMap<BatchId, Vec<Reply<R, E>>>,
    held: BTreeMap<Ticket, Held<T, R, E>>,
    /// The batch that was opened last.
    newest: Option<BatchId>,
    /// Those who wait for the end of batches: of that one and those before it, or of all there will be.
    flushes: Vec<(Option<BatchId>, oneshot::Sender<()>)>,
    totals: BatcherTotals,
    /// The driver's task, and when its timer fires.
    driver: Option<Waker>,
    wakes_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Running,
    /// Every batch has ended, and there will be no more.
    Finished,
    /// The driver has to drop its calls.
    Aborted,
    /// The driver was dropped before its time.
    Gone,
}

/// The elements of a batch that was not begun.
struct Contents<T, R, E> {
    elements: Vec<T>,
    sizes: Vec<ElementSize>,
    replies: Vec<Reply<R, E>>,
    /// Those of elements that waited for room.
    tickets: Vec<Option<Ticket>>,
    throttled: Duration,
}

/// An element that waits for room.
struct Held<T, R, E> {
    element: T,
    size: ElementSize,
    since: Duration,
    result: Waiter<T, R, E>,
}

/// A batch that the driver begins.
pub(crate) struct BegunBatch<T> {
    pub(crate) ready: ReadyBatch,
    pub(crate) elements: Vec<T>,
    pub(crate) sizes: Arc<[ElementSize]>,
    /// How long its elements waited for room, added up.
    pub(crate) throttled: Duration,
}

/// The driver's next steps.
pub(crate) struct Turn<T> {
    pub(crate) begun: Vec<BegunBatch<T>>,
    pub(crate) wakes_at: Option<Duration>,
    pub(crate) phase: Phase,
}

/// The fate of an element that is added.
pub(crate) enum Entered<T, R, E> {
    Now(AddResult<T, R, E>),
    Waits(Ticket, oneshot::Receiver<AddResult<T, R, E>>),
}

impl<T, R, E> State<T, R, E> {
    pub(crate) fn new(policy: BatchingPolicy) -> Self {
        Self {
            decisions: Batches::new(policy),
            phase: Phase::Running,
            unsent: BTreeMap::new(),
            ready: VecDeque::new(),
            in_flight: BTreeMap::new(),
            held: BTreeMap::new(),
            newest: None,
            flushes: Vec::new(),
            totals: BatcherTotals::default(),
            driver: None,
            wakes_at: None,
        }
    }

    gax_text::getters! { self:
        pub(crate) phase: Phase = self.phase;

        pub(crate) totals: BatcherTotals = self.totals;
    }

    pub(crate) fn outstanding(&self) -> ElementSize {
        self.decisions.outstanding()
    }

    /// How many elements were taken and not sent.
    pub(crate) fn unsent(&self) -> usize {
        self.unsent.values().map(|contents| contents.elements.len()).sum()
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.decisions.is_closing()
    }

    pub(crate) fn add(
        &mut self,
        element: T,
        new: NewElement<Key>,
        now: Duration,
        after: &mut Deferred<T, R, E>,
    ) -> Entered<T, R, E> {
        let size = new.size();
        let entered = match self.decisions.add(new, now) {
            Added::Accepted(batch) => Entered::Now(Ok(self.put(batch, element, size, None))),
            Added::Refused(refusal) => Entered::Now(Err(self.refused(element, refusal))),
            Added::Held(ticket) => {
                let (result, receiver) = oneshot::channel();
                self.held.insert(ticket, Held { element, size, since: now, result });
                Entered::Waits(ticket, receiver)
            }
        };
        self.step(now, after);
        entered
    }

    pub(crate) fn try_add(
        &mut self,
        element: T,
        new: NewElement<Key>,
        now: Duration,
        after: &mut Deferred<T, R, E>,
    ) -> AddResult<T, R, E> {
        let size = new.size();
        let result = match self.decisions.try_add(new, now) {
            Ok(batch) => Ok(self.put(batch, element, size, None)),
            Err(refusal) => Err(self.refused(element, refusal)),
        };
        self.step(now, after);
        result
    }

    fn refused(&self, element: T, refusal: Refusal) -> AddError<T> {
        let is_gone = self.phase == Phase::Gone;
        AddError::new(element, if is_gone { AddRefusal::TaskGone } else { refusal.into() })
    }

    /// An element that waits for room is not to be added, or taken out again if its batch was not begun.
    pub(crate) fn withdraw(&mut self, ticket: Ticket, now: Duration, after: &mut Deferred<T, R, E>) {
        if let Some(held) = self.held.remove(&ticket) {
            after.dropped.push(held.element);
            self.decisions.withdraw(ticket, now);
            self.step(now, after);
        }
        let taken = self.unsent.iter_mut().find_map(|(id, contents)| {
            let place = contents.tickets.iter().position(|other| *other == Some(ticket))?;
            contents.tickets.remove(place);
            drop(contents.replies.remove(place));
            Some((*id, contents.elements.remove(place), contents.sizes.remove(place)))
        });
        if let Some((batch, element, size)) = taken {
            after.dropped.push(element);
            self.decisions.take_back(batch, size, now);
            self.step(now, after);
        }
    }

    /// Sends what is open. The receiver is notified when every element that was accepted until now has ended.
    pub(crate) fn flush(&mut self, now: Duration, after: &mut Deferred<T, R, E>) -> oneshot::Receiver<()> {
        self.decisions.flush(now);
        let (sender, receiver) = oneshot::channel();
        if let Some(newest) = self.newest {
            self.flushes.push((Some(newest), sender));
        }
        self.step(now, after);
        receiver
    }

    /// Sends what is open, and takes no more. Hears when every batch has ended.
    pub(crate) fn close(&mut self, now: Duration, after: &mut Deferred<T, R, E>) -> oneshot::Receiver<()> {
        self.decisions.close(now);
        self.step(now, after);
        let (sender, receiver) = oneshot::channel();
        if self.phase == Phase::Running {
            self.flushes.push((None, sender));
        }
        receiver
    }

    /// Takes no more elements, and gives those back that were not sent.
    pub(crate) fn give_back(&mut self, now: Duration, after: &mut Deferred<T, R, E>) -> Vec<T> {
        let elements = self.end_unsent(ElementFailure::GivenBack, now, after);
        self.step(now, after);
        elements
    }

    /// Ends everything at once. The driver drops its calls.
    pub(crate) fn abort(&mut self, now: Duration, after: &mut Deferred<T, R, E>) {
        if self.phase != Phase::Running {
            return;
        }
        self.end_everything(ElementFailure::Aborted, now, after);
        self.step(now, after);
        self.phase = Phase::Aborted;
        self.wake_driver(after);
    }

    /// The driver is dropped.
    pub(crate) fn driver_gone(&mut self, now: Duration, after: &mut Deferred<T, R, E>) {
        self.driver = None;
        if self.phase != Phase::Running {
            return;
        }
        self.phase = Phase::Gone;
        for held in std::mem::take(&mut self.held).into_values() {
            let error = AddError::new(held.element, AddRefusal::TaskGone);
            after.results.push((held.result, Err(error)));
        }
        self.end_everything(ElementFailure::TaskGone, now, after);
        after.flushed.extend(self.flushes.drain(..).map(|(_, sender)| sender));
    }

    /// A batch has ended; `None`: its call panicked.
    pub(crate) fn ended(
        &mut self,
        batch: BatchId,
        ended: Option<Ended<R, E>>,
        now: Duration,
        after: &mut Deferred<T, R, E>,
    ) {
        let Some(replies) = self.in_flight.remove(&batch) else { return };
        let has_failed = ended.as_ref().is_none_or(|ended| ended.has_failed);
        let results = results(ended, replies.len());
        let failed = results.iter().filter(|result| result.is_err()).count();
        self.totals.ended(has_failed, replies.len(), failed);
        after.ends.extend(replies.into_iter().zip(results));
        self.decisions.ended(batch, now);
        self.step(now, after);
    }

    /// The driver's turn: what it is to begin, and when it looks again.
    pub(crate) fn begin(&mut self, driver: &Waker, now: Duration, after: &mut Deferred<T, R, E>) -> Turn<T> {
        self.driver = Some(driver.clone());
        self.step(now, after);
        let mut begun = Vec::new();
        while let Some(ready) = self.ready.pop_front() {
            let Some(contents) = self.unsent.remove(&ready.id()) else { continue };
            if contents.elements.is_empty() {
                // All that it had were taken out again.
                self.decisions.ended(ready.id(), now);
                self.step(now, after);
                continue;
            }
            let Contents { elements, sizes, replies, throttled, .. } = contents;
            self.in_flight.insert(ready.id(), replies);
            begun.push(BegunBatch { ready, elements, sizes: sizes.into(), throttled });
        }
        // It is here already.
        if after.driver.take().is_some() {
            self.driver = Some(driver.clone());
        }
        Turn { begun, wakes_at: self.wakes_at, phase: self.phase }
    }

    fn put(
        &mut self,
        batch: BatchId,
        element: T,
        size: ElementSize,
        held: Option<(Ticket, Duration)>,
    ) -> ElementFuture<R, E> {
        let (reply, future) = ElementFuture::pair();
        self.newest = self.newest.max(Some(batch));
        let contents = self.unsent.entry(batch).or_insert_with(|| Contents {
            elements: Vec::new(),
            sizes: Vec::new(),
            replies: Vec::new(),
            tickets: Vec::new(),
            throttled: Duration::ZERO,
        });
        contents.elements.push(element);
        contents.sizes.push(size);
        contents.replies.push(reply);
        contents.tickets.push(held.map(|(ticket, _)| ticket));
        let throttled = held.map_or(Duration::ZERO, |(_, throttled)| throttled);
        contents.throttled = contents.throttled.saturating_add(throttled);
        future
    }

    /// Carries out all that was decided, except for what the driver does.
    fn step(&mut self, now: Duration, after: &mut Deferred<T, R, E>) {
        loop {
            match self.decisions.next(now) {
                BatchAction::Accept(ticket, batch) => {
                    if let Some(Held { element, size, since, result }) = self.held.remove(&ticket) {
                        let held = Some((ticket, now.saturating_sub(since)));
                        let future = self.put(batch, element, size, held);
                        after.results.push((result, Ok(future)));
                    }
                }
                BatchAction::Refuse(ticket) => {
                    if let Some(held) = self.held.remove(&ticket) {
                        let error = AddError::new(held.element, AddRefusal::Closed);
                        after.results.push((held.result, Err(error)));
                    }
                }
                BatchAction::Send(ready) => self.ready.push_back(ready),
                BatchAction::Wait(until) => {
                    if !self.ready.is_empty() || until != self.wakes_at {
                        self.wake_driver(after);
                    }
                    self.wakes_at = until;
                    break;
                }
                BatchAction::Finish => {
                    if self.phase == Phase::Running {
                        self.phase = Phase::Finished;
                        self.wake_driver(after);
                    }
                    break;
                }
            }
        }
        self.notify_flushes(after);
    }

    fn wake_driver(&mut self, after: &mut Deferred<T, R, E>) {
        after.driver = after.driver.take().or_else(|| self.driver.take());
    }

    fn notify_flushes(&mut self, after: &mut Deferred<T, R, E>) {
        let unsent = self.unsent.first_key_value().map(|(id, _)| *id);
        let in_flight = self.in_flight.first_key_value().map(|(id, _)| *id);
        let oldest = [unsent, in_flight].into_iter().flatten().min();
        let is_over = self.phase != Phase::Running;
        let is_done = |upto: &Option<BatchId>| {
            is_over || upto.is_some_and(|upto| oldest.is_none_or(|oldest| oldest > upto))
        };
        let done = self.flushes.extract_if(.., |(upto, _)| is_done(upto));
        after.flushed.extend(done.map(|(_, sender)| sender));
    }

    /// Ends all elements with that failure, whether they were sent or not.
    fn end_everything(&mut self, failure: ElementFailure, now: Duration, after: &mut Deferred<T, R, E>) {
        let unsent = self.end_unsent(failure, now, after);
        after.dropped.extend(unsent);
        for (batch, replies) in std::mem::take(&mut self.in_flight) {
            self.decisions.ended(batch, now);
            self.end_all(replies, failure, after);
        }
    }

    /// Ends the elements that were not sent, in the order in which they were taken within a batch.
    fn end_unsent(
        &mut self,
        failure: ElementFailure,
        now: Duration,
        after: &mut Deferred<T, R, E>,
    ) -> Vec<T> {
        self.decisions.give_back();
        // The driver has not begun these.
        for ready in self.ready.drain(..) {
            self.decisions.ended(ready.id(), now);
        }
        let mut elements = Vec::new();
        for contents in std::mem::take(&mut self.unsent).into_values() {
            elements.extend(contents.elements);
            self.end_all(contents.replies, failure, after);
        }
        elements
    }

    fn end_all(&mut self, replies: Vec<Reply<R, E>>, failure: ElementFailure, after: &mut Deferred<T, R, E>) {
        self.totals.lost(replies.len());
        let end = |reply| (reply, Err(ElementError::without_cause(failure)));
        after.ends.extend(replies.into_iter().map(end));
    }
}
