//! Annotations that can't be used.

use gax_table::RoutingError;
use std::error::Error;
use std::fmt;

/// Bytes that are no `FileDescriptorSet`, or a method in them whose annotations can't be used.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationError(Problem);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Problem {
    Bytes(prost::DecodeError),
    Annotation { method: String, error: RoutingError },
}

impl From<Problem> for AnnotationError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl fmt::Display for AnnotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Problem::Bytes(_) => {
                f.write_str("the bytes are not an encoded google.protobuf.FileDescriptorSet")
            }
            Problem::Annotation { method, error } => write!(f, "{method}: {error}; {}", error.help()),
        }
    }
}

impl Error for AnnotationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Problem::Bytes(error) => Some(error),
            Problem::Annotation { .. } => None,
        }
    }
}
