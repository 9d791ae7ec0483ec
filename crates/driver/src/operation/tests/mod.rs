//! The driver over a protocol that only plays a script.

mod fake;
mod hedging;
mod links;
mod observed;
mod outcome;
mod sequence;
mod start;
mod steps;
mod surroundings;

use outcome::{MS, Outcome, at_once, begun, done, driver, finish, five_seconds, lost, run, unavailable};
