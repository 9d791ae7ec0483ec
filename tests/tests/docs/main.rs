//! The programs and outputs of the README, the guide and `examples/`, run as they stand there.

mod alerts;
mod examples;
mod faq;
mod keep_alive;
mod memorystore;
mod otlp;
mod presets;
mod readme;
mod storage_requests;
mod storage_transfers;
mod transfer;
mod troubleshooting;
