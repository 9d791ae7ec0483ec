//! Headers that Google's servers expect of every call: where a request is routed to, who sends it, and who pays for it.
//!
//! Clients that are generated from protos with Google's annotations always send them; the layer sends them [on
//! request](crate::RetryLayer::google_headers). The page *Google APIs* of the guide has the rules.

mod endpoint_error;
mod google_headers;
pub(crate) mod method_annotations;
mod method_headers;
mod pattern;
pub(crate) mod request_id;
pub(crate) mod request_param;
mod service_endpoint;
pub(crate) mod service_info;
mod short_text;
mod value;

pub use endpoint_error::EndpointError;
pub use google_headers::GoogleHeaders;
pub(crate) use method_annotations::MethodAnnotations;
pub(crate) use method_headers::{ClientHeaders, MethodHeaders, X_GOOG_REQUEST_PARAMS};
#[cfg(feature = "tables")]
pub(crate) use request_param::RequestParam;
#[cfg(test)]
pub(crate) use request_param::request_params;
pub use service_endpoint::ServiceEndpoint;
pub(crate) use service_info::ServiceInfo;
