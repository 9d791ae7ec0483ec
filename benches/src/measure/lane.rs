//! One of those who have turns.

use super::clock::{Cost, Stopwatch};
use crate::bench::Payload;
use crate::contender::Contender;
use std::fmt;
use std::future::Future as _;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::runtime::Runtime;

/// One of those who have turns.
pub struct Lane<'a> {
    pub(super) name: &'static str,
    pub(super) turn: Box<dyn FnMut(u32) -> Duration + 'a>,
}

impl fmt::Debug for Lane<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How the calls of a turn are made.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "benches choose one")]
pub enum Way {
    /// One after the other, polled by the runtime, by that clock.
    Polled(Cost),
    /// One after the other, polled by hand, in processor time: nothing of the runtime is in the figure. Each has to wake itself.
    ByHand,
    /// So many at a time, each of them a task, by the clock on the wall.
    Tasks(u32),
}

impl<'a> Lane<'a> {
    /// A lane whose turn does something so often and returns what that cost.
    pub fn new(name: &'static str, turn: impl FnMut(u32) -> Duration + 'a) -> Self {
        Self { name, turn: Box::new(turn) }
    }

    /// Calls over a service that fails all but the last of `each` attempts, of one that makes them itself if `each` is 1.
    ///
    /// # Panics
    ///
    /// A turn panics if a call ends otherwise.
    pub fn calls<C: Contender>(
        runtime: &'a Runtime,
        way: Way,
        mut contender: C,
        message: Payload,
        each: u32,
    ) -> Self {
        Self::new(C::NAME, move |calls| {
            let clock = match way {
                Way::Polled(cost) => cost,
                Way::ByHand => Cost::Processor,
                Way::Tasks(count) => return tasks(runtime, &contender, &message, count, calls),
            };
            let messages = vec![message.clone(); usize::try_from(calls * each).unwrap_or_default()];
            let _entered = runtime.enter();
            let watch = Stopwatch::start(clock);
            let batch = batch(&mut contender, messages, each);
            if let Way::Polled(_) = way {
                runtime.block_on(batch);
            } else {
                let mut batch = pin!(batch);
                while batch.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
            }
            watch.elapsed()
        })
    }

    /// Has a turn of so many calls; returns what it cost.
    pub fn turn(&mut self, calls: u32) -> Duration {
        (self.turn)(calls)
    }

    /// Whose turns they are.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// This lane under another name.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

/// Makes calls one after the other, of which the last of `each` succeeds.
async fn batch<C: Contender>(contender: &mut C, messages: Vec<Payload>, each: u32) {
    for (number, message) in (1..).zip(messages) {
        let result = black_box(contender.call(message).await);
        assert_eq!(result.is_ok(), number % each == 0, "{}", C::NAME);
    }
}

/// Makes calls in so many tasks; returns the time that passes.
fn tasks<C: Contender>(
    runtime: &Runtime,
    contender: &C,
    message: &Payload,
    count: u32,
    calls: u32,
) -> Duration {
    let watch = Stopwatch::start(Cost::Wall);
    runtime.block_on(async {
        let tasks: Vec<_> = (0..count)
            .map(|_| {
                let (mut contender, message) = (contender.clone(), message.clone());
                tokio::spawn(async move {
                    for _ in 0..calls.div_ceil(count) {
                        let response = contender.call(message.clone()).await;
                        drop(black_box(response.expect("the service replies")));
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no call fails");
        }
    });
    watch.elapsed()
}
