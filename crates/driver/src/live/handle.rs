//! A retry table that can be replaced.

use crate::live::error::ReplaceError;
use crate::live::event::SettingsEvent;
use crate::live::follower::{CurrentTable, Follow, Follower};
use crate::live::known_methods::KnownMethods;
use crate::live::replacement::Replacement;
use crate::live::warning::SettingsWarning;
use crate::panics::PanicGuard;
use crate::watch_state::WatchState;
use gax_table::RetryTable;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// The retry table of layers and clients, which can be replaced while they are in use. Use it to change settings without a restart.
///
/// Give it to `RetryLayer::with_handle`, to `with_handle` of a generated client's
/// settings, to `HttpRetryLayer::with_handle`, or to [`Retryer::with_handle`](crate::Retryer::with_handle); one handle serves
/// any number of them. A clone is the same handle.
///
/// * An operation keeps the settings that it started with.
/// * All users of a handle change together: if one of them rejects a table, none of them uses it.
/// * Settings in code take precedence over each table, including replacements: see
///   [Precedence](https://tonic-gax.github.io/tonic-gax/live.html#precedence) in the guide.
/// * The table's `retryThrottling` is one budget for all users of the handle. A new table with the same numbers keeps its tokens.
/// * Calls hold a lock only while they take a reference to the settings.
///
/// Versions count from 1, the table that the handle was created with. Reports have their version in
/// [`OperationReport::settings_version`](crate::OperationReport::settings_version), observers in
/// [`OperationInfo::settings_version`](crate::observe::OperationInfo::settings_version).
///
/// # Examples
///
/// ```
/// use gax_driver::live::SettingsHandle;
/// use gax_table::RetryTable;
/// use tonic_gax::RetryLayer;
///
/// let table = |seconds: u64| {
///     RetryTable::parse(&format!(r#"{{"methodConfig": [{{"name": [{{}}], "timeout": "{seconds}s"}}]}}"#))
/// };
/// let handle = SettingsHandle::new(table(60)?);
/// let layer = RetryLayer::with_handle(&handle);
/// assert_eq!(handle.version(), 1);
///
/// // While calls are made through the layer:
/// assert_eq!(handle.replace(table(20)?)?, 2);
/// # drop(layer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SettingsHandle {
    hub: Arc<Hub>,
}

struct Hub {
    state: Mutex<State>,
    versions: watch::Sender<u64>,
    watch: Arc<WatchState>,
}

