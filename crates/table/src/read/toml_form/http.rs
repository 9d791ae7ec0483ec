//! `[http]`: which HTTP requests are safe to retry.

use super::http_policy::{NAMES, params_of};
use crate::document::{Node, Span};
use crate::model::{HttpSection, HttpTable};
use crate::values::Values;
use crate::{SourceLocation, Suppression, TableError};
use gax_retry::http::{HostPattern, IdempotencyRule, IdempotencyTable, OperationClass, Precondition};
use std::fmt;
use std::ops::Range;

/// The fields of `[http]` besides settings.
pub(super) const HTTP: [&str; 6] = ["base", "prefixes", "hosts", "idempotency_key", "rule", "allow"];

/// The fields of a rule besides settings.
pub(super) const RULE: [&str; 8] =
    ["name", "method", "hosts", "path", "class", "if_any", "hedgeable", "allow"];

/// `[http]`, and the findings that it allows.
pub(super) type HttpRead = (HttpTable, Vec<Suppression>);

/// A rule without its settings.
struct RuleRead<'n> {
    rule: IdempotencyRule,
    /// The place of its name.
    name: Span,
    /// The places of its fields.
    origins: Vec<(&'static str, SourceLocation)>,
    /// The findings that it allows.
    allow: Option<&'n Node>,
}

