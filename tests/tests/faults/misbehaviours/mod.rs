//! The misbehaviours of servers, proxies, resolvers and machines that `docs/contributing/misbehaviours.md` lists, by the clients that they
//! concern: one table says which test plays each pair, or why none does. A suite in here plays those of connections.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod clients;
mod endpoints;
mod machine;
mod page;
mod proxies;
mod replies;
mod row;
mod server;
mod stage;
mod suite;
mod table;
