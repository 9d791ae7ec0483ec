//! Tables made in code.

use super::policy::{Definitions, Entry, EntryName, shown_name};
use super::retry_table::RetryTable;
use super::table_file::TableFile;
use crate::{Dialect, Finding, Severity, TableError};
use gax_retry::{CodeSet, Hedging, IntoCodes, RetrySettings};
use std::sync::Arc;
use std::time::Duration;

/// Makes a [`RetryTable`] in code.
///
/// Every call adds an entry. The last entry for a name applies. An entry for a method takes precedence over one for
/// its service, and that over the one for every service.
///
/// # Examples
///
/// ```
/// use gax_table::RetryTable;
/// use std::time::Duration;
/// use gax_retry::{Code, CodeSet, RetrySettings};
///
/// let patient = RetrySettings::builder().total_timeout(Duration::from_secs(60)).build()?;
/// let table = RetryTable::builder()
///     .method("/example.v1.Library/GetBook", patient.clone(), [Code::Unavailable])
///     .service("example.v1.Library", RetrySettings::no_retry(Duration::from_secs(10)), CodeSet::EMPTY)
///     .build()?;
/// assert_eq!(table.lookup("example.v1.Library", "GetBook").unwrap().settings(), &patient);
/// assert!(table.lookup("example.v1.Library", "DeleteBook").unwrap().codes().is_empty());
/// assert!(table.lookup("example.v1.Archive", "GetBook").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a table comes from build()"]
pub struct RetryTableBuilder {
    entries: Vec<Arc<Entry>>,
    /// The numbers of those that are hedged only if they say that they are idempotent.
    hedged_if_idempotent: Vec<usize>,
    faulty: Option<TableError>,
}

impl RetryTable {
    /// Makes a table in code.
    #[must_use = "a table comes from build()"]
    pub fn builder() -> RetryTableBuilder {
        RetryTableBuilder::default()
    }
}

impl RetryTableBuilder {
    /// An entry for a method, given as its path: `/package.Service/Method`, the first slash optional.
    pub fn method<K>(mut self, path: &str, settings: RetrySettings, codes: impl IntoCodes<K>) -> Self {
        let name = path.strip_prefix('/').unwrap_or(path).split_once('/');
        match name.filter(|(service, method)| !service.is_empty() && !method.is_empty()) {
            Some((service, method)) if !method.contains('/') => self.add(service, method, settings, codes),
            _ => {
                self.refuse(format!("{path:?} is not the path of a method"), "write /package.Service/Method");
                self
            }
        }
    }

    /// An entry for all methods of a service, given by its full name.
    pub fn service<K>(self, service: &str, settings: RetrySettings, codes: impl IntoCodes<K>) -> Self {
        self.add(service, "", settings, codes)
    }

    /// An entry for every method of every service.
    pub fn every_service<K>(self, settings: RetrySettings, codes: impl IntoCodes<K>) -> Self {
        self.add("", "", settings, codes)
    }

