//! What people read and write: durations, tables, names that are nearly right, text that a terminal may have.

mod duration;
mod escaped;
mod grid;
mod human;
mod suggest;

pub use duration::{DurationError, parse_duration, parse_nanos, time_text};
pub use escaped::{Escaped, is_unprintable};
pub use grid::{Align, Cell, Grid, Role};
pub use human::Human;
pub use suggest::closest;
