//! The table: which policy is for which method.

use super::dialect::Dialect;
use super::names::{DefinitionNames, NameIndex, NamePlace};
use super::policy::{EntryName, MethodPolicy, TableEntry, shown_name};
use super::suppression::Suppression;
#[cfg(any(feature = "convert", feature = "stub"))]
use super::table_file::ServiceDefinitions;
use super::table_file::{BatchDescriptor, MethodExtras, TableFile};
use crate::diagnostics::Findings;
use crate::{Finding, Severity, SourceLocation, TableError, TableFormat};
use gax_retry::{BatchingSettings, RetrySettings, RetryThrottling};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A retry table: the retryable codes, limits and back-off of each method.
///
/// It comes from a file ([`parse`](RetryTable::parse), [`from_path`](RetryTable::from_path),
/// [`reader`](RetryTable::reader)) or from code ([`builder`](RetryTable::builder)). A clone is cheap and
/// shares everything.
///
/// # Examples
///
/// ```
/// use gax_table::RetryTable;
/// use std::time::Duration;
/// use gax_retry::Code;
///
/// let table = RetryTable::parse(
///     r#"{"methodConfig": [{
///         "name": [{"service": "google.example.v1.Library", "method": "GetBook"}],
///         "timeout": "60s",
///         "retryPolicy": {
///             "maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "10s", "backoffMultiplier": 1.3,
///             "retryableStatusCodes": ["UNAVAILABLE"]
///         }
///     }]}"#,
/// )?;
/// let policy = table.lookup("google.example.v1.Library", "GetBook").unwrap();
/// assert!(policy.codes().contains(Code::Unavailable));
/// assert_eq!(policy.settings().total_timeout(), Some(Duration::from_secs(60)));
/// assert_eq!(policy.codes_key(), "retry_policy_0_codes");
/// assert!(table.lookup("google.example.v1.Library", "DeleteBook").is_none());
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Clone)]
pub struct RetryTable {
    inner: Arc<Inner>,
}

// Short: a table may have hundreds of entries.
gax_text::short_debug! {
    self: RetryTable { dialect: self.inner.dialect, entries: self.inner.entries.len(), findings: self.inner.findings.len() }
}

#[derive(Debug)]
struct Inner {
    dialect: Dialect,
    files: Vec<Arc<TableFile>>,
    entries: Vec<TableEntry>,
    names: NameIndex,
    definition_names: DefinitionNames,
    unnamed: Option<TableEntry>,
    findings: Vec<Finding>,
    #[cfg(feature = "http")]
    http: Option<super::http_table::HttpTable>,
}

impl RetryTable {
    /// Several tables as one. If more than one table has a name, the last one applies, with a finding
    /// (`merge-conflict`) if they differ. An entry for a method takes precedence over one for its service, in whichever
    /// table. Retry throttling is that of the last table that has any, with the same finding. Entries are numbered
    /// consecutively, but the names of definitions have the number of the entry in its own table. If two tables have
    /// the same name for a service, the name of the later table ends with the table's number, with a finding
    /// (`renamed-definitions`).
    ///
    /// # Errors
    ///
    /// The tables were read in different dialects.
    pub fn merged(tables: impl IntoIterator<Item = RetryTable>) -> Result<Self, TableError> {
        let mut files = Vec::new();
        let mut dialect = None;
        for table in tables {
            let own = table.dialect();
            let first = *dialect.get_or_insert(own);
            if first != own {
                let message = format!("a table in the dialect {own} can't join one in {first}");
                return Err(TableError::new(message).with_help("read all tables in the same dialect"));
            }
            files.extend(table.inner.files.iter().cloned());
        }
        Ok(Self::assemble(dialect.unwrap_or_default(), files))
    }

