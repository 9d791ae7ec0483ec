//! gRFC A6 as rows: what the config says, what the server does frame by frame, and what must be seen on the wire. The names are
//! those of the cases that were run against grpc-go, grpc-java and grpc-js.

mod calls;
mod config;
mod rows;
mod statistics;
mod streams;
mod validation;
