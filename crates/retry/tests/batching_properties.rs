//! Properties of batches, whatever the settings and whatever happens in whatever order.
#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by it")]

use gax_retry::batching::{
    Added, BatchAction, BatchId, BatchTrigger, Batches, BatchingPolicy, BatchingRules, ElementSize,
    NewElement, Ticket,
};
use gax_retry::{BatchingSettings, LimitExceeded};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[derive(Debug, Clone)]
enum Fact {
    Add { key: u8, elements: u64, bytes: u64, waits: bool },
    Withdraw(usize),
    Ended(usize),
    Passed(u32),
    Flush,
    Close,
    GiveBack,
}

fn fact() -> impl Strategy<Value = Fact> {
    prop_oneof![
        12 => (0_u8..4, 0_u64..3, 0_u64..30, any::<bool>())
            .prop_map(|(key, elements, bytes, waits)| Fact::Add { key, elements, bytes, waits }),
        1 => any::<usize>().prop_map(Fact::Withdraw),
        6 => any::<usize>().prop_map(Fact::Ended),
        4 => (0_u32..40).prop_map(Fact::Passed),
        1 => Just(Fact::Flush),
        1 => prop_oneof![3 => Just(Fact::Flush), 1 => Just(Fact::Close), 1 => Just(Fact::GiveBack)],
    ]
}

prop_compose! {
    fn policy()(
        elements in 1_u64..6,
        bytes in 1_u64..40,
        delay in prop_oneof![Just(Duration::ZERO), (1_u32..50).prop_map(|ms| MS * ms), Just(Duration::MAX)],
        more in proptest::option::of((1_u64..10, 1_u64..60)),
        beyond in prop_oneof![
            Just(LimitExceeded::Ignore), Just(LimitExceeded::Block), Just(LimitExceeded::ThrowException),
        ],
        rules in prop_oneof![Just(BatchingRules::Exceeded), Just(BatchingRules::Reached)],
    ) -> BatchingPolicy {
        let mut settings = BatchingSettings::builder()
            .element_count_threshold(elements)
            .request_byte_threshold(bytes)
            .delay_threshold(delay)
            .limit_exceeded(beyond);
        if let Some((more_elements, more_bytes)) = more {
            settings = settings.max_outstanding_elements(elements + more_elements).max_outstanding_bytes(bytes + more_bytes);
        }
        BatchingPolicy::new(settings.build(), rules).unwrap()
    }
}

#[derive(Debug, Clone, Copy)]
struct Element {
    number: usize,
    key: u8,
    size: ElementSize,
}

/// A driver that keeps its own books. Keys below 2 are ordered.
struct Model {
    policy: BatchingPolicy,
    batches: Batches<u8>,
    now: Duration,
    added: usize,
    /// Accepted, and not sent.
    contents: BTreeMap<BatchId, (Vec<Element>, Duration)>,
    waiting: VecDeque<(Ticket, Element)>,
    in_flight: Vec<(BatchId, Vec<Element>)>,
    last_sent: BTreeMap<u8, BatchId>,
    /// How each element ended.
    ends: BTreeMap<usize, &'static str>,
    is_closed: bool,
}

impl Model {
    fn new(policy: BatchingPolicy) -> Self {
        Self {
            batches: Batches::new(policy.clone()),
            policy,
            now: Duration::ZERO,
            added: 0,
            contents: BTreeMap::new(),
            waiting: VecDeque::new(),
            in_flight: Vec::new(),
            last_sent: BTreeMap::new(),
            ends: BTreeMap::new(),
            is_closed: false,
        }
    }

    fn end(&mut self, element: Element, how: &'static str) {
        assert_eq!(self.ends.insert(element.number, how), None, "{element:?} ended twice");
    }

    fn put(&mut self, batch: BatchId, element: Element) {
        let (elements, _) = self.contents.entry(batch).or_insert((Vec::new(), self.now));
        assert!(elements.iter().all(|other| other.key == element.key), "keys are mixed");
        assert!(elements.last().is_none_or(|last| last.number < element.number), "out of order");
        elements.push(element);
    }

    fn sum(elements: &[Element]) -> (u64, u64) {
        elements.iter().fold((0, 0), |(count, bytes), element| {
            (count + element.size.elements(), bytes + element.size.bytes())
        })
    }

    fn outstanding(&self) -> (u64, u64) {
        let open = self.contents.values().map(|(elements, _)| elements);
        let sums = open.chain(self.in_flight.iter().map(|(_, elements)| elements)).map(|all| Self::sum(all));
        sums.fold((0, 0), |(count, bytes), more| (count + more.0, bytes + more.1))
    }

