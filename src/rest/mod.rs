//! Generated clients over HTTP and JSON. *Experimental*: this module may change in any release, especially its options and errors.
//!
//! A [`RestTransport`] replaces the channel of a generated client, and makes an HTTP request for each attempt, by the
//! `google.api.http` rule of its RPC. Settings, reports, observers, paging and long-running operations are those of the client, and
//! know nothing about it. The page *REST* of the guide has the rules.

mod error;
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

pub use error::RestError;
pub use http_rule::HttpRule;
pub use http_service::HttpService;
pub use options::RestOptions;
pub use response::RestBody;
#[doc(hidden)]
pub use rest_service::RestService;
pub use transport::RestTransport;
