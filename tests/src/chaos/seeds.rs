//! Which seeds are run, and how one that fails is run again.

use super::{FinishedCall, broken_rules};
use std::fmt::{Debug, Write as _};

/// The seeds of a test.
///
/// `GAX_CHAOS_SEEDS` is how many of them there are, in place of the test's own number, and `GAX_CHAOS_SEED` is the only
/// one.
#[derive(Debug, Clone)]
pub struct Seeds {
    test: &'static str,
    first: u64,
    count: u64,
}

/// The outcome of a seed: the rules that were broken, and the story of its calls.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SeedOutcome {
    /// A sentence for each rule that was broken.
    pub broken: Vec<String>,
    /// The story: everything that was drawn, and how it went.
    pub story: String,
}

impl SeedOutcome {
    /// The outcome before any call: only the draw is known.
    #[must_use]
    pub fn of(drawn: String) -> Self {
        Self { broken: Vec::new(), story: drawn }
    }

    /// Adds the call of that number, and the rules that it broke.
    pub fn tell(&mut self, number: u32, call: &FinishedCall) {
        let _infallible = write!(self.story, "\ncall {number}: {call}");
        self.broken.extend(broken_rules(call).into_iter().map(|rule| format!("call {number}: {rule}")));
    }
}

impl Seeds {
    /// So many seeds of the test of that name, or those that the environment asks for.
    ///
    /// # Panics
    ///
    /// An environment variable is not a number.
    #[must_use]
    pub fn of(test: &'static str, count: u64) -> Self {
        let number = |name| {
            let value = std::env::var(name).ok()?;
            Some(value.parse().expect("GAX_CHAOS_SEED and GAX_CHAOS_SEEDS are numbers"))
        };
        match (number("GAX_CHAOS_SEED"), number("GAX_CHAOS_SEEDS")) {
            (Some(only), _) => Self { test, first: only, count: 1 },
            (None, Some(count)) => Self { test, first: 0, count },
            (None, None) => Self { test, first: 0, count },
        }
    }

    /// Of more seeds than the test's own that the environment asks for, one in so many: each takes long.
    #[must_use]
    pub fn one_in(self, share: u64, own: u64) -> Self {
        let count = if self.count > own { (self.count / share).max(own) } else { self.count };
        Self { count, ..self }
    }

    /// Runs the schedule of faults of each of them. The first that fails is made as short as it can be and still fail.
    ///
    /// # Panics
    ///
    /// A rule was broken.
    pub fn run_schedules<F: Clone + Debug>(
        &self,
        draw: impl Fn(u64) -> Vec<F>,
        run: impl Fn(u64, &[F]) -> SeedOutcome,
    ) {
        let mut has_failed = false;
        self.run(|seed| {
            let schedule = draw(seed);
            let outcome = run(seed, &schedule);
            if outcome.broken.is_empty() || std::mem::replace(&mut has_failed, true) {
                return outcome;
            }
            let (schedule, mut outcome) = shortest((schedule, outcome), |shorter| run(seed, shorter));
            outcome.story = format!("the shortest schedule that fails: {schedule:?}\n{}", outcome.story);
            outcome
        });
    }

    /// Runs each of them, and fails with all it takes to see the first that failed again.
    ///
    /// # Panics
    ///
    /// A rule was broken.
    pub fn run(&self, mut run: impl FnMut(u64) -> SeedOutcome) {
        let mut failed = Vec::new();
        for seed in self.first..self.first + self.count {
            let outcome = run(seed);
            if self.count == 1 {
                println!("{}", outcome.story);
            }
            if !outcome.broken.is_empty() {
                failed.push((seed, outcome));
            }
        }
        let (test, of) = (self.test, self.count);
        let rules: String = failed.iter().take(20).map(rules).collect();
        let story = failed.first().map_or_else(String::new, |(first, SeedOutcome { story, .. })| {
            format!(
                "seed {first}:\n{story}\n\nto see it again: GAX_CHAOS_SEED={first} cargo test -p tonic-gax-tests --test \
                 end_to_end {test}"
            )
        });
        assert!(failed.is_empty(), "{} of {of} seeds broke rules:\n{rules}\n{story}", failed.len());
    }
}

/// The shortest schedule that fails as this one does, and its outcome: without the faults that it fails without.
fn shortest<F: Clone>(
    (mut schedule, mut outcome): (Vec<F>, SeedOutcome),
    run: impl Fn(&[F]) -> SeedOutcome,
) -> (Vec<F>, SeedOutcome) {
    let mut piece = schedule.len();
    while piece > 0 {
        let mut start = 0;
        while start < schedule.len() {
            let mut shorter = schedule.clone();
            shorter.drain(start..(start + piece).min(schedule.len()));
            let ended = run(&shorter);
            if ended.broken.is_empty() {
                start += piece;
            } else {
                (schedule, outcome) = (shorter, ended);
            }
        }
        piece /= 2;
    }
    (schedule, outcome)
}

fn rules((seed, outcome): &(u64, SeedOutcome)) -> String {
    let mut text = String::new();
    for rule in &outcome.broken {
        let _infallible = writeln!(text, "seed {seed}: {rule}");
    }
    text
}