    gax_text::getters! { self:
        /// Which HTTP requests are safe to retry, as `[http]` in a TOML table says; of several tables, as the
        /// last one says that has any.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "toml")] {
        /// use gax_retry::http::RequestFacts;
        /// use gax_table::RetryTable;
        ///
        /// let table = RetryTable::parse(
        ///     r#"
        ///     [http]
        ///     base = "http-methods"
        ///
        ///     [[http.rule]]
        ///     name = "invoices.pay"
        ///     method = "POST"
        ///     path = "/v1/{name=invoices/*}:pay"
        ///     if_any = [{ header = "Idempotency-Key" }]
        ///     "#,
        /// )?;
        /// let rules = table.idempotency().unwrap();
        /// let pay = RequestFacts::new("POST", "/v1/invoices/7:pay");
        /// assert_eq!(rules.classify(&pay).to_string(), "conditional: Idempotency-Key header missing");
        /// # }
        /// # Ok::<(), gax_table::TableError>(())
        /// ```
        #[cfg(feature = "http")]
        pub idempotency: Option<&gax_retry::http::IdempotencyTable> = self.http().map(super::http_table::HttpTable::idempotency);

        /// Which HTTP requests are safe to retry, and with which settings, from `[http]` in a TOML table; of several tables, the last
        /// one that has it. The rules of OpenAPI documents follow its rules. They use the settings of `[http]`.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "toml")] {
        /// use gax_retry::http::RequestFacts;
        /// use gax_table::RetryTable;
        ///
        /// let document = RetryTable::parse(
        ///     r#"{"openapi": "3.1.0", "paths": {"/payments": {"post": {
        ///         "operationId": "createPayment",
        ///         "parameters": [{"in": "header", "name": "Idempotency-Key"}]
        ///     }}}}"#,
        /// )?;
        /// let settings = RetryTable::parse("[http]\ntotal_timeout = \"20s\"\nmax_attempts = 3\n")?;
        /// let table = RetryTable::merged([document, settings])?;
        /// let http = table.http().ok_or("no rules")?;
        /// let create = http.idempotency().classify(&RequestFacts::new("POST", "/payments"));
        /// assert_eq!(create.rule(), Some("createPayment"));
        /// assert_eq!(create.to_string(), "conditional: Idempotency-Key header missing");
        /// assert_eq!(http.policy_of(create.rule()).unwrap().settings().max_attempts(), Some(3));
        /// # }
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[cfg(feature = "http")]
        pub http: Option<&super::http_table::HttpTable> = self.inner.http.as_ref();

        /// The dialect in which the table was read.
        pub dialect: Dialect = self.inner.dialect;

        /// How many entries the table has.
        pub entry_count: usize = self.inner.entries.len();

        /// The findings that the table's authors allow.
        pub suppressions: impl Iterator<Item = &Suppression> = self.inner.files.iter().flat_map(|file| &file.suppressions);

        /// The limit on retries to one server. If several files have one, that of the last file applies.
        pub throttling: Option<RetryThrottling> = self.inner.files.iter().rev().find_map(|file| file.throttling);

        /// The findings about the table, in the order of its text.
        pub findings: &[Finding] = &self.inner.findings;

        pub(crate) files: &[Arc<TableFile>] = &self.inner.files;
    }

    pub(crate) fn assemble(dialect: Dialect, files: Vec<Arc<TableFile>>) -> Self {
        let mut table = Inner {
            dialect,
            entries: Vec::new(),
            names: NameIndex::default(),
            definition_names: DefinitionNames::default(),
            unnamed: (dialect == Dialect::GaxJava).then(TableEntry::nothing),
            findings: Vec::new(),
            #[cfg(feature = "http")]
            http: super::http_table::merged(
                files.iter().filter_map(|file| Some((file.format, file.http.as_ref()?))),
            ),
            files,
        };
        let clashes = Findings::default();
        for (number, file) in table.files.clone().into_iter().enumerate() {
            let first = table.entries.len();
            table.findings.extend(file.findings.iter().cloned());
            table.entries.reserve_exact(file.entries.len());
            for (own, entry) in file.entries.iter().enumerate() {
                let index = table.entries.len();
                table.entries.push(TableEntry::new(entry, index, (number, file.format), own));
                for (name_index, name) in entry.names.iter().enumerate() {
                    let place = NamePlace::new(index, name_index);
                    if let Some(before) = table.names.claim(dialect, name, place) {
                        clashes.push_some_with(|| table.clash(name, index, before, first));
                    }
                }
            }
        }
        table.findings.extend(clashes.take());
        table.findings.extend(throttling_clashes(&table.files));
        let (names, renamed) = DefinitionNames::new(&table.files, &table.entries, &table.names);
        table.definition_names = names;
        table.findings.extend(renamed);
        Self { inner: Arc::new(table) }
    }