    /// Hedges the methods of the entry that was added last, instead of retrying them. The entry has to say that they are
    /// [idempotent](Self::idempotent), unless the hedging [allows others](Hedging::allow_non_idempotent).
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::RetryTable;
    /// use std::time::Duration;
    /// use gax_retry::{Code, Hedging, RetrySettings};
    ///
    /// let table = RetryTable::builder()
    ///     .method("/example.v1.Library/GetBook", RetrySettings::logical_timeout(Duration::from_secs(5)), Code::Unavailable)
    ///     .idempotent(true)
    ///     .hedged(Hedging::new(2).delay(Duration::from_millis(300)))
    ///     .build()?;
    /// # drop(table);
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    pub fn hedged(mut self, hedging: Hedging) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            Arc::make_mut(entry).hedging = Some(hedging.into());
            let last = self.entries.len().saturating_sub(1);
            self.hedged_if_idempotent.retain(|entry| *entry != last);
            if !hedging.allows_non_idempotent() {
                self.hedged_if_idempotent.push(last);
            }
        }
        self
    }

    /// Sets whether the methods of the entry that was added last are idempotent: whether a service may carry out a call
    /// more than once. See [`RetryTable::idempotent`]. Default: the table has no value for it.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            Arc::make_mut(entry).idempotent = Some(idempotent);
        }
        self
    }

    /// The longest that streams of responses of the entry that was added last may let their callers wait for a message:
    /// gax-java's wait timeout. Unless set, there is no limit. Must not be zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::RetryTable;
    /// use std::time::Duration;
    /// use gax_retry::{Code, RetrySettings};
    ///
    /// let settings = RetrySettings::builder().max_attempts(5).build()?;
    /// let table = RetryTable::builder()
    ///     .method("/example.v1.Library/WatchBooks", settings, Code::Unavailable)
    ///     .wait_timeout(Duration::from_secs(30))
    ///     .idle_timeout(Duration::from_secs(300))
    ///     .build()?;
    /// let watch = table.lookup("example.v1.Library", "WatchBooks").ok_or("no policy")?;
    /// assert_eq!(watch.wait_timeout(), Some(Duration::from_secs(30)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_timeout(self, timeout: Duration) -> Self {
        self.with_stream_timeout("wait_timeout", timeout, |entry| entry.wait_timeout = Some(timeout))
    }

    /// The longest that callers may leave streams of responses of the entry that was added last alone: gax-java's idle
    /// timeout. Unless set, there is no limit. Must not be zero.
    pub fn idle_timeout(self, timeout: Duration) -> Self {
        self.with_stream_timeout("idle_timeout", timeout, |entry| entry.idle_timeout = Some(timeout))
    }

    fn with_stream_timeout(mut self, field: &str, timeout: Duration, set: impl FnOnce(&mut Entry)) -> Self {
        if timeout.is_zero() {
            self.refuse(format!("{field} is a timeout of zero"), "leave it out for no limit");
        }
        if let Some(entry) = self.entries.last_mut() {
            set(Arc::make_mut(entry));
        }
        self
    }

    /// Makes the table. An entry with retryable codes, but neither a total timeout nor a number of attempts, is a
    /// [finding](RetryTable::findings), `no-limits`, as in a table that is read: its methods are not retried.
    ///
    /// # Errors
    ///
    /// A path given to [`method`](RetryTableBuilder::method) is not `/package.Service/Method`, a number is not a code, a
    /// timeout is zero, or an entry is [hedged](RetryTableBuilder::hedged) that does not say that it is idempotent.
    pub fn build(mut self) -> Result<RetryTable, TableError> {
        let hedged = self.hedged_if_idempotent.iter().filter_map(|entry| self.entries.get(*entry));
        let unsafe_twice = hedged.filter(|entry| entry.idempotent != Some(true));
        let names = unsafe_twice.filter_map(|entry| entry.names.first());
        let name = names.map(|name| shown_name(&name.service, &name.method)).next();
        if let Some(name) = name {
            let help = "add idempotent(true) to the entry, or allow_non_idempotent() to the hedging";
            self.refuse(format!("{name} is hedged, and nothing says that it is idempotent"), help);
        }
        if let Some(error) = self.faulty {
            return Err(error);
        }
        let findings = self.entries.iter().filter_map(|entry| without_limits(entry)).collect();
        let file = TableFile { entries: self.entries, findings, ..TableFile::default() };
        Ok(RetryTable::assemble(Dialect::AsWritten, vec![Arc::new(file)]))
    }

    /// The first fault counts.
    fn refuse(&mut self, message: String, help: &str) {
        self.faulty.get_or_insert_with(|| TableError::new(message).with_help(help));
    }

    fn add<K>(
        mut self,
        service: &str,
        method: &str,
        settings: RetrySettings,
        codes: impl IntoCodes<K>,
    ) -> Self {
        let codes = codes.into_codes().unwrap_or_else(|error| {
            let name = [service, method].join("/");
            self.refuse(format!("{name:?}: {error}"), "give codes from 0 to 16");
            CodeSet::EMPTY
        });
        let definitions = if codes.is_empty() { Definitions::NoRetry } else { Definitions::RetryPolicy };
        let names = Arc::new([EntryName::new(service, method)]);
        self.entries.push(Arc::new(Entry { names, codes, settings, definitions, ..Entry::default() }));
        self
    }
}

/// That nothing ends the retries of an entry, so that there are none.
fn without_limits(entry: &Entry) -> Option<Finding> {
    let settings = &entry.settings;
    let is_retried = !entry.codes.is_empty() && entry.hedging.is_none();
    if !is_retried || settings.total_timeout().is_some() || settings.max_attempts().is_some() {
        return None;
    }
    let name = entry.names.first().map(|name| shown_name(&name.service, &name.method)).unwrap_or_default();
    let message =
        format!("{name} has neither a total timeout nor a number of attempts, so it is not retried");
    let finding = Finding::new("no-limits", Severity::Warning, message);
    Some(finding.with_help("set total_timeout or max_attempts").about(name))
}
