//! A retry table that can be replaced.

use crate::live::error::ReplaceError;
use crate::live::event::SettingsEvent;
use crate::live::replacement::Replacement;
use crate::live::warning::SettingsWarning;
use crate::services::services_of;
use crate::{RetryTable, ServiceDescription, UnknownMethodsError};
use gax_driver::__private::{Locked, PanicGuard, WatchState};
use gax_driver::LivePolicies;
use std::sync::Arc;

/// The retry table of layers and clients, which can be replaced while they are in use. Use it to change settings without a restart.
///
/// Its [`LivePolicies`] are what layers and clients follow. Give a reference to it to `RetryLayer::live`, to `live` of a generated
/// client's settings, to `HttpRetryLayer::live`, or to gax-driver's `Retryer::live`; one handle serves
/// any number of them. A clone is the same handle. In addition to what `LivePolicies` do, each table is checked before it
/// [replaces](Self::replace) another one, and [listeners](Self::on_event) are notified.
///
/// # Examples
///
/// ```
/// use gax_table::RetryTable;
/// use gax_table::live::SettingsHandle;
/// use tonic_gax::RetryLayer;
///
/// let table = |seconds: u64| {
///     RetryTable::parse(&format!(r#"{{"methodConfig": [{{"name": [{{}}], "timeout": "{seconds}s"}}]}}"#))
/// };
/// let handle = SettingsHandle::new(table(60)?);
/// let layer = RetryLayer::live(&handle);
/// assert_eq!(handle.version(), 1);
///
/// // While calls are made through the layer:
/// assert_eq!(handle.replace(table(20)?)?, 2);
/// # drop(layer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SettingsHandle {
    live: LivePolicies,
    state: Arc<Locked<State>>,
}

struct State {
    table: RetryTable,
    /// The methods that each table's names must be among.
    denying: Vec<Vec<Box<str>>>,
    listeners: Vec<Arc<Listener>>,
}

/// A closure that a program has called at each event. Its panics end here.
struct Listener {
    call: Box<dyn Fn(&SettingsEvent<'_>) + Send + Sync>,
    guard: PanicGuard,
}

impl SettingsHandle {
    /// A handle with that table, as version 1.
    #[must_use]
    pub fn new(table: RetryTable) -> Self {
        let live = LivePolicies::new(&table);
        let state = State { table, denying: Vec::new(), listeners: Vec::new() };
        Self { live, state: Arc::new(Locked::new(state)) }
    }

    /// Refuses each table, the present one included, that names services or methods other than those at these paths. Paths of
    /// several calls are checked each by themselves. Without it, a table is refused if a name in it is most likely misspelt, and others
    /// are a [warning](SettingsEvent::Warning).
    ///
    /// # Errors
    ///
    /// The present table names some. The handle stays as it was.
    pub fn deny_unknown_methods<P: AsRef<str>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), UnknownMethodsError> {
        let paths: Vec<Box<str>> = paths.into_iter().map(|path| path.as_ref().into()).collect();
        let mut state = self.state.lock();
        state.table.deny_unknown_methods(&paths)?;
        state.denying.push(paths);
        Ok(())
    }

    /// Replaces the table: operations that begin from now on run by it. Returns the version that it has.
    ///
    /// # Errors
    ///
    /// The settings stay as they were, and [listeners](Self::on_event) are notified, if
    ///
    /// * the table was read in another dialect than the first;
    /// * it has names that are [denied](Self::deny_unknown_methods);
    /// * the table has a new name that is most likely misspelt: no generated client and no layer's descriptors have it, and it is close
    ///   to a name that they have and the table doesn't, or a method that they have loses the retries that it had. If there are no
    ///   generated clients and no descriptors, names are compared with those of the table before.
    ///
    /// Other names that no client knows are a [warning](SettingsEvent::Warning), since a table may be newer than its clients. So
    /// is a table by which nothing is retried any longer.
    pub fn replace(&self, table: RetryTable) -> Result<u64, ReplaceError> {
        match self.try_replace(table) {
            Ok((version, table, warnings)) => {
                self.notify(&SettingsEvent::Replaced { version, table: &table });
                for warning in &warnings {
                    self.notify(&SettingsEvent::Warning { version, warning });
                }
                Ok(version)
            }
            Err(error) => {
                self.refuse(&error);
                Err(error)
            }
        }
    }

