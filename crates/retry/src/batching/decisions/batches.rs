//! The batches of one batcher.

use crate::batching::decisions::action::{Added, BatchAction, BatchId, ReadyBatch, Refusal, Ticket};
use crate::batching::decisions::element::{NewElement, Sum};
use crate::batching::decisions::flow_control::FlowControl;
use crate::batching::decisions::policy::BatchingPolicy;
use crate::batching::element_size::ElementSize;
use crate::batching::settings::BatchTrigger;
use crate::batching::settings::LimitExceeded;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// Decides which elements go into which batch, when a batch is sent, and who has to wait.
///
/// It holds no elements and has no clock: times are measured from the creation of the batcher, and the caller keeps the
/// elements. The caller reports facts ([`add`](Self::add), [`withdraw`](Self::withdraw), [`ended`](Self::ended),
/// [`flush`](Self::flush), [`close`](Self::close)); After each, it carries out the actions, one at a time
/// ([`next`](Self::next)), until the action is to wait.
///
/// Elements of one key share batches. While an element waits for room and nothing is in flight, every open batch is sent,
/// because only the end of a batch makes room.
///
/// # Examples
///
/// ```
/// use gax_retry::BatchingSettings;
/// use gax_retry::batching::{Added, BatchAction, Batches, BatchingPolicy, BatchingRules, ElementSize, NewElement};
/// use std::time::Duration;
///
/// let settings = BatchingSettings::builder()
///     .element_count_threshold(2)
///     .request_byte_threshold(1000)
///     .delay_threshold(Duration::from_millis(50))
///     .build();
/// let mut batches = Batches::new(BatchingPolicy::new(settings, BatchingRules::Reached)?);
/// let element = || NewElement::new("topic", ElementSize::of_bytes(10));
///
/// let Added::Accepted(first) = batches.add(element(), Duration::ZERO) else { unreachable!() };
/// assert_eq!(batches.next(Duration::ZERO), BatchAction::Wait(Some(Duration::from_millis(50))));
/// assert_eq!(batches.add(element(), Duration::from_millis(1)), Added::Accepted(first));
/// let BatchAction::Send(ready) = batches.next(Duration::from_millis(1)) else { unreachable!() };
/// assert_eq!((ready.id(), ready.size().elements()), (first, 2));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug)]
pub struct Batches<K> {
    policy: BatchingPolicy,
    flow: FlowControl,
    is_closing: bool,
    /// How many batches and tickets there were.
    opened: u64,
    tickets: u64,
    /// Batches that have not ended.
    unfinished: BTreeMap<BatchId, Batch<K>>,
    /// Those that take elements.
    open: BTreeSet<BatchId>,
    /// When those are due.
    timers: BTreeSet<(Duration, BatchId)>,
    /// How many are sent, and have not ended.
    in_flight: usize,
    partitions: BTreeMap<K, Partition>,
    /// Elements that wait for room, the one that came first in front.
    held: BTreeMap<Ticket, NewElement<K>>,
    actions: VecDeque<BatchAction>,
}

#[derive(Debug)]
struct Batch<K> {
    key: K,
    sum: Sum,
    opened: Duration,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It takes elements.
    Open,
    /// It is due, and waits for the end of one that is in flight.
    Queued,
    Sent,
}

/// The batches of one key.
#[derive(Debug, Default)]
struct Partition {
    is_ordered: bool,
    open: Option<BatchId>,
    in_flight: usize,
    /// Batches that are due. They stay here while another one is in flight, if they are ordered.
    queue: VecDeque<(BatchId, BatchTrigger)>,
}

impl Partition {
    fn is_empty(&self) -> bool {
        self.open.is_none() && self.in_flight == 0 && self.queue.is_empty()
    }
}

impl<K: Ord + Clone> Batches<K> {
    /// No batches, at time zero.
    #[must_use]
    pub fn new(policy: BatchingPolicy) -> Self {
        Self {
            flow: FlowControl::new(policy.settings()),
            policy,
            is_closing: false,
            opened: 0,
            tickets: 0,
            unfinished: BTreeMap::new(),
            open: BTreeSet::new(),
            timers: BTreeSet::new(),
            in_flight: 0,
            partitions: BTreeMap::new(),
            held: BTreeMap::new(),
            actions: VecDeque::new(),
        }
    }

    /// An element asks to be added. It is in its batch when this returns, also if the next action sends that batch.
    pub fn add(&mut self, element: NewElement<K>, now: Duration) -> Added {
        let waits = self.policy.settings().limit_exceeded() == LimitExceeded::Block;
        match self.enter(element, now) {
            Ok(batch) => Added::Accepted(batch),
            Err((element, Refusal::Full(_))) if waits => Added::Held(self.hold(element, now)),
            Err((_, refusal)) => Added::Refused(refusal),
        }
    }

