//! `gax demo`: an outage, and a generated client that rides it out.

mod json;
mod listen;
mod run;
mod scene;
mod server;
mod stage;
mod text;
mod turn;

pub(crate) use run::{DemoArgs, run};
