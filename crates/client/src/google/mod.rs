//! Headers that Google's servers expect of every call: where a request is routed to, who sends it, and who pays for it.
//!
//! Clients that are generated from protos with Google's annotations always send them; the layer sends them [on
//! request](GoogleHeaders::for_descriptors) (feature `descriptors`). The page *Google APIs* of the guide has the rules.

#[cfg(feature = "descriptors")]
mod descriptors;
mod google_headers;
pub(crate) mod method_headers;
mod pattern;
pub(crate) mod request_id;
pub(crate) mod request_param;
pub(crate) mod service_endpoint;
mod value;

#[cfg(feature = "descriptors")]
pub use descriptors::AnnotationError;
pub use google_headers::GoogleHeaders;
pub(crate) use method_headers::{ClientHeaders, MethodAnnotations, X_GOOG_REQUEST_PARAMS};
pub(crate) use service_endpoint::ServiceInfo;
pub use service_endpoint::{EndpointError, ServiceEndpoint};
