//! Tables as configurations of proxies.

mod envoy;
mod istio;
mod routes;

pub(super) use envoy::write_envoy;
pub(super) use istio::write_istio;
pub(super) use routes::call_timeout;
