//! The command line of a bench.

use crate::measure::{Lane, Summary, Turns, by_turns};

/// The flags of a bench, and the cases that it is to run.
#[derive(Debug)]
pub struct Arguments {
    is_quick: bool,
    only: Vec<String>,
}

impl Arguments {
    /// Those of this process: `--test` or `--quick`, and parts of the names of cases.
    #[must_use]
    pub fn read() -> Self {
        let (flags, only): (Vec<String>, Vec<String>) =
            std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
        let is_quick = flags.iter().any(|flag| flag == "--test" || flag == "--quick");
        Self { is_quick, only }
    }

    /// Returns whether everything is to run once only, to see that it works.
    #[must_use]
    pub fn is_quick(&self) -> bool {
        self.is_quick
    }

    /// Runs a case under its name, if it is to run.
    #[expect(clippy::print_stdout, reason = "a bench prints what it measured")]
    pub fn case<T: Default>(&self, name: &str, run: impl FnOnce() -> T) -> T {
        if !self.only.is_empty() && !self.only.iter().any(|only| name.contains(only.as_str())) {
            return T::default();
        }
        println!("\n{name}");
        run()
    }

    /// As many, or few.
    #[must_use]
    pub fn count(&self, all: u32) -> u32 {
        if self.is_quick { all.min(100) } else { all }
    }

    /// Measures by turns, or few of them.
    #[must_use]
    pub fn by_turns(&self, lanes: Vec<Lane<'_>>, turns: Turns) -> Vec<(&'static str, Summary)> {
        by_turns(lanes, if self.is_quick { turns.quick() } else { turns })
    }
}
