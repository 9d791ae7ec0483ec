//! `gax conformance --clients`: what gRPC's texts say of retries, asked of any client.

mod case;
mod run;

pub(super) use run::run;
