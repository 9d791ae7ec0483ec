//! The fields of a request that Google's servers route it by, from the annotations of protos.

mod error;
mod http_binding;
mod path_template;
mod request_param;

pub use error::RoutingError;
pub use http_binding::HttpBinding;
pub use path_template::{PathGrammar, PathTemplate, PathVariable};
pub use request_param::{MessageFields, ProtoField, RequestParam, http_params, routing_params};
