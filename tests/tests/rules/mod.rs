//! Whose rules decide: the documentation's, gax-java's, gRPC's, those of tables for HTTP requests, and hedging.

mod documented_tables;
pub(crate) mod goldens;
mod grpc_rules;
mod hedged_writes;
mod hedging;
mod http_hedging;
mod http_table;
mod recorded_calls;
mod recorded_streams;
mod suite;
mod vectors;
