//! Who is told of the operations of a client or layer.

use super::info::full_method;
use super::installed::Installed;
use super::{OnRetry, OperationObserver, Retry};
#[cfg(feature = "live")]
use crate::live::{SettingsHandle, WatchState};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The observers of a client or layer, in the order in which they were installed, and the methods it knows.
#[derive(Clone, Default)]
pub(crate) struct Observers {
    list: Vec<Installed>,
    /// The methods that were known before they were called, as `package.Service/Method`; `None`: all.
    registered: Option<HashSet<Box<str>>>,
    /// Of the settings' file, where they are those of a handle.
    #[cfg(feature = "live")]
    watch: Option<Arc<WatchState>>,
}

impl Observers {
    pub(crate) fn push(&mut self, observer: Arc<dyn OperationObserver>) {
        self.list.push(Installed::new(observer));
    }

    pub(crate) fn on_retry(&mut self, log: impl Fn(&Retry<'_>) + Send + Sync + 'static) {
        self.push(Arc::new(OnRetry(log)));
    }

    /// These observers, and then the others.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.list.extend(others.list);
        self
    }

    /// The observers as operations share them; `None`: there are none.
    pub(crate) fn shared(&self) -> Option<Arc<Self>> {
        (!self.list.is_empty()).then(|| Arc::new(self.clone()))
    }

    /// The same, where only these methods are known.
    #[cfg(feature = "tables")]
    pub(crate) fn registering<'a>(&self, methods: impl IntoIterator<Item = &'a Box<str>>) -> Self {
        let named = methods.into_iter().map(|path| Box::from(full_method(path))).collect();
        Self { registered: Some(named), ..self.clone() }
    }

    /// The same, where no method is known.
    #[cfg(feature = "http")]
    pub(crate) fn registering_none(&self) -> Self {
        Self { registered: Some(HashSet::new()), ..self.clone() }
    }

    /// The settings are those of that handle.
    #[cfg(feature = "live")]
    pub(crate) fn follow(&mut self, handle: &SettingsHandle) {
        self.watch = Some(Arc::clone(handle.watch_state()));
    }

    /// Whether the settings' file is watched; `None`: they have none.
    #[cfg_attr(not(feature = "live"), expect(clippy::unused_self, reason = "no settings have a file"))]
    pub(super) fn settings_are_watched(&self) -> Option<bool> {
        #[cfg(feature = "live")]
        return self.watch.as_ref()?.is_watched();
        #[cfg(not(feature = "live"))]
        None
    }

    pub(super) fn knows(&self, method: &str) -> bool {
        self.registered.as_ref().is_none_or(|registered| registered.contains(full_method(method)))
    }

    pub(super) fn list(&self) -> &[Installed] {
        &self.list
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observers({})", self.list.len())
    }
}
