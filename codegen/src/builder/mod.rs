//! The generator as build scripts use it.

mod compile;
mod options;
mod pass_through;

pub use options::{Builder, configure};
