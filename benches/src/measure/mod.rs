//! Measuring by turns: whatever slows the machine down for a while slows everybody down.

mod clock;
mod instructions;
mod lane;
mod one_core;
mod runtime;
mod turns;

pub use clock::{Cost, Stopwatch, moment};
pub use instructions::{Counted, count as instructions};
pub use lane::{Lane, Way};
pub use one_core::stay_on_one_core;
pub use runtime::{paused, runtime};
pub use turns::{Summary, Turns, by_turns};
