//! The table of the guide's page about performance, made of what the benches print.

mod figures;
mod layout;

pub use figures::Figures;
pub use layout::{table, timed};
