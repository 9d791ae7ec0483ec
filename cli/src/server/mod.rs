//! A service with scripted faults.

mod assets;
mod script;
mod stopwatch;

pub(crate) use assets::Assets;
pub(crate) use script::{Arrival, Event, Script, Turn};
