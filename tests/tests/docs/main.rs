//! What the README, the guide and `examples/` say and show, run as it stands there.

mod alerts;
mod examples;
mod faq;
mod keep_alive;
mod memorystore;
mod otlp;
mod presets;
mod readme;
mod storage_requests;
mod troubleshooting;