    fn try_replace(
        &self,
        table: RetryTable,
    ) -> Result<(u64, RetryTable, Vec<SettingsWarning>), ReplaceError> {
        let mut state = self.state.lock();
        let (old, new) = (state.table.dialect(), table.dialect());
        if old != new {
            return Err(ReplaceError::dialect(old, new));
        }
        let denied = |paths| table.deny_unknown_methods(paths).map_err(ReplaceError::refused);
        state.denying.iter().try_for_each(denied)?;
        let (known, all_know) = self.live.known_methods();
        let known: Vec<ServiceDescription> =
            known.iter().flat_map(|paths| services_of(paths.iter())).collect();
        let replacement = Replacement::new(&state.table, &table, known);
        replacement.check().map_err(ReplaceError::refused)?;
        let warnings = replacement.warnings(all_know);
        let version = self.live.replace(&table);
        state.table = table.clone();
        Ok((version, table, warnings))
    }

    /// A table was refused: says so.
    pub(super) fn refuse(&self, error: &ReplaceError) {
        self.notify(&SettingsEvent::Refused { version: self.version(), error });
    }

    pub(super) fn notify(&self, event: &SettingsEvent<'_>) {
        #[cfg(feature = "tracing")]
        match event {
            SettingsEvent::Replaced { version, table } => {
                tracing::info!(settings.version = version, findings = table.findings().len(), "{event}");
            }
            SettingsEvent::Refused { version, .. } | SettingsEvent::Warning { version, .. } => {
                tracing::warn!(settings.version = version, "{event}");
            }
            SettingsEvent::Watching { version, .. } | SettingsEvent::WatchEnded { version, .. } => {
                tracing::info!(settings.version = version, "{event}");
            }
        }
        let listeners = self.state.lock().listeners.clone();
        for listener in listeners {
            listener.guard.run("a listener of retry settings", || (listener.call)(event));
        }
    }

    /// Calls the closure after each replacement and each refusal, and when a file is watched or not watched any longer, in the
    /// thread that replaced the table or watches the file. It may use the handle. With the feature `tracing`, each is also
    /// an event, at the level INFO or, for a refusal and a warning, WARN.
    ///
    /// A panic of the closure is caught: the settings are replaced, the other closures are called, and a watched file stays
    /// watched. With the feature `tracing` its first panic is an event at the level ERROR.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_table::RetryTable;
    /// use gax_table::live::SettingsHandle;
    ///
    /// # let table = RetryTable::parse(r#"{"methodConfig": []}"#)?;
    /// let handle = SettingsHandle::new(table);
    /// handle.on_event(|event| eprintln!("{event}"));
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    pub fn on_event(&self, listener: impl Fn(&SettingsEvent<'_>) + Send + Sync + 'static) {
        let listener = Listener { call: Box::new(listener), guard: PanicGuard::default() };
        self.state.lock().listeners.push(Arc::new(listener));
    }

    gax_text::getters! { self:
        /// The version of the settings that operations begin with now.
        pub version: u64 = self.live.version();

        /// Returns whether the table's file is [watched](super::watch) and could be read when it was last looked at. `None`: the
        /// table has no file that was ever watched.
        pub is_watched: Option<bool> = self.watch_state().is_watched();

        pub(super) watch_state: &Arc<WatchState> = self.live.watch_state();

        /// The table that operations begin with now.
        pub table: RetryTable = self.state.lock().table.clone();
    }

    /// Waits until the version is higher than that one, and returns it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn newer_than(&self, version: u64) -> u64 {
        self.live.newer_than(version).await
    }
}

/// The policies that layers and clients follow.
impl AsRef<LivePolicies> for SettingsHandle {
    fn as_ref(&self) -> &LivePolicies {
        &self.live
    }
}

// Short: its table alone may have hundreds of entries.
gax_text::short_debug! { self: SettingsHandle { version: self.version(), table: self.state.lock().table } }
