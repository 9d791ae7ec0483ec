//! Measuring by turns: whatever slows the machine down for a while slows everybody down.

mod clock;
mod instructions;
mod lane;
mod runtime;
mod turns;

pub use clock::{Cost, Stopwatch, moment};
pub use instructions::{Counted, Counts, count as instructions};
pub use lane::{Lane, Way};
pub use runtime::{paused, runtime, stay_on_one_core};
pub use turns::{Summary, Turns, by_turns};
