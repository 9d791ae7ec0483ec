//! Settings that a form can't express.

use super::gather::gather;
use crate::model::written::MethodConfig;
use crate::model::{EntryName, shown_name};
use crate::{Dialect, Finding, RetryTable, Severity, SourceLocation};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Collects what is lost on the way to a format.
#[derive(Debug)]
pub(super) struct Losses<'a> {
    format: &'static str,
    table: &'a RetryTable,
    /// The last place of each name.
    places: HashMap<(&'a str, &'a str), Option<&'a SourceLocation>>,
    all: Vec<Loss>,
    /// The number of each loss that is true of more than one method of an entry: of the entry, by what is said.
    of_entries: HashMap<usize, Vec<usize>>,
}

/// A sentence about one entry, or about several in the same words.
#[derive(Debug)]
struct Loss {
    kind: LossKind,
    what: Cow<'static, str>,
    subject: Subject,
    /// Of how many others it is true.
    others: usize,
    help: &'static str,
}

/// How much is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LossKind {
    Part,
    Little,
}

/// The entry that a loss is about, and its place.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    shown: String,
    origin: Option<SourceLocation>,
    /// The entry, if it is for others too.
    entry: Option<usize>,
}

impl Subject {
    /// Nobody in particular.
    pub(super) fn every_call() -> Self {
        Self { shown: "every call".to_owned(), origin: None, entry: None }
    }

    /// The file as a whole.
    fn file() -> Self {
        Self { shown: "the file".to_owned(), origin: None, entry: None }
    }
}

impl<'a> Losses<'a> {
    pub(super) fn new(format: &'static str, table: &'a RetryTable) -> Self {
        let names = table.names();
        let places =
            names.map(|name| ((name.service(), name.method().unwrap_or("")), name.origin())).collect();
        Self { format, table, places, all: Vec::new(), of_entries: HashMap::new() }
    }

    /// A method, all methods of a service, or everything: the place is that of the last entry which names
    /// it, else of the entry that counts for it.
    pub(super) fn subject(&self, service: &str, method: &str) -> Subject {
        let own = self.places.get(&(service, method)).copied().flatten();
        let policy = self.table.lookup(service, method);
        let origin = own.or_else(|| policy?.origin());
        let entry = policy.filter(|policy| match &*policy.entry.names {
            [only] => only.method.is_empty(),
            _ => true,
        });
        Subject {
            shown: shown(service, method),
            origin: origin.cloned(),
            entry: entry.and_then(|policy| policy.entry()),
        }
    }

    /// All that an entry names.
    pub(super) fn entry(&self, method: &MethodConfig) -> Subject {
        let Some(EntryName { service, method: name, origin: own, .. }) = method.names.first() else {
            return Subject { shown: "an entry without names".to_owned(), origin: None, entry: None };
        };
        let mut subject = Subject { entry: None, ..self.subject(service, name) };
        // It may not be the entry that counts.
        subject.origin = own.clone().or(subject.origin);
        if method.names.len() > 1 {
            let _infallible = write!(subject.shown, " and {} more", method.names.len() - 1);
        }
        subject
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.table.dialect()
    }

    /// Notes that parts of what is said about somebody are lost: those that are there, each with whether it is, and the advice.
    pub(super) fn lose_parts<const N: usize>(
        &mut self,
        subject: &Subject,
        parts: [(bool, &'static str, &'static str); N],
    ) {
        for (_, part, help) in parts.into_iter().filter(|(is_there, ..)| *is_there) {
            self.lose_of(subject, part, help);
        }
    }

    /// Notes that a part of what is said about somebody is lost.
    pub(super) fn lose_of(
        &mut self,
        subject: &Subject,
        part: impl Into<Cow<'static, str>>,
        help: &'static str,
    ) {
        self.add(LossKind::Part, subject, part.into(), help);
    }

    /// Notes that something comes close, but is not the same.
    pub(super) fn approximate(
        &mut self,
        subject: &Subject,
        message: impl Into<Cow<'static, str>>,
        help: &'static str,
    ) {
        self.add(LossKind::Little, subject, message.into(), help);
    }

    /// A loss of several methods of an entry is reported once.
    fn add(&mut self, kind: LossKind, subject: &Subject, what: Cow<'static, str>, help: &'static str) {
        if let Some(entry) = subject.entry {
            let numbers = self.of_entries.entry(entry).or_default();
            for number in numbers.iter() {
                if let Some(loss) = self.all.get_mut(*number)
                    && loss.kind == kind
                    && loss.what == what
                {
                    loss.others += 1;
                    return;
                }
            }
            numbers.push(self.all.len());
        }
        self.all.push(Loss { kind, what, subject: subject.clone(), others: 0, help });
    }

    /// Notes that the limit on retries to one server is lost, if there is one.
    pub(super) fn lose_throttling(&mut self, help: &'static str) {
        if self.table.throttling().is_some() {
            self.lose_of(&Subject::every_call(), "retry throttling", help);
        }
    }

    /// Notes that the findings that the table allows are lost.
    pub(super) fn lose_suppressions(&mut self) {
        if self.table.suppressions().next().is_some() {
            self.lose_of(&Subject::file(), "allow", "only TOML can express it");
        }
    }

    /// Notes that what is said besides retries is lost, except for the polling of methods for which it is written.
    /// The idempotency of methods with a policy is up to the caller.
    pub(super) fn lose_extras(&mut self, writes_polling: impl Fn(&EntryName) -> bool) {
        let config = gather(self.table);
        for method in &config.beside {
            if method.own.idempotent.is_some() {
                self.lose_of(&self.entry(method), "idempotent", "keep it in TOML");
            }
        }
        for method in config.methods.iter().chain(&config.beside) {
            let (own, help) = (&method.own, "keep it in GAPIC YAML, or in TOML");
            let loses_polling = own.polling.is_some() && !method.names.iter().all(&writes_polling);
            let parts = [(loses_polling, "polling", help), (own.batching.is_some(), "batching", help)];
            self.lose_parts(&self.entry(method), parts);
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        let format = self.format;
        self.all.into_iter().map(|loss| loss.into_finding(format)).collect()
    }
}

impl Loss {
    fn into_finding(self, format: &str) -> Finding {
        let Self { kind, what, subject: Subject { shown, origin, .. }, others, help } = self;
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        let finding = match kind {
            LossKind::Part => {
                let message = format!("{what} of {shown}{more} can't be expressed in {format}");
                Finding::new("not-expressible", Severity::Warning, message)
            }
            LossKind::Little => {
                let message = format!("{what} for {shown}{more} in {format}");
                Finding::new("approximated", Severity::Note, message)
            }
        };
        finding.with_help(help).at(origin)
    }
}

/// A name in the form that people know.
fn shown(service: &str, method: &str) -> String {
    if service.is_empty() && method.is_empty() {
        "everything".to_owned()
    } else {
        shown_name(service, method)
    }
}
