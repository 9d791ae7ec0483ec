//! Turns, and the costs that come of them.

use super::lane::Lane;
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom as _;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain pair of numbers")]
pub struct Turns {
    /// How often everybody has a turn.
    pub rounds: u32,
    /// How many calls a turn has.
    pub calls: u32,
}

impl Turns {
    /// One turn of few calls, to see that everything works.
    #[must_use]
    pub fn quick(self) -> Self {
        Self { rounds: 2, calls: self.calls.min(3) }
    }
}

/// The result of a lane's turns.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain row of numbers")]
pub struct Summary {
    /// The median cost of one call, in nanoseconds.
    pub nanos: f64,
    /// The median, over the rounds, of the cost beside that of the first lane in the same round.
    pub ratio: f64,
    /// The quartiles of the same.
    pub quartiles: (f64, f64),
}

/// Measures by turns: a result for the name of each lane. The first one is what the others are compared with.
#[must_use]
pub fn by_turns(lanes: Vec<Lane<'_>>, turns: Turns) -> Vec<(&'static str, Summary)> {
    let mut lanes: Vec<(Lane<'_>, Vec<f64>)> = lanes.into_iter().map(|lane| (lane, Vec::new())).collect();
    for (round, order) in (0..=turns.rounds).zip(orders(lanes.len())) {
        for place in order {
            let Some((lane, costs)) = lanes.get_mut(place) else { continue };
            let cost = (lane.turn)(turns.calls).as_secs_f64() * 1e9 / f64::from(turns.calls);
            // The first round warms up.
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    let first = lanes.first().map(|(_, costs)| costs.clone()).unwrap_or_default();
    lanes
        .iter()
        .map(|(lane, costs)| {
            let ratios: Vec<f64> = costs.iter().zip(&first).map(|(cost, first)| cost / first).collect();
            let [low, ratio, high] = [0.25, 0.5, 0.75].map(|fraction| quantile(&ratios, fraction));
            (lane.name, Summary { nanos: quantile(costs, 0.5), ratio, quartiles: (low, high) })
        })
        .collect()
}

/// The places of so many lanes, round by round, each time in another order and the same in every run. A lane must not always follow the same
/// one: what that one left to the allocator and in the caches is a part of its cost.
fn orders(lanes: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut order: Vec<usize> = (0..lanes).collect();
    let mut random = SmallRng::seed_from_u64(1);
    std::iter::repeat_with(move || {
        order.shuffle(&mut random);
        order.clone()
    })
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
    use std::time::Duration;

    #[test]
    fn each_lane_has_a_turn_in_each_round() {
        for lanes in 1..20 {
            for mut order in orders(lanes).take(5) {
                order.sort_unstable();
                assert_eq!(order, (0..lanes).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn each_lane_follows_each_other_one_about_as_often() {
        const LANES: usize = 9;
        let mut followed = [[0; LANES]; LANES];
        for order in orders(LANES).take(720) {
            for pair in order.windows(2) {
                followed[pair[1]][pair[0]] += 1;
            }
        }
        for (lane, before) in followed.iter().enumerate() {
            for (other, &times) in before.iter().enumerate() {
                assert!(
                    lane == other && times == 0 || (40..=120).contains(&times),
                    "{lane} after {other}: {times}"
                );
            }
        }
    }

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
        let [(_, first), (_, second)] = by_turns(vec![lane(1), lane(2)], Turns { rounds: 5, calls: 10 })[..]
        else {
            panic!("two lanes, two rows");
        };
        assert!((first.ratio - 1.0).abs() < 1e-9 && (second.ratio - 2.0).abs() < 1e-9);
        // Rounds 2 to 6 are counted.
        assert!((first.nanos - 4.0).abs() < 1e-9);
    }
}