    /// The policy of a method: the entry for the method, else the one for its service, else
    /// (but not in the dialect [`GaxJava`](Dialect::GaxJava)) the one for everything. Entries are never
    /// mixed. `None`: the table has nothing to say, so calls pass through unchanged, without a deadline.
    ///
    /// In the dialect `GaxJava` a method without an entry has the policy `no_retry_codes`,
    /// `no_retry_params`, as in Google's clients. The service is the full name, without a slash; for an
    /// RPC that is mixed into a service it is the host's name.
    #[must_use]
    pub fn lookup(&self, service: &str, method: &str) -> Option<MethodPolicy<'_>> {
        let table = &*self.inner;
        let index = table.names.entry_for(service, method);
        let entry = index.and_then(|index| table.entries.get(index)).or(table.unnamed.as_ref())?;
        let keys = index.and_then(|index| table.definition_names.keys(service, index));
        let keys = keys.unwrap_or(&entry.keys);
        Some(MethodPolicy { entry, keys, idempotent: self.idempotent_by(Some(entry), service, method) })
    }

    /// Returns whether the table says that the method is idempotent: that the service may carry out a call more than once, so
    /// that [hedging](gax_retry::Hedging) that is set in code applies to it. It takes precedence over the protos. `None`: the
    /// table has no value.
    ///
    /// A value of an entry that names the method comes first, of two tables that of the later one. Then follows the
    /// entry from which the method has its policy (see [`lookup`](Self::lookup)), and last an entry without retries,
    /// for the service or for everything. Only the TOML format has such values.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "toml")] {
    /// use gax_table::RetryTable;
    ///
    /// let table = RetryTable::parse(
    ///     r#"
    ///     [[entry]]
    ///     for = ["example.v1.Library"]
    ///     timeout = "5s"
    ///     codes = ["UNAVAILABLE"]
    ///
    ///     [[entry]]
    ///     for = ["example.v1.Library/Reserve"]
    ///     idempotent = true
    ///     "#,
    /// )?;
    /// assert_eq!(table.idempotent("example.v1.Library", "Reserve"), Some(true));
    /// assert_eq!(table.idempotent("example.v1.Library", "GetBook"), None);
    /// // The word alone leaves the service's policy as it is.
    /// assert!(!table.lookup("example.v1.Library", "Reserve").unwrap().codes().is_empty());
    /// # }
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn idempotent(&self, service: &str, method: &str) -> Option<bool> {
        let table = &*self.inner;
        let index = table.names.entry_for(service, method);
        self.idempotent_by(index.and_then(|index| table.entries.get(index)), service, method)
    }

    /// Like [`idempotent`](Self::idempotent), where that entry counts for the method.
    fn idempotent_by(&self, entry: Option<&TableEntry>, service: &str, method: &str) -> Option<bool> {
        let files = || self.inner.files.iter().enumerate().rev();
        let beside = |service: &str, method: &str| {
            files().find_map(|(file, of)| Some((file, of.extras.get(service)?.get(method)?.idempotent?)))
        };
        let by_entry = entry.and_then(|entry| entry.idempotent);
        let own = beside(service, method).filter(|(file, _)| {
            let is_later =
                entry.is_some_and(|entry| entry.file > *file && entry.names_method(service, method));
            by_entry.is_none() || !is_later
        });
        let of_all = |service| beside(service, "").map(|(_, word)| word);
        let has_everything = self.inner.dialect != Dialect::GaxJava;
        own.map(|(_, word)| word)
            .or(by_entry)
            .or_else(|| of_all(service))
            .or_else(|| of_all("").filter(|_| has_everything))
    }

    /// Every name in the table, in the order of its files, those without effect included.
    pub fn names(&self) -> impl Iterator<Item = TableName<'_>> {
        self.inner
            .entries
            .iter()
            .enumerate()
            .flat_map(|(entry, values)| values.names.iter().map(move |name| TableName::in_entry(name, entry)))
    }

    /// Every name in entries that say nothing about retries, in the order of the files: those with polling, batching or
    /// idempotency alone.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "toml")] {
    /// let table = gax_table::RetryTable::parse("[[entry]]\nfor = [\"a.B/Reserve\"]\nidempotent = true\n")?;
    /// assert!(table.names().next().is_none());
    /// assert_eq!(table.names_beside().next().unwrap().to_string(), "a.B/Reserve");
    /// # }
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    pub fn names_beside(&self) -> impl Iterator<Item = TableName<'_>> {
        let entries = self.inner.files.iter().flat_map(|file| &file.beside);
        entries.flat_map(|names| names.iter()).map(|name| TableName { name, entry: None })
    }

    /// The names of the entry with that number, from 0, in their order.
    pub fn names_of(&self, entry: usize) -> impl Iterator<Item = TableName<'_>> {
        let names = self.inner.entries.get(entry).into_iter().flat_map(|values| values.names.iter());
        names.map(move |name| TableName::in_entry(name, entry))
    }

    /// The number of the entry that contains a place, from 0: the last one that starts before it in its file.
    #[must_use]
    pub fn entry_at(&self, place: &SourceLocation) -> Option<usize> {
        let entries = &self.inner.entries;
        let of_file = |file: usize| {
            let start = entries.partition_point(|entry: &TableEntry| entry.file < file);
            let end = entries.partition_point(|entry| entry.file <= file);
            (start, entries.get(start..end).unwrap_or_default())
        };
        let mut files = (0..self.inner.files.len()).map(of_file);
        let is_in =
            |entry: &TableEntry| entry.origin.as_ref().is_some_and(|origin| origin.file() == place.file());
        let (first, own) = files.find(|(_, own)| own.first().is_some_and(is_in))?;
        let begins_before = |entry: &TableEntry| {
            entry.origin.as_ref().is_some_and(|origin| origin.span().start <= place.span().start)
        };
        let after = own.partition_point(begins_before);
        Some(first + after.checked_sub(1)?)
    }

    /// The entry of that number, from 0, over all files. Its definitions are called as in its own file.
    #[must_use]
    pub fn entry(&self, index: usize) -> Option<MethodPolicy<'_>> {
        let entry = self.inner.entries.get(index)?;
        Some(MethodPolicy { entry, keys: &entry.keys, idempotent: entry.idempotent })
    }

    /// How a long-running operation that the method starts is polled, if a table says so: of the method, else of its service, else
    /// (but not in the dialect [`GaxJava`](Dialect::GaxJava)) of everything, independent of the entry from which the method has
    /// its policy. Of several tables, the last one applies.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "toml")] {
    /// let text = "[[entry]]\nfor = [\"a.B\"]\npolling = { initial_delay = \"7s\" }\n";
    /// let table = gax_table::RetryTable::parse(text)?;
    /// let polling = table.polling("a.B", "Export").unwrap();
    /// assert_eq!(polling.initial_retry_delay(), Some(std::time::Duration::from_secs(7)));
    /// # }
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn polling(&self, service: &str, method: &str) -> Option<&RetrySettings> {
        self.widened(service, method, |extras| extras.polling.as_deref())
    }

    /// How requests of the method are batched, if a table says so: of the method, of its service or of everything, as with
    /// [`polling`](Self::polling). Of several tables the last one applies.
    #[must_use]
    pub fn batching(&self, service: &str, method: &str) -> Option<&BatchingSettings> {
        self.widened(service, method, |extras| extras.batching.as_deref())
    }

    /// The words of a table on the method itself, else on its service, else on everything.
    fn widened<'a, T: ?Sized>(
        &'a self,
        service: &str,
        method: &str,
        said: impl Fn(&'a MethodExtras) -> Option<&'a T>,
    ) -> Option<&'a T> {
        let everything = Some(("", "")).filter(|_| self.inner.dialect != Dialect::GaxJava);
        let names = [(service, method), (service, "")].into_iter().chain(everything);
        { names }.find_map(|(service, method)| self.extras(service, method).find_map(&said))
    }

    /// How the operations of exactly that method, service or everything are polled.
    #[cfg(any(feature = "convert", feature = "lint"))]
    pub(crate) fn own_polling(&self, service: &str, method: &str) -> Option<&RetrySettings> {
        self.extras(service, method).find_map(|extras| extras.polling.as_deref())
    }

    /// How the requests of exactly that method, service or everything are batched.
    #[cfg(any(feature = "lint", feature = "stub"))]
    pub(crate) fn own_batching(&self, service: &str, method: &str) -> Option<&BatchingSettings> {
        self.extras(service, method).find_map(|extras| extras.batching.as_deref())
    }

    /// How requests of the method are merged into one, if GAPIC YAML says so. Of several tables the last one applies.
    #[must_use]
    pub fn batch_descriptor(&self, service: &str, method: &str) -> Option<&BatchDescriptor> {
        self.extras(service, method).find_map(|extras| extras.batch_descriptor.as_deref())
    }

    /// The methods, by service and name, for which the table has values other than retries: how they are polled or
    /// batched, or whether they are idempotent. In alphabetical order.
    #[must_use]
    pub fn named_beside(&self) -> Vec<(&str, &str)> {
        let services = self.inner.files.iter().flat_map(|file| &file.extras);
        let methods =
            services.flat_map(|(service, methods)| methods.keys().map(move |method| (&**service, &**method)));
        let sorted: BTreeSet<(&str, &str)> = methods.collect();
        sorted.into_iter().collect()
    }

    fn extras(&self, service: &str, method: &str) -> impl Iterator<Item = &MethodExtras> {
        let files = self.inner.files.iter().rev();
        files.filter_map(move |file| file.extras.get(service)?.get(method))
    }

    /// The suppression under which a finding is left out, if there is one.
    #[must_use]
    pub fn suppression_for(&self, finding: &Finding) -> Option<&Suppression> {
        self.suppressions().find(|suppression| suppression.covers(finding.rule(), finding.origin()))
    }

    /// The definitions that the files name for a service, used or not; nothing where definitions are named
    /// by entries.
    #[cfg(any(feature = "convert", feature = "stub"))]
    pub(crate) fn definitions(&self, service: &str) -> &[Arc<ServiceDefinitions>] {
        self.inner.definition_names.definitions(service)
    }
}

