//! The annotations that a method's headers follow from.

use crate::google::request_param::RequestParam;
use std::borrow::Cow;

/// The annotations of a method, and of its service, that its headers follow from.
#[derive(Debug, Clone, Default)]
pub struct MethodAnnotations {
    pub(crate) params: Cow<'static, [RequestParam]>,
    pub(crate) api_version: Option<Cow<'static, str>>,
}

impl MethodAnnotations {
    /// The parameters that requests are routed by, for generated code.
    #[must_use]
    pub const fn new(params: &'static [RequestParam], api_version: Option<&'static str>) -> Self {
        let api_version = match api_version {
            Some(version) => Some(Cow::Borrowed(version)),
            None => None,
        };
        Self { params: Cow::Borrowed(params), api_version }
    }
}

#[cfg(feature = "descriptors")]
impl MethodAnnotations {
    /// Those that were read when the program ran.
    pub(crate) fn read(params: Vec<RequestParam>, api_version: Option<String>) -> Self {
        Self { params: Cow::Owned(params), api_version: api_version.map(Cow::Owned) }
    }

    /// Returns whether they say anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.params.is_empty() && self.api_version.is_none()
    }
}
