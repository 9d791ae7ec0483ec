//! Batches whose driver is the test.

use crate::batching::decisions::BatchId;
use crate::batching::{
    Added, BatchAction, Batches, BatchingPolicy, BatchingRules, BatchingSettings, BatchingSettingsBuilder,
    ElementSize, LimitExceeded, NewElement, Ticket,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const MS: Duration = Duration::from_millis(1);

/// No thresholds but those that a test sets: batches are sent by nothing else than flush and close.
pub(super) fn settings() -> BatchingSettingsBuilder {
    BatchingSettings::builder()
        .element_count_threshold(u64::MAX)
        .request_byte_threshold(u64::MAX)
        .delay_threshold(Duration::MAX)
}

/// Those, with limits on what is outstanding.
pub(super) fn limited(elements: u64, bytes: u64, beyond: LimitExceeded) -> BatchingSettingsBuilder {
    BatchingSettings::builder()
        .element_count_threshold(1.max(elements / 2))
        .request_byte_threshold(1.max(bytes / 2))
        .delay_threshold(Duration::MAX)
        .max_outstanding_elements(elements)
        .max_outstanding_bytes(bytes)
        .limit_exceeded(beyond)
}

/// The test says what time it is and what happens, and reads what was done: `5 send 1: a b (delay)`. Elements are words; of
/// `topic/word` the first part is the key, and `topic!/word` is sent in order.
pub(super) struct ByHand {
    batches: Batches<String>,
    now: Duration,
    /// Elements by their batch, and those that wait.
    contents: BTreeMap<BatchId, Vec<String>>,
    waiting: BTreeMap<Ticket, String>,
    log: Vec<String>,
}

impl ByHand {
    pub(super) fn new(settings: BatchingSettingsBuilder, rules: BatchingRules) -> Self {
        Self {
            batches: Batches::new(BatchingPolicy::new(settings.build(), rules).unwrap()),
            now: Duration::ZERO,
            contents: BTreeMap::new(),
            waiting: BTreeMap::new(),
            log: Vec::new(),
        }
    }

    pub(super) fn exceeded(settings: BatchingSettingsBuilder) -> Self {
        Self::new(settings, BatchingRules::Exceeded)
    }

    pub(super) fn reached(settings: BatchingSettingsBuilder) -> Self {
        Self::new(settings, BatchingRules::Reached)
    }

    /// Sets the clock, and performs what is due.
    pub(super) fn at(&mut self, ms: u32) -> &mut Self {
        self.now = MS * ms;
        self.perform()
    }

    /// Adds elements of one byte each.
    pub(super) fn add(&mut self, names: &str) -> &mut Self {
        for name in names.split_whitespace() {
            self.add_of(name, ElementSize::of_bytes(1));
        }
        self
    }

    pub(super) fn add_of(&mut self, name: &str, size: ElementSize) -> &mut Self {
        let element = self.element(name, size);
        let added = self.batches.add(element, self.now);
        self.added(name, added)
    }

    /// Adds an element that doesn't wait.
    pub(super) fn try_add(&mut self, name: &str) -> &mut Self {
        let element = self.element(name, ElementSize::of_bytes(1));
        let added = self.batches.try_add(element, self.now);
        self.added(name, added.map_or_else(Added::Refused, Added::Accepted))
    }

    #[expect(clippy::unused_self, reason = "it reads like the others")]
    fn element(&self, name: &str, size: ElementSize) -> NewElement<String> {
        let (key, is_ordered) = match name.split_once('/') {
            Some((key, _)) => (key.trim_end_matches('!'), key.ends_with('!')),
            None => ("", false),
        };
        let element = NewElement::new(key.to_owned(), size);
        if is_ordered { element.ordered() } else { element }
    }

    fn added(&mut self, name: &str, added: Added) -> &mut Self {
        match added {
            Added::Accepted(batch) => self.contents.entry(batch).or_default().push(name.to_owned()),
            Added::Held(ticket) => {
                self.waiting.insert(ticket, name.to_owned());
                self.note(&format!("hold {name}"));
            }
            Added::Refused(why) => self.note(&format!("refuse {name}: {why:?}")),
        }
        self.perform()
    }

    pub(super) fn withdraw(&mut self, name: &str) -> &mut Self {
        let ticket = *self.waiting.iter().find(|(_, waiting)| *waiting == name).unwrap().0;
        self.waiting.remove(&ticket);
        self.batches.withdraw(ticket, self.now);
        self.perform()
    }

    pub(super) fn ended(&mut self, batch: u64) -> &mut Self {
        self.batches.ended(BatchId(batch), self.now);
        self.perform()
    }

    pub(super) fn flush(&mut self) -> &mut Self {
        self.batches.flush(self.now);
        self.perform()
    }

    pub(super) fn close(&mut self) -> &mut Self {
        self.batches.close(self.now);
        self.perform()
    }

    pub(super) fn give_back(&mut self) -> &mut Self {
        for batch in self.batches.give_back() {
            let elements = self.contents.remove(&batch).unwrap().join(" ");
            self.note(&format!("give back {}: {elements}", batch.number()));
        }
        self.perform()
    }

    /// Entries and bytes that are outstanding.
    pub(super) fn outstanding(&self) -> (u64, u64) {
        (self.batches.outstanding().elements(), self.batches.outstanding().bytes())
    }

    /// When the timer is set to.
    pub(super) fn wakes(&mut self) -> Option<Duration> {
        match self.batches.next(self.now) {
            BatchAction::Wait(until) => until,
            other => panic!("{other:?}"),
        }
    }

    /// The log since this was last asked.
    pub(super) fn log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    fn note(&mut self, what: &str) {
        self.log.push(format!("{} {what}", self.now.as_millis()));
    }

    fn perform(&mut self) -> &mut Self {
        loop {
            match self.batches.next(self.now) {
                BatchAction::Accept(ticket, batch) => {
                    let name = self.waiting.remove(&ticket).unwrap();
                    self.note(&format!("accept {name}"));
                    self.contents.entry(batch).or_default().push(name);
                }
                BatchAction::Refuse(ticket) => {
                    let name = self.waiting.remove(&ticket).unwrap();
                    self.note(&format!("refuse {name}"));
                }
                BatchAction::Send(ready) => {
                    let elements = self.contents.remove(&ready.id()).unwrap().join(" ");
                    self.note(&format!("send {}: {elements} ({})", ready.id().number(), ready.trigger()));
                }
                BatchAction::Wait(until) => {
                    assert!(until.is_none_or(|until| until > self.now), "a moment that is past: {until:?}");
                    return self;
                }
                BatchAction::Finish => {
                    self.note("finish");
                    return self;
                }
            }
        }
    }
}