    /// Like [`add`](Self::add), but if there is no room the element is refused, also if the settings let callers wait.
    ///
    /// # Errors
    ///
    /// The element is in no batch.
    pub fn try_add(&mut self, element: NewElement<K>, now: Duration) -> Result<BatchId, Refusal> {
        self.enter(element, now).map_err(|(_, refusal)| refusal)
    }

    /// An element that waits for room is not to be added any longer.
    pub fn withdraw(&mut self, ticket: Ticket, now: Duration) {
        if self.held.remove(&ticket).is_some() {
            self.expire(now);
            self.admit(now);
        }
    }

    /// An element of that size, which had waited before it was accepted, is out of its batch again: the program has not begun to
    /// send that, and forgets the element. A batch that is empty then is due as before, and ends without being sent.
    pub fn take_back(&mut self, batch: BatchId, size: ElementSize, now: Duration) {
        if let Some(found) = self.unfinished.get_mut(&batch) {
            found.sum = found.sum.minus(size.into());
            self.flow.release(size.into());
            self.expire(now);
            self.admit(now);
        }
    }

    /// A batch that was sent has ended, with whatever result. Its elements are not outstanding any longer.
    pub fn ended(&mut self, batch: BatchId, now: Duration) {
        if self.unfinished.get(&batch).is_some_and(|batch| batch.stage == Stage::Sent) {
            self.expire(now);
            self.forget(batch);
            self.admit(now);
        }
    }

    /// Sends every open batch.
    pub fn flush(&mut self, now: Duration) {
        self.expire(now);
        self.send_open(BatchTrigger::Flush);
    }

    /// Sends every open batch, takes no more elements, and refuses those that wait for room.
    pub fn close(&mut self, now: Duration) {
        self.expire(now);
        self.stop_taking();
        self.send_open(BatchTrigger::Close);
    }

    /// Takes no more elements, refuses those that wait for room, and gives up every batch that was not sent: those are
    /// returned, in the order in which they were opened.
    pub fn give_back(&mut self) -> Vec<BatchId> {
        self.stop_taking();
        let mut unsent: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        self.timers.clear();
        for partition in self.partitions.values_mut() {
            partition.open = None;
            unsent.extend(partition.queue.drain(..).map(|(id, _)| id));
        }
        let mut not_started = Vec::new();
        self.actions.retain(|action| match action {
            BatchAction::Send(ready) => {
                not_started.push(ready.id);
                false
            }
            _ => true,
        });
        for &id in &not_started {
            self.forget(id);
        }
        for &id in &unsent {
            if let Some(batch) = self.unfinished.remove(&id) {
                self.flow.release(batch.sum);
            }
        }
        self.partitions.retain(|_, partition| !partition.is_empty());
        unsent.append(&mut not_started);
        unsent.sort_unstable();
        unsent
    }

    /// The next action at that time. `Wait` and `Finish` come last.
    pub fn next(&mut self, now: Duration) -> BatchAction {
        self.expire(now);
        if let Some(action) = self.actions.pop_front() {
            return action;
        }
        if self.is_closing && self.unfinished.is_empty() {
            return BatchAction::Finish;
        }
        BatchAction::Wait(self.timers.first().map(|(due, _)| *due))
    }

    gax_text::getters! { self:
        /// The size of all elements that were accepted and whose batches have not ended.
        pub outstanding: ElementSize = self.flow.outstanding().size();

        /// How many elements wait for room.
        pub held: usize = self.held.len();

        /// Returns whether no more elements are taken.
        pub is_closing: bool = self.is_closing;
    }

    /// Takes an element, if there is room for it.
    fn enter(&mut self, element: NewElement<K>, now: Duration) -> Result<BatchId, (NewElement<K>, Refusal)> {
        if self.is_closing {
            return Err((element, Refusal::Closed));
        }
        if self.flow.never_has_room(element.size) {
            return Err((element, Refusal::NeverHasRoom));
        }
        self.expire(now);
        // Nobody overtakes those that wait already.
        let first = self.held.values().next().map_or(element.size, |held| held.size);
        match self.flow.exceeded_by(first).or_else(|| self.flow.exceeded_by(element.size)) {
            Some(limit) => Err((element, Refusal::Full(limit))),
            None => Ok(self.accept(element, now, None)),
        }
    }

