//! Measuring by turns: whatever slows the machine down for a while slows everybody down.

mod clock;
mod instructions;

pub use clock::{Cost, Stopwatch, moment};
pub use instructions::{Counted, count as instructions};

use crate::asset::ListAssetsRequest;
use crate::contender::Contender;
use std::fmt;
use std::hint::black_box;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain pair of numbers")]
pub struct Plan {
    /// How often everybody has a turn.
    pub rounds: u32,
    /// How many calls a turn has.
    pub calls: u32,
}

impl Plan {
    /// One turn of few calls, to see that everything works.
    #[must_use]
    pub fn quick(self) -> Self {
        Self { rounds: 2, calls: self.calls.min(3) }
    }
}

/// One of those who have turns.
pub struct Lane<'a> {
    name: &'static str,
    turn: Box<dyn FnMut(u32) -> Duration + 'a>,
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

/// The result of a lane's turns.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain row of numbers")]
pub struct Summary {
    /// Whose.
    pub name: &'static str,
    /// The median cost of one call, in nanoseconds.
    pub nanos: f64,
    /// The median, over the rounds, of the cost beside that of the first lane in the same round.
    pub ratio: f64,
    /// The quartiles of the same.
    pub quartiles: (f64, f64),
}

/// Measures by turns. The first lane is what the others are compared with.
#[must_use]
pub fn by_turns(mut lanes: Vec<Lane<'_>>, plan: Plan) -> Vec<Summary> {
    let mut costs: Vec<Vec<f64>> = vec![Vec::new(); lanes.len()];
    for round in 0..=plan.rounds {
        for (lane, costs) in lanes.iter_mut().zip(&mut costs) {
            let cost = (lane.turn)(plan.calls).as_secs_f64() * 1e9 / f64::from(plan.calls);
            // The first round warms up.
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    let first = costs.first().cloned().unwrap_or_default();
    lanes
        .iter()
        .zip(&costs)
        .map(|(lane, costs)| {
            let ratios: Vec<f64> = costs.iter().zip(&first).map(|(cost, first)| cost / first).collect();
            Summary {
                name: lane.name,
                nanos: quantile(costs, 0.5),
                ratio: quantile(&ratios, 0.5),
                quartiles: (quantile(&ratios, 0.25), quantile(&ratios, 0.75)),
            }
        })
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index into a few hundred values"
)]
fn quantile(values: &[f64], fraction: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (sorted.len().saturating_sub(1) as f64 * fraction).round() as usize;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_a_round() {
        // The machine slows down from round to round; the second lane always takes twice as long.
        let lane = |factor: u32| {
            let mut slowness = 0;
            Lane::new("", move |calls| {
                slowness += 1;
                Duration::from_nanos(u64::from(factor * slowness * calls))
            })
        };
        let [first, second] = by_turns(vec![lane(1), lane(2)], Plan { rounds: 5, calls: 10 })[..] else {
            panic!("two lanes, two rows");
        };
        assert!((first.ratio - 1.0).abs() < 1e-9 && (second.ratio - 2.0).abs() < 1e-9);
        // Rounds 2 to 6 are counted.
        assert!((first.nanos - 4.0).abs() < 1e-9);
    }
}
