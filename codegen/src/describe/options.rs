//! The options of methods that retries care about, read from an encoded `FileDescriptorSet`: the usual
//! types of descriptors drop options that are extensions.

use crate::operation_types::OperationTypes;
use gax_table::descriptors::{FileSet, MethodOptions as Options, ServiceOptions, full_name};
use prost::{DecodeError, Message as _};
use std::collections::HashMap;

/// The options of every method, by service and name.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodOptions {
    methods: HashMap<(String, String), Options>,
    services: HashMap<String, ServiceOptions>,
}

impl MethodOptions {
    pub(crate) fn decode(encoded: &[u8]) -> Result<Self, DecodeError> {
        let (mut methods, mut services) = (HashMap::new(), HashMap::new());
        for file in FileSet::decode(encoded)?.file {
            for service in &file.service {
                let full_name = full_name(file.package(), service.name());
                services.insert(full_name.clone(), service.options.clone().unwrap_or_default());
                for method in &service.method {
                    if let Some(options) = &method.options {
                        methods.insert((full_name.clone(), method.name().to_owned()), options.clone());
                    }
                }
            }
        }
        Ok(Self { methods, services })
    }

    pub(super) fn of_service(&self, service: &str) -> Option<&ServiceOptions> {
        self.services.get(service)
    }

    /// The types of the operations that a method starts; `None`: it starts none, or says nothing about them.
    pub(crate) fn operation_types(&self, service: &str, method: &str) -> Option<OperationTypes> {
        let info = self.of(service, method)?.operation_info.clone()?;
        Some(OperationTypes { response: info.response_type, metadata: info.metadata_type })
    }

    pub(super) fn of(&self, service: &str, method: &str) -> Option<&Options> {
        self.methods.get(&(service.to_owned(), method.to_owned()))
    }
}
