//! gRFC A6 as rows: what the config says, what the server does frame by frame, and what must be seen on the wire. The names are
//! those of the cases that were run against grpc-go, grpc-java and grpc-js. Every client of gRPC that we have passes them.

mod client;
mod config;
pub mod hedging;
pub mod rows;
pub mod streams;

pub use client::{A6Client, LayerClient, layer_of, table_of};
pub use config::{DOWN, U, config};
