//! Services, from compiled descriptors.

use gax_table::ServiceDescription;
use gax_table::descriptors::FileSet;
use prost::{DecodeError, Message};
use std::error::Error;
use std::fmt;

/// Bytes that are not an encoded `FileDescriptorSet`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescriptorError(DecodeError);

/// The services in an encoded `FileDescriptorSet`.
///
/// # Errors
///
/// The bytes are something else.
pub(crate) fn services(encoded: &[u8]) -> Result<Vec<ServiceDescription>, DescriptorError> {
    Ok(FileSet::decode(encoded).map_err(DescriptorError)?.services().collect())
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are not an encoded google.protobuf.FileDescriptorSet")
    }
}

impl Error for DescriptorError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}