impl Values<'_> {
    /// The requests that `[http]` describes: its rules, before those of the table that it is based on.
    pub(super) fn http(&self, root: &Node, node: &Node) -> Result<HttpRead, TableError> {
        let fields: [Option<&Node>; HTTP.len() + NAMES] = self.find_with_settings(node, "http", &HTTP)?;
        let [base, prefixes, hosts, key, rules, allow, ..] = fields;
        let mut table = base.map_or_else(|| Ok(IdempotencyTable::http_methods()), |node| self.base(node))?;
        for prefix in self.elements(prefixes, "prefixes")? {
            table = table.with_prefix(self.prefix(prefix)?);
        }
        if let Some(hosts) = hosts.filter(|_| !table.is_of_storage()) {
            let message =
                "hosts of [http] are those under which base = \"storage\" counts, and there is none here";
            let help = "write hosts into the rules that are for these hosts";
            self.note("no-effect", hosts.span, message, help);
        }
        for host in self.elements(hosts, "hosts")? {
            table = table.with_host(self.string(host, "a host")?.to_string());
        }
        let rules = self.elements(rules, "rule")?;
        let blocks = Blocks::of(root, node, rules, self.source.text().len());
        let params = params_of(root);
        let defaults = HttpSection {
            origin: self.source.origin(node.span),
            extent: blocks.extent(node.span),
            ..self.section("", node, &params, None)?
        };
        let mut allowed = self.suppressions(allow, Some(blocks.span(node.span)))?;
        let (mut own, mut sections) = (Vec::new(), Vec::<HttpSection>::new());
        for node in rules {
            let RuleRead { rule, name, origins, allow } = self.rule(node)?;
            if let Some(earlier) = sections.iter().find(|section| *section.name == *rule.name()) {
                let problem = format!("is also the name of an earlier rule (at {})", earlier.origin);
                return Err(self.fault(name, &problem, "give each rule its own name"));
            }
            let extent = blocks.extent(node.span);
            let section = self.section(rule.name(), node, &params, Some((&defaults, &extent)))?;
            sections.push(HttpSection { origin: self.source.origin(name), extent, origins, ..section });
            allowed.extend(self.suppressions(allow, Some(blocks.span(node.span)))?);
            own.push(rule);
        }
        let table = table.with_rules(own);
        let has_key = key.map(|node| self.boolean(node, "idempotency_key")).transpose()?;
        let has_key = has_key.is_some_and(|word| word.value);
        Ok((HttpTable::new(table, has_key, defaults, sections), allowed))
    }

    /// The beginning of paths, without a slash at its end.
    fn prefix(&self, node: &Node) -> Result<String, TableError> {
        let text = self.string(node, "a prefix")?;
        let inner = text.trim_matches('/');
        if *text == *format!("/{inner}") && !inner.is_empty() && !inner.contains(['?', '#']) {
            return Ok(text.to_string());
        }
        let help = match inner.split(['?', '#']).next() {
            Some(inner) if !inner.is_empty() => format!("write {:?}", format!("/{inner}")),
            _ => "leave it out".to_owned(),
        };
        Err(self.fault(node.span, "is not the start of a path", help))
    }

    fn base(&self, node: &Node) -> Result<IdempotencyTable, TableError> {
        match &*self.string(node, "base")? {
            "storage" => Ok(IdempotencyTable::storage()),
            "http-methods" => Ok(IdempotencyTable::http_methods()),
            "none" => Ok(IdempotencyTable::new()),
            _ => {
                let help = "write \"http-methods\", which is the default, \"storage\" or \"none\"";
                Err(self.fault(node.span, "is not a table of rules", help))
            }
        }
    }

    /// A rule without its settings.
    fn rule<'n>(&self, node: &'n Node) -> Result<RuleRead<'n>, TableError> {
        let fields: [Option<&Node>; RULE.len() + NAMES] = self.find_with_settings(node, "a rule", &RULE)?;
        let [name, method, hosts, path, class, if_any, hedgeable, allow, ..] = fields;
        let origins = RULE.iter().zip(fields).filter_map(|(field, node)| Some((*field, node?.span)));
        let origins = origins.map(|(field, span)| (field, self.source.origin(span))).collect();
        let required = |field: Option<&Node>, what: &str, help: &str| match field {
            Some(field) => self.string(field, what).map(|text| (field.span, text)),
            None => Err(self.fault(node.span, "is not a complete rule", help)),
        };
        let (name_place, name) =
            required(name, "name", "write name = \"invoices.pay\", or what you call the operation")?;
        let (method_place, method) = required(method, "method", "write method = \"POST\", or \"*\" for any")?;
        let (place, path) = required(path, "path", "write path = \"/v1/{name=invoices/*}:pay\"")?;
        self.check_method(method_place, &method)?;
        let class = match (class, if_any) {
            (Some(class), None) => self.class(class)?,
            (None, Some(if_any)) => {
                let conditions = self.elements(Some(if_any), "if_any")?;
                if conditions.is_empty() {
                    let help = "write what makes the request safe, such as { header = \"If-Match\" }, or class = \"never\" in its \
                                place";
                    return Err(self.fault(if_any.span, "has no condition", help));
                }
                let conditions = conditions.iter().map(|node| self.condition(node));
                OperationClass::conditional(conditions.collect::<Result<Vec<_>, _>>()?)
            }
            (None, None) => OperationClass::of_method(&method),
            (Some(_), Some(if_any)) => {
                let help = "keep class = \"always\" or \"never\", or if_any = [{ header = \"If-Match\" }]";
                return Err(self.fault(if_any.span, "can't be combined with class", help));
            }
        };
        let rule = IdempotencyRule::new(name.to_string(), method.to_string(), &path, class)
            .map_err(|error| self.no_pattern(place, "paths", &error))?;
        let hosts: Result<Vec<HostPattern>, TableError> =
            self.elements(hosts, "hosts")?.iter().map(|host| self.host(host)).collect();
        let rule = rule.for_hosts(hosts?);
        let hedgeable = hedgeable.map(|node| self.boolean(node, "hedgeable")).transpose()?;
        let rule = hedgeable.map_or(rule.clone(), |word| rule.hedgeable(word.value));
        Ok(RuleRead { rule, name: name_place, origins, allow })
    }

    fn host(&self, node: &Node) -> Result<HostPattern, TableError> {
        let text = self.string(node, "a host")?;
        text.parse().map_err(|error| self.no_pattern(node.span, "hosts", &error))
    }

    fn no_pattern(&self, place: Span, what: &str, error: &dyn fmt::Display) -> TableError {
        let error = error.to_string();
        let reason = error.split_once(&format!("for {what}: ")).map_or(error.as_str(), |(_, reason)| reason);
        self.fault(place, &format!("is not a pattern for {what}"), reason)
    }

    /// Methods are words of any letters, in which upper and lower case differ.
    fn check_method(&self, place: Span, method: &str) -> Result<(), TableError> {
        let upper = method.to_ascii_uppercase();
        if method != upper && KNOWN.contains(&upper.as_str()) {
            let problem = "is not a method: upper and lower case differ";
            return Err(self.fault(place, problem, format!("write {upper:?}")));
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if method.is_empty() || !method.chars().all(is_part) {
            return Err(self.fault(place, "is not a method", "write one such as \"POST\", or \"*\" for any"));
        }
        Ok(())
    }

    fn class(&self, node: &Node) -> Result<OperationClass, TableError> {
        match &*self.string(node, "class")? {
            "always" => Ok(OperationClass::Always),
            "never" => Ok(OperationClass::Never),
            _ => {
                let help = "write \"always\" or \"never\"; for a condition, write if_any instead of class";
                Err(self.fault(node.span, "is not a class", help))
            }
        }
    }

    fn condition(&self, node: &Node) -> Result<Precondition, TableError> {
        if let [part] = node.members() {
            let name = self.string(&part.value, &part.key)?.to_string();
            match &*part.key {
                "query" => return Ok(Precondition::query(name)),
                "header" => return Ok(Precondition::header(name)),
                "body" => return Ok(Precondition::body_field(name)),
                _ => {}
            }
        }
        let help = "write { query = \"ifMatch\" }, { header = \"If-Match\" } or { body = \"etag\" }";
        Err(self.fault(node.span, "is not a condition", help))
    }
}

/// Methods that are often written in lower case.
const KNOWN: [&str; 9] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH", "QUERY"];

/// Where the tables of a file begin: a table's text continues to the next one.
struct Blocks(Vec<usize>);

impl Blocks {
    fn of(root: &Node, http: &Node, rules: &[Node], end: usize) -> Self {
        let entries = root.member("entry").map_or(&[][..], Node::items);
        let all = [http].into_iter().chain(rules).chain(entries);
        let mut starts: Vec<usize> = all.map(|node| node.span.start).chain([end]).collect();
        starts.sort_unstable();
        Self(starts)
    }

    fn span(&self, table: Span) -> Span {
        let after = self.0.partition_point(|start| *start <= table.start);
        Span { start: table.start, end: self.0.get(after).copied().unwrap_or(table.end) }
    }

    fn extent(&self, table: Span) -> Range<usize> {
        let span = self.span(table);
        span.start..span.end
    }
}
