//! Mixed calls over sockets against the random servers of [`chaos`](crate::chaos), for as long as one likes: with observers, hedging, budgets, and
//! settings that are replaced all the time. In the end nothing is lost, nothing has leaked, and all counts agree.

mod callers;
mod checks;
mod clients;
mod grpc_server;
mod http_server;
mod options;
mod process;
mod run;
mod settings;
mod tally;

pub use checks::BrokenPromises;
pub use options::SoakOptions;
pub use run::Soak;