    fn happens(&mut self, fact: &Fact) {
        match *fact {
            Fact::Add { key, elements, bytes, waits } => {
                self.added += 1;
                let element = Element { number: self.added, key, size: ElementSize::new(elements, bytes) };
                let mut new = NewElement::new(key, element.size);
                if key < 2 {
                    new = new.ordered();
                }
                let added = if waits {
                    self.batches.add(new, self.now)
                } else {
                    self.batches.try_add(new, self.now).map_or_else(Added::Refused, Added::Accepted)
                };
                match added {
                    Added::Accepted(batch) => {
                        assert!(!self.is_closed);
                        self.put(batch, element);
                    }
                    Added::Held(ticket) => {
                        assert!(waits && self.policy.settings().limit_exceeded() == LimitExceeded::Block);
                        self.waiting.push_back((ticket, element));
                    }
                    Added::Refused(_) => self.end(element, "refused"),
                }
            }
            Fact::Withdraw(which) if !self.waiting.is_empty() => {
                let (ticket, element) = self.waiting.remove(which % self.waiting.len()).unwrap();
                self.batches.withdraw(ticket, self.now);
                self.end(element, "withdrawn");
            }
            Fact::Ended(which) if !self.in_flight.is_empty() => {
                let (batch, elements) = self.in_flight.remove(which % self.in_flight.len());
                for element in elements {
                    self.end(element, "sent");
                }
                self.batches.ended(batch, self.now);
            }
            Fact::Withdraw(_) | Fact::Ended(_) => {}
            Fact::Passed(ms) => self.now += MS * ms,
            Fact::Flush => self.batches.flush(self.now),
            Fact::Close => {
                self.is_closed = true;
                self.batches.close(self.now);
            }
            Fact::GiveBack => {
                self.is_closed = true;
                let given: Vec<_> = self.batches.give_back();
                assert_eq!(given, self.contents.keys().copied().collect::<Vec<_>>());
                for (elements, _) in std::mem::take(&mut self.contents).into_values() {
                    for element in elements {
                        self.end(element, "given back");
                    }
                }
            }
        }
        self.perform();
        self.check();
    }

    fn perform(&mut self) -> Option<Duration> {
        loop {
            match self.batches.next(self.now) {
                BatchAction::Accept(ticket, batch) => {
                    let (first, element) = self.waiting.pop_front().unwrap();
                    assert_eq!(first, ticket, "somebody was overtaken");
                    self.put(batch, element);
                }
                BatchAction::Refuse(ticket) => {
                    assert!(self.is_closed);
                    let (first, element) = self.waiting.pop_front().unwrap();
                    assert_eq!(first, ticket);
                    self.end(element, "refused");
                }
                BatchAction::Send(ready) => {
                    let (elements, opened) = self.contents.remove(&ready.id()).unwrap();
                    let size = (ready.size().elements(), ready.size().bytes());
                    assert_eq!((size, ready.opened()), (Self::sum(&elements), opened));
                    let key = elements[0].key;
                    assert!(self.last_sent.insert(key, ready.id()).is_none_or(|last| last < ready.id()));
                    let same = self.in_flight.iter().filter(|(_, others)| others[0].key == key).count();
                    assert!(key >= 2 || same == 0, "two batches of an ordered key");
                    self.check_size(&elements, ready.trigger());
                    self.in_flight.push((ready.id(), elements));
                }
                BatchAction::Wait(until) => {
                    assert!(until.is_none_or(|until| until > self.now));
                    return until;
                }
                BatchAction::Finish => {
                    assert!(self.is_closed && self.in_flight.is_empty() && self.contents.is_empty());
                    return None;
                }
            }
        }
    }

    fn check_size(&self, elements: &[Element], trigger: BatchTrigger) {
        let settings = self.policy.settings();
        let (most, most_bytes) = (settings.element_count_threshold(), settings.request_byte_threshold());
        let (_, before) = elements.split_last().unwrap();
        let within = |elements: &[Element]| {
            let (count, bytes) = Self::sum(elements);
            count <= most && bytes <= most_bytes
        };
        match self.policy.rules() {
            // It is within the thresholds, unless it is one element.
            BatchingRules::Exceeded => {
                assert!(before.is_empty() || within(elements), "{elements:?}");
            }
            // Without its last element it was below them, and then it was sent at once.
            BatchingRules::Reached => {
                let (count, bytes) = Self::sum(before);
                assert!(before.is_empty() || (count < most && bytes < most_bytes), "{elements:?}");
                let reached = Self::sum(elements).0 >= most || Self::sum(elements).1 >= most_bytes;
                assert_eq!(reached, matches!(trigger, BatchTrigger::Elements | BatchTrigger::Bytes));
            }
        }
    }

    fn check(&self) {
        let (elements, bytes) = self.outstanding();
        assert_eq!(
            (self.batches.outstanding().elements(), self.batches.outstanding().bytes()),
            (elements, bytes)
        );
        assert_eq!(self.batches.held(), self.waiting.len());
        let settings = self.policy.settings();
        if settings.limit_exceeded() != LimitExceeded::Ignore {
            assert!(settings.max_outstanding_elements().is_none_or(|limit| elements <= limit));
            let largest = settings.max_outstanding_bytes().unwrap_or(u64::MAX).max(30);
            assert!(bytes <= largest, "{bytes} bytes");
        }
        if !self.waiting.is_empty() {
            assert!(!self.in_flight.is_empty(), "nothing will ever make room");
        }
    }

    /// Lets everything end; time stands still until nothing else happens.
    fn drain(&mut self) {
        for _ in 0..10_000 {
            if !self.in_flight.is_empty() {
                self.happens(&Fact::Ended(0));
            } else if let Some(until) = self.perform() {
                self.now = until;
                self.perform();
                self.check();
            } else {
                return;
            }
        }
        panic!("it goes on for ever");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_element_ends_once(policy in policy(), facts in proptest::collection::vec(fact(), 1..80)) {
        let mut model = Model::new(policy);
        for fact in &facts {
            model.happens(fact);
        }
        model.drain();
        // Only those that nothing sends are left, and nobody waits.
        prop_assert!(model.waiting.is_empty());
        let delay = model.policy.settings().delay_threshold();
        prop_assert!(model.contents.is_empty() || delay == Duration::MAX);
        model.happens(&Fact::Close);
        model.drain();
        prop_assert_eq!(model.batches.next(model.now), BatchAction::Finish);
        prop_assert_eq!(model.ends.keys().copied().collect::<BTreeSet<_>>(), (1..=model.added).collect());
        prop_assert_eq!(model.batches.outstanding(), ElementSize::new(0, 0));
    }
}
