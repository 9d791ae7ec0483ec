//! Operations over gRPC. The only module that knows tonic's transport.

mod answer;
mod cause;
mod collect;
mod course;
mod deadline;
mod descriptors;
mod engine;
mod failure;
mod inbound;
mod layer;
mod methods;
mod outgoing;
mod passing;
mod plan;
mod response_body;
mod service;
mod transport;

pub(crate) use answer::value as header;
pub(crate) use collect::{Collected, PREFIX};
pub(crate) use course::{Course, Judge};
pub(crate) use deadline::from_headers as timeout_in;
pub use descriptors::DescriptorError;
pub(crate) use engine::{Operation, Success};
pub(crate) use failure::unsent;
#[cfg(feature = "http")]
pub(crate) use inbound::inbound_deadline;
pub use inbound::{DeadlineFuture, DeadlineLayer, DeadlineService};
pub use layer::RetryLayer;
pub(crate) use outgoing::Outgoing;
pub(crate) use passing::Passing;
pub(crate) use plan::MethodPlan;
pub use response_body::ResponseBody;
pub(crate) use service::shorter;
pub use service::{ResponseFuture, RetryService};
pub use transport::Transport;
