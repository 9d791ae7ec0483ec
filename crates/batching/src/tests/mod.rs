//! Batchers in virtual time.

mod driver;
mod endings;
mod flow_control;
mod results;
mod server;
mod wakers;
