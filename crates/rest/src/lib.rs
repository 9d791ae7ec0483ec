#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod headers;
mod http_rule;
mod http_service;
mod messages;
mod methods;
mod options;
mod problem;
mod request;
mod response;
mod rest_service;
mod transport;

pub use http_rule::HttpRule;
pub use http_service::RestHttpService;
pub use options::RestOptions;
pub use problem::RestError;
pub use response::RestBody;
pub use transport::RestTransport;

/// For generated code alone: it changes with the generator, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::rest_service::RestService;
}
