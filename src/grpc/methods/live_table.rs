//! The methods of a table that can be replaced.

use crate::grpc::methods::descriptors::Descriptions;
use crate::grpc::methods::table::{MethodOptions, Methods};
use crate::grpc::methods::unknown::services;
use gax_driver::__house::{CurrentTable, KnownMethods, Replaceable, follow_table, know_methods};
use gax_driver::live::SettingsHandle;
use std::sync::Arc;

/// A table that the handle replaces while the layer is used.
#[derive(Debug, Clone)]
pub(crate) struct LiveTable {
    pub(crate) handle: SettingsHandle,
    denies_unknown_methods: bool,
    /// The methods of the descriptors, once there are any.
    known: Option<Arc<KnownMethods>>,
}

impl LiveTable {
    /// The table of that handle.
    pub(crate) fn new(handle: &SettingsHandle) -> Self {
        Self { handle: handle.clone(), denies_unknown_methods: false, known: None }
    }

    /// Whether a table is refused that names other methods than these.
    pub(crate) fn deny_unknown_methods(&mut self, deny: bool, described: &Descriptions) {
        self.denies_unknown_methods = deny;
        self.know(described);
    }

    /// Tables are checked against these methods from now on.
    pub(crate) fn know(&mut self, described: &Descriptions) {
        let services = services(described);
        let known = KnownMethods::of_descriptors(services, self.denies_unknown_methods);
        self.known = (!described.is_empty()).then(|| know_methods(&self.handle, known));
    }

    /// The methods by whichever table the handle has.
    pub(crate) fn methods(&self, options: MethodOptions) -> Replaceable<Methods> {
        let make = move |current: &CurrentTable, before: Option<&Methods>| {
            let version = Some(current.version);
            let methods = Methods::new(current.table.clone(), version, current.budget.as_ref(), &options);
            match before {
                Some(before) => methods.with_latencies_of(before),
                None => methods,
            }
        };
        Replaceable::live(follow_table(&self.handle, make, self.known.clone()))
    }
}
