//! Headers that Google's servers expect of every call: where a request is routed to, who sends it, and who pays for it.
//!
//! Clients that are generated from protos with Google's annotations always send them; the layer sends them [on
//! request](GoogleHeaders::for_descriptors) (feature `descriptors`). The page *Google APIs* of the guide has the rules.

#[cfg(feature = "descriptors")]
mod annotation_error;
#[cfg(feature = "descriptors")]
mod descriptors;
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

#[cfg(feature = "descriptors")]
pub use annotation_error::AnnotationError;
pub use google_headers::GoogleHeaders;
pub(crate) use method_annotations::MethodAnnotations;
pub(crate) use method_headers::{ClientHeaders, X_GOOG_REQUEST_PARAMS};
pub use service_endpoint::{EndpointError, ServiceEndpoint};
pub(crate) use service_info::ServiceInfo;