struct State {
    current: Arc<CurrentTable>,
    followers: Vec<Weak<dyn Follow>>,
    known: Vec<Weak<KnownMethods>>,
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
        let budget = table.throttling().map(|throttling| throttling.budget());
        let current = Arc::new(CurrentTable { table, version: 1, budget });
        let state = State { current, followers: Vec::new(), known: Vec::new(), listeners: Vec::new() };
        let (versions, _) = watch::channel(1);
        let hub = Hub { state: Mutex::new(state), versions, watch: Arc::default() };
        Self { hub: Arc::new(hub) }
    }

    /// Replaces the table: operations that begin from now on run by it. Returns the version that it has.
    ///
    /// # Errors
    ///
    /// The settings stay as they were, and [listeners](Self::on_event) are notified, if
    ///
    /// * the table was read in another dialect than the first;
    /// * a layer or client that denies unknown methods finds some;
    /// * the table has a new name that is most likely misspelt: no generated client and no layer's descriptors have it, and it is close
    ///   to a name that they have and the table doesn't, or a method that they have loses the retries that it had. If there are no
    ///   generated clients and no descriptors, names are compared with those of the table before.
    ///
    /// Other names that no client knows are a [warning](SettingsEvent::Warning), since a table may be newer than its clients. So
    /// is a table by which nothing is retried any longer.
    pub fn replace(&self, table: RetryTable) -> Result<u64, ReplaceError> {
        match self.try_replace(table) {
            Ok((current, warnings)) => {
                let (version, table) = (current.version, &current.table);
                self.notify(&SettingsEvent::Replaced { version, table });
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
    ) -> Result<(Arc<CurrentTable>, Vec<SettingsWarning>), ReplaceError> {
        let mut state = self.state();
        let (old, new) = (state.current.table.dialect(), table.dialect());
        if old != new {
            return Err(ReplaceError::dialect(old, new));
        }
        let known: Vec<_> = state.known.iter().filter_map(Weak::upgrade).collect();
        known.iter().try_for_each(|known| known.check(&table)).map_err(ReplaceError::refused)?;
        let replacement = Replacement::new(&state.current.table, &table, &known);
        replacement.check().map_err(ReplaceError::refused)?;
        let followers: Vec<_> = state.followers.iter().filter_map(Weak::upgrade).collect();
        let warnings = replacement.warnings(followers.iter().all(|follower| follower.knows_methods()));
        let throttling = table.throttling();
        let budget = if throttling == state.current.table.throttling() {
            state.current.budget.clone()
        } else {
            throttling.map(|throttling| throttling.budget())
        };
        let version = state.current.version.saturating_add(1);
        let current = Arc::new(CurrentTable { table, version, budget });
        state.followers.retain(|follower| follower.strong_count() > 0);
        let prepared: Vec<_> = followers.into_iter().map(|follower| follower.prepare(&current)).collect();
        for put_in_place in prepared {
            put_in_place();
        }
        state.current = Arc::clone(&current);
        self.hub.versions.send_replace(version);
        Ok((current, warnings))
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
        let listeners = self.state().listeners.clone();
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
    /// use gax_driver::live::SettingsHandle;
    ///
    /// # let table = RetryTable::parse(r#"{"methodConfig": []}"#)?;
    /// let handle = SettingsHandle::new(table);
    /// handle.on_event(|event| eprintln!("{event}"));
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    pub fn on_event(&self, listener: impl Fn(&SettingsEvent<'_>) + Send + Sync + 'static) {
        let listener = Listener { call: Box::new(listener), guard: PanicGuard::default() };
        self.state().listeners.push(Arc::new(listener));
    }

    /// The version of the settings that operations begin with now.
    #[must_use]
    pub fn version(&self) -> u64 {
        *self.hub.versions.borrow()
    }

    /// Whether the table's file is [watched](super::watch) and could be read when it was last looked at. `None`: the table has
    /// no file that was ever watched.
    #[must_use]
    pub fn is_watched(&self) -> Option<bool> {
        self.hub.watch.is_watched()
    }

    pub(crate) fn watch_state(&self) -> &Arc<WatchState> {
        &self.hub.watch
    }

    /// The table that operations begin with now.
    #[must_use]
    pub fn table(&self) -> RetryTable {
        self.state().current.table.clone()
    }

    /// Waits until the version is higher than that one, and returns it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn newer_than(&self, version: u64) -> u64 {
        let mut versions = self.hub.versions.subscribe();
        // The handle has the sender, so that there is always another version to wait for.
        versions.wait_for(|now| *now > version).await.map_or(version, |now| *now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.hub.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tables of that handle are checked against these methods, as long as they are kept.
#[must_use]
pub fn know_methods(handle: &SettingsHandle, known: KnownMethods) -> Arc<KnownMethods> {
    let known = Arc::new(known);
    add(&mut handle.state().known, Arc::downgrade(&known));
    known
}

/// Makes something of that handle's table and of those that replace it, for users who know these methods. The closure gets as
/// well what it has made of the table before.
pub fn follow_table<T: Send + Sync + 'static>(
    handle: &SettingsHandle,
    make: impl Fn(&CurrentTable, Option<&T>) -> T + Send + Sync + 'static,
    known: Option<Arc<KnownMethods>>,
) -> Arc<Follower<T>> {
    let mut state = handle.state();
    let follower = Arc::new(Follower::new(&state.current, make, known));
    let known: Weak<Follower<T>> = Arc::downgrade(&follower);
    add(&mut state.followers, known);
    follower
}

/// Adds one more, and forgets those that are gone before more memory is taken for the list.
fn add<T: ?Sized>(list: &mut Vec<Weak<T>>, one_more: Weak<T>) {
    if list.len() == list.capacity() {
        list.retain(|known| known.strong_count() > 0);
    }
    list.push(one_more);
}

/// Short: its table alone may have hundreds of entries.
impl fmt::Debug for SettingsHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("SettingsHandle")
            .field("version", &state.current.version)
            .field("table", &state.current.table)
            .finish_non_exhaustive()
    }
}
