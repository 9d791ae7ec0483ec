//! The methods that a client or a layer knows.

use crate::live::unknown_methods::{UnknownMethodsError, check_names};
use gax_table::{RetryTable, ServiceDescription};

/// The methods that a generated client has, or the descriptors of a layer.
#[derive(Debug)]
pub struct KnownMethods {
    owner: &'static str,
    services: Vec<ServiceDescription>,
    denies_unknown: bool,
}

impl KnownMethods {
    /// Those of a generated client.
    #[must_use]
    pub fn of_client(services: Vec<ServiceDescription>, denies_unknown: bool) -> Self {
        Self { owner: "the client doesn't", services, denies_unknown }
    }

    /// Those of a layer's descriptors.
    #[must_use]
    pub fn of_descriptors(services: Vec<ServiceDescription>, denies_unknown: bool) -> Self {
        Self { owner: "the descriptors don't", services, denies_unknown }
    }

    pub(super) fn services(&self) -> &[ServiceDescription] {
        &self.services
    }

    /// Compares the names of a table with those of the methods.
    ///
    /// # Errors
    ///
    /// The table names other methods, and they are denied.
    pub fn check(&self, table: &RetryTable) -> Result<(), UnknownMethodsError> {
        if self.denies_unknown { check_names(self.owner, table, &self.services) } else { Ok(()) }
    }
}
