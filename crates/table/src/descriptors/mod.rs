//! An encoded `FileDescriptorSet`, as far as retries, headers and HTTP depend on it, with the options of Google's APIs: usual types of
//! descriptors drop options that are extensions. Services are read apart from messages, which most readers don't need.
#![expect(missing_docs, clippy::exhaustive_structs, reason = "fields are called as in the protos")]

mod described;
mod messages;
mod services;

pub use described::{DescriptorError, Descriptors};
pub use messages::{
    EnumType, EnumValue, Field, FieldInfo, FieldOptions, MessageFile, MessageSet, MessageType, MessageTypes,
};
pub use services::{
    CustomPattern, File, FileSet, HttpRule, Method, MethodOptions, OperationInfo, RoutingParameter,
    RoutingRule, Service, ServiceOptions, full_name,
};
