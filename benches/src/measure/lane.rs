//! One of those who have turns.

use super::clock::{Cost, Stopwatch};
use crate::asset::ListAssetsRequest;
use crate::contender::Contender;
use std::fmt;
use std::hint::black_box;
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

impl<'a> Lane<'a> {
    /// A lane whose turn does something so often and returns what that cost.
    pub fn new(name: &'static str, turn: impl FnMut(u32) -> Duration + 'a) -> Self {
        Self { name, turn: Box::new(turn) }
    }

    /// Calls one after the other.
    ///
    /// # Panics
    ///
    /// A turn panics if a call fails.
    pub fn calls<C: Contender>(
        runtime: &'a Runtime,
        cost: Cost,
        mut contender: C,
        message: ListAssetsRequest,
    ) -> Self {
        Self::new(C::NAME, move |calls| {
            let messages = vec![message.clone(); usize::try_from(calls).unwrap_or_default()];
            let watch = Stopwatch::start(cost);
            runtime.block_on(async {
                for message in messages {
                    let response = contender.call(message).await;
                    drop(black_box(response.expect("the service replies")));
                }
            });
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

    /// Takes every unit for so many.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        Self { name: self.name, turn: Box::new(move |calls| (self.turn)(calls * times)) }
    }

    /// So many calls at a time, each of them a task.
    ///
    /// # Panics
    ///
    /// A turn panics if a call fails.
    pub fn concurrent<C: Contender>(
        runtime: &'a Runtime,
        cost: Cost,
        contender: C,
        message: ListAssetsRequest,
        concurrency: u32,
    ) -> Self {
        Self::new(C::NAME, move |calls| {
            let watch = Stopwatch::start(cost);
            runtime.block_on(async {
                let tasks: Vec<_> = (0..concurrency)
                    .map(|_| {
                        let (mut contender, message) = (contender.clone(), message.clone());
                        tokio::spawn(async move {
                            for _ in 0..calls.div_ceil(concurrency) {
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
        })
    }
}