impl Inner {
    /// The finding about a name that an earlier place had too.
    fn clash(&self, name: &EntryName, index: usize, before: NamePlace, first: usize) -> Option<Finding> {
        let entry = self.entries.get(index)?;
        let subject = shown_name(&name.service, &name.method);
        let what = if subject == "*" { "the entry for every service" } else { &subject };
        let other = self.entries.get(before.entry())?;
        let place = match other.names.get(before.name()).and_then(|name| name.origin.as_ref()) {
            Some(origin) => format!(" (at {origin})"),
            None => String::new(),
        };
        let finding = if before.entry() >= first {
            let which =
                if before.entry() == index { "twice in this entry" } else { "in an earlier entry too" };
            let help = match entry.format {
                Some(TableFormat::ServiceConfig) => {
                    "the last one applies; remove the other: gRPC itself rejects the whole file"
                }
                _ => "the last one applies; remove the other",
            };
            Finding::new("duplicate-name", Severity::Warning, format!("{what} is {which}{place}"))
                .with_help(help)
        } else if other.codes == entry.codes && other.settings == entry.settings {
            return None;
        } else {
            let message = format!("{what} has different values in an earlier table{place}");
            Finding::new("merge-conflict", Severity::Warning, message)
                .with_help("the later table applies; remove the name from the earlier one")
        };
        Some(finding.at(name.origin.clone()).about(subject.as_str()))
    }
}

