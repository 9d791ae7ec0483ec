//! Per-RPC retry settings for Rust gRPC clients.
