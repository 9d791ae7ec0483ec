//! Who is notified of the operations of a client or layer.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use crate::live_policies::LivePolicies;
use crate::operation::observe::info::{OperationInfo, full_method};
use crate::operation::observe::observer::OperationObserver;
use crate::operation::observe::on_retry::{OnRetry, Retry};
use crate::panics::PanicGuard;
use crate::watch_state::WatchState;
use gax_retry::StartedAttempt;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The observers of a client or layer, in the order in which they were installed, and the methods it knows.
#[derive(Clone, Default)]
#[must_use]
pub struct Observers {
    list: Vec<Installed>,
    /// The methods that were known before they were called, as `package.Service/Method`; `None`: all.
    registered: Option<HashSet<Box<str>>>,
    /// Of the settings' file, if they are those of a handle.
    watch: Option<Arc<WatchState>>,
}

impl Observers {
    pub fn push(&mut self, observer: Arc<dyn OperationObserver>) {
        self.list.push(Installed::new(observer));
    }

    pub fn on_retry(&mut self, log: impl Fn(&Retry<'_>) + Send + Sync + 'static) {
        self.push(Arc::new(OnRetry(log)));
    }

    /// These observers, and then the others.
    pub fn and(mut self, others: Self) -> Self {
        self.list.extend(others.list);
        self
    }

    /// The observers as operations share them; `None`: there are none.
    #[must_use]
    pub fn shared(&self) -> Option<Arc<Self>> {
        (!self.list.is_empty()).then(|| Arc::new(self.clone()))
    }

    /// These observers, where only these methods are known.
    pub fn registering<'a>(&self, methods: impl IntoIterator<Item = &'a Box<str>>) -> Self {
        let named = methods.into_iter().map(|path| Box::from(full_method(path))).collect();
        Self { registered: Some(named), ..self.clone() }
    }

    /// These observers, if no method is known.
    pub fn registering_none(&self) -> Self {
        Self { registered: Some(HashSet::new()), ..self.clone() }
    }

    /// The settings are those policies.
    pub fn follow(&mut self, live: &LivePolicies) {
        self.watch = Some(Arc::clone(live.watch_state()));
    }

    /// Returns whether the settings' file is watched; `None`: they have none.
    pub(super) fn settings_are_watched(&self) -> Option<bool> {
        self.watch.as_ref()?.is_watched()
    }

    /// Notifies each observer of something that is not an operation.
    pub fn each(&self, mut notify: impl FnMut(&(dyn OperationObserver + 'static))) {
        for observer in &self.list {
            observer.notify(&mut notify);
        }
    }

    pub(super) fn knows(&self, method: &str) -> bool {
        self.registered.as_ref().is_none_or(|registered| registered.contains(full_method(method)))
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observers({})", self.list.len())
    }
}

const WHO: &str = "an observer";

/// An observer that was installed on a client or layer, or the one that it has for an operation. Its panics end here.
#[derive(Clone)]
struct Installed {
    observer: Arc<dyn OperationObserver>,
    guard: Arc<PanicGuard>,
}

impl Installed {
    fn new(observer: Arc<dyn OperationObserver>) -> Self {
        Self { observer, guard: Arc::default() }
    }

    /// The observer of that operation: one of its own, or this one.
    fn for_operation(&self, info: &OperationInfo) -> Self {
        let own = self.notify(|observer| observer.for_operation(info)).flatten();
        Self { observer: own.unwrap_or_else(|| Arc::clone(&self.observer)), guard: Arc::clone(&self.guard) }
    }

    /// Calls the observer. `None`: it panicked.
    #[inline]
    fn notify<R>(&self, call: impl FnOnce(&(dyn OperationObserver + 'static)) -> R) -> Option<R> {
        self.guard.run(WHO, || call(&*self.observer))
    }

    /// Releases the observer, whose own code may run then.
    fn release(self) {
        let Self { observer, guard } = self;
        guard.run(WHO, || drop(observer));
    }
}

/// The observers of one operation, and which it is. Connections that read its requests have it too.
pub(super) struct Recipients {
    observers: Vec<Installed>,
    info: OperationInfo,
}

impl Recipients {
    /// Those that are notified of that operation.
    pub(super) fn of(observers: &Observers, info: OperationInfo) -> Self {
        let observers = observers.list.iter().map(|observer| observer.for_operation(&info)).collect();
        Self { observers, info }
    }

    pub(super) fn info(&self) -> &OperationInfo {
        &self.info
    }

    /// Returns whether an observer watches transfers.
    pub(super) fn watches_transfers(&self) -> bool {
        let watches =
            |observer: &Installed| observer.notify(|observer| observer.watches_transfers(&self.info));
        self.observers.iter().any(|observer| watches(observer).unwrap_or_default())
    }

    pub(super) fn each(&self, mut notify: impl FnMut(&(dyn OperationObserver + 'static), &OperationInfo)) {
        for observer in &self.observers {
            observer.notify(|observer| notify(observer, &self.info));
        }
    }
}

impl Drop for Recipients {
    fn drop(&mut self) {
        self.observers.drain(..).for_each(Installed::release);
    }
}

/// The thread works on an attempt, until this is dropped.
#[allow(missing_debug_implementations, reason = "for the crates of this repository alone")]
pub struct Entered {
    recipients: Arc<Recipients>,
    attempt: StartedAttempt,
}

impl Entered {
    pub(super) fn new(recipients: &Arc<Recipients>, attempt: StartedAttempt) -> Self {
        recipients.each(|observer, info| observer.attempt_entered(info, attempt));
        Self { recipients: Arc::clone(recipients), attempt }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.recipients.each(|observer, info| observer.attempt_exited(info, self.attempt));
    }
}