/// The finding where files have retry throttling of different values.
fn throttling_clashes(files: &[Arc<TableFile>]) -> Vec<Finding> {
    let with_throttling: Vec<&TableFile> =
        files.iter().map(|file| &**file).filter(|file| file.throttling.is_some()).collect();
    let pairs = with_throttling.iter().zip(with_throttling.iter().skip(1));
    pairs
        .filter(|(before, after)| before.throttling != after.throttling)
        .map(|(before, after)| {
            let place =
                before.throttling_origin.as_ref().map_or_else(String::new, |at| format!(" (at {at})"));
            let message = format!("retry throttling has different values in an earlier table{place}");
            Finding::new("merge-conflict", Severity::Warning, message)
                .with_help("the later table applies, for all methods; remove one of the two")
                .at(after.throttling_origin.clone())
        })
        .collect()
}

/// One name in a table: a method, a service, or everything.
#[derive(Debug, Clone, Copy)]
pub struct TableName<'a> {
    name: &'a EntryName,
    /// Short, since lint lists all names: no table has more entries.
    entry: Option<u32>,
}

impl<'a> TableName<'a> {
    fn in_entry(name: &'a EntryName, entry: usize) -> Self {
        Self { name, entry: u32::try_from(entry).ok() }
    }

    gax_text::getters! { self:
        /// The service's full name; empty for "every service".
        pub service: &'a str = &self.name.service;

        /// The place of the method or, in a name for all methods, of the service; `None` for a name from code.
        pub origin: Option<&'a SourceLocation> = self.name.origin.as_ref();

        /// The method's name; `None` for all methods of the service.
        pub method: Option<&'a str> = Some(&*self.name.method).filter(|method| !method.is_empty());

        /// The number of the entry that has the name, from 0; `None` for an entry that says nothing about retries.
        pub entry: Option<usize> = self.entry.and_then(|entry| usize::try_from(entry).ok());

        /// The place of the service. It is the place of the whole name if service and method are written as one.
        pub service_origin: Option<&'a SourceLocation> = self.name.service_origin.as_ref().or(self.name.origin.as_ref());
    }
}

impl fmt::Display for TableName<'_> {
    /// `pkg.Service/Method`, `pkg.Service`, or `*` for every service.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shown_name(&self.name.service, &self.name.method))
    }
}
