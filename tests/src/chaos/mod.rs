//! Random calls against random servers, drawn from a seed, and what has to be true of every one of them.
//!
//! Each noun stands for itself, so that other programs can put them together in other ways: what is
//! [drawn](Draw) from a seed, a [policy](RandomPolicy), a [call](RandomCall) and a [server](RandomServer),
//! what was [witnessed](Witness) of an operation, and the [rules](broken_rules) for a
//! [call that is over](FinishedCall).

mod budget;
mod call;
mod client;
mod connections;
mod connector;
mod draw;
mod endless;
mod finished;
mod http;
mod policy;
mod rules;
mod run;
mod seeds;
mod server;
mod witness;

pub use budget::RandomBudget;
pub use call::{CallKind, RandomCall};
pub use client::ChaosClient;
pub use connections::{Connecting, RandomConnections};
pub use connector::RandomConnector;
pub use draw::Draw;
pub use endless::EndlessService;
pub use finished::{CallEnd, FinishedCall, Grain, SeenRequest};
pub use http::{ChaosHttp, RandomHttpServer};
pub use policy::RandomPolicy;
pub use rules::broken_rules;
pub use run::{DrawnServer, FinishedRun, MadeCall, RandomCaller, Run};
pub use seeds::{SeedOutcome, Seeds};
pub use server::RandomServer;
pub use witness::{BudgetDraw, OperationEnd, Witness, Witnessed, WitnessedAttempt};
