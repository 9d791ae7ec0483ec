//! A service with scripted faults.

mod assets;
mod listener;
mod script;
mod stopwatch;

pub(crate) use assets::Assets;
pub(crate) use listener::serve;
pub(crate) use script::{Arrival, Event, Script, Turn};
