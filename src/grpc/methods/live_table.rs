//! The methods of a table that can be replaced.

use super::table::{MethodOptions, Methods};
use super::unknown::known_methods;
use crate::live::{CurrentTable, Replaceable, SettingsHandle};
use gax_retry::RetryBudget;

/// What replaces a layer's table.
#[derive(Debug, Clone)]
pub(crate) struct LiveTable {
    pub(crate) handle: SettingsHandle,
    /// Whether the program has set a budget, in place of the table's.
    pub(crate) has_own_budget: bool,
    pub(crate) denies_unknown_methods: bool,
}

impl LiveTable {
    /// The table of that handle.
    pub(crate) fn new(handle: &SettingsHandle) -> Self {
        Self { handle: handle.clone(), has_own_budget: false, denies_unknown_methods: false }
    }

    /// The methods by whichever table the handle has.
    pub(crate) fn methods(
        &self,
        options: MethodOptions,
        own_budget: Option<RetryBudget>,
    ) -> Replaceable<Methods> {
        let own_budget = self.has_own_budget.then_some(own_budget);
        let described = self.denies_unknown_methods.then(|| options.described.clone());
        let make = move |current: &CurrentTable| {
            let budget = own_budget.as_ref().unwrap_or(&current.budget);
            Methods::new(current.table.clone(), Some(current.version), budget.as_ref(), &options)
        };
        let check = move |current: &CurrentTable| match &described {
            Some(described) => known_methods(&current.table, described).map_err(Into::into),
            None => Ok(()),
        };
        Replaceable::live(self.handle.follow(make, check))
    }
}
