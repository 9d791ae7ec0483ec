//! A reqwest client under the layer: as a tower service, and with requests made as reqwest's own users make them.

mod body;
mod builder;
mod client;
mod redirects;
mod service;

pub use builder::ReqwestRequestBuilder;
pub(crate) use redirects::{FirstHop, Redirected};
pub use service::ReqwestService;