    fn hold(&mut self, element: NewElement<K>, now: Duration) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.held.insert(ticket, element);
        self.admit(now);
        ticket
    }

    /// Puts an element into the open batch of its key, or into a new one.
    fn accept(&mut self, element: NewElement<K>, now: Duration, ticket: Option<Ticket>) -> BatchId {
        let NewElement { key, size, is_ordered, .. } = element;
        self.flow.reserve(size);
        let open = self.partitions.get(&key).and_then(|partition| partition.open);
        let full = open.and_then(|id| {
            let batch = self.unfinished.get(&id)?;
            self.policy.sends_before(batch.sum, size.into()).map(|trigger| (id, trigger))
        });
        let open = match full {
            Some((id, trigger)) => {
                self.send(id, trigger);
                None
            }
            None => open,
        };
        let id = open.unwrap_or_else(|| self.open_batch(&key, is_ordered, now));
        self.actions.extend(ticket.map(|ticket| BatchAction::Accept(ticket, id)));
        if let Some(batch) = self.unfinished.get_mut(&id) {
            batch.sum = batch.sum.plus(size);
            if let Some(trigger) = self.policy.sends_with(batch.sum) {
                self.send(id, trigger);
            }
        }
        id
    }

    fn open_batch(&mut self, key: &K, is_ordered: bool, now: Duration) -> BatchId {
        self.opened += 1;
        let id = BatchId(self.opened);
        self.unfinished
            .insert(id, Batch { key: key.clone(), sum: Sum::default(), opened: now, stage: Stage::Open });
        self.open.insert(id);
        self.timers.extend(self.policy.due_at(now).map(|due| (due, id)));
        let partition = self.partitions.entry(key.clone()).or_default();
        partition.is_ordered |= is_ordered;
        partition.open = Some(id);
        id
    }

    /// An open batch gets no more elements, and is sent: immediately, or after those of its key that came before it.
    fn send(&mut self, id: BatchId, trigger: BatchTrigger) {
        let Some(batch) = self.unfinished.get_mut(&id) else { return };
        batch.stage = Stage::Queued;
        self.open.remove(&id);
        if let Some(due) = self.policy.due_at(batch.opened) {
            self.timers.remove(&(due, id));
        }
        let Some(partition) = self.partitions.get_mut(&batch.key) else { return };
        partition.open = None;
        partition.queue.push_back((id, trigger));
        let key = batch.key.clone();
        self.start(&key);
    }

    /// Sends what is due of a key: all of it, or one batch at a time.
    fn start(&mut self, key: &K) {
        let Some(partition) = self.partitions.get_mut(key) else { return };
        while !partition.is_ordered || partition.in_flight == 0 {
            let Some((id, trigger)) = partition.queue.pop_front() else { break };
            let Some(batch) = self.unfinished.get_mut(&id) else { continue };
            batch.stage = Stage::Sent;
            partition.in_flight += 1;
            self.in_flight += 1;
            let (size, opened) = (batch.sum.size(), batch.opened);
            self.actions.push_back(BatchAction::Send(ReadyBatch { id, size, opened, trigger }));
        }
        if partition.is_empty() {
            self.partitions.remove(key);
        }
    }

    fn send_open(&mut self, trigger: BatchTrigger) {
        while let Some(&id) = self.open.first() {
            self.send(id, trigger);
        }
    }

    /// Sends what is due by its age.
    fn expire(&mut self, now: Duration) {
        while let Some(&(due, id)) = self.timers.first() {
            if due > now {
                break;
            }
            self.send(id, BatchTrigger::Delay);
        }
    }

    /// Accepts those that wait and have room now.
    fn admit(&mut self, now: Duration) {
        while let Some(first) = self.held.first_entry() {
            if self.flow.exceeded_by(first.get().size).is_some() {
                break;
            }
            let (ticket, element) = first.remove_entry();
            self.accept(element, now, Some(ticket));
        }
        if !self.held.is_empty() && self.in_flight == 0 {
            self.send_open(BatchTrigger::Held);
        }
    }

    /// Forgets a batch that was sent, and sends what waited for its end.
    fn forget(&mut self, id: BatchId) {
        let Some(batch) = self.unfinished.remove(&id) else { return };
        self.flow.release(batch.sum);
        self.in_flight -= 1;
        if let Some(partition) = self.partitions.get_mut(&batch.key) {
            partition.in_flight -= 1;
        }
        self.start(&batch.key);
    }

    fn stop_taking(&mut self) {
        self.is_closing = true;
        let refused = std::mem::take(&mut self.held).into_keys().map(BatchAction::Refuse);
        self.actions.extend(refused);
    }
}
