//! A document's paths to rules.

use super::operation::{Operation, specificity};
use super::servers::{Bases, bases};
use crate::document::{Kind, Member, Node, Source, Span, last_of_each};
use crate::model::{HttpSection, HttpTable, TableFile};
use crate::values::Values;
use crate::{Dialect, TableError};
use gax_retry::http::{IdempotencyRule, IdempotencyTable};
use std::collections::HashSet;

/// The members of a path that are operations, in the order of OpenAPI's specification.
const METHODS: [(&str, &str); 9] = [
    ("get", "GET"),
    ("put", "PUT"),
    ("post", "POST"),
    ("delete", "DELETE"),
    ("options", "OPTIONS"),
    ("head", "HEAD"),
    ("patch", "PATCH"),
    ("trace", "TRACE"),
    ("query", "QUERY"),
];

/// Reads a document. Of its operations only those parts are read that say which requests they are, and what makes these safe to
/// retry; the document is not checked otherwise.
pub(in crate::read) fn read_openapi(source: &Source, root: &Node) -> Result<TableFile, TableError> {
    let values = Values::new(source, Dialect::AsWritten);
    let mut document = Document { values, root, names: HashSet::new(), operations: Vec::new() };
    document.version()?;
    document.paths()?;
    let Document { mut operations, values, .. } = document;
    // The first rule that a request matches decides: `/things/mine` goes before `/things/{id}`.
    operations.sort_by_cached_key(|operation| specificity(operation.rule.path()));
    let table = IdempotencyTable::http_methods();
    let table = table.with_rules(operations.iter().map(|operation| operation.rule.clone()));
    let start = Span { start: root.span.start, end: root.span.start };
    let defaults = section(source, "", start);
    let own = operations.iter().map(|operation| HttpSection {
        origins: operation.origins.iter().map(|(field, span)| (*field, source.origin(*span))).collect(),
        extent: operation.extent.start..operation.extent.end,
        ..section(source, operation.rule.name(), operation.place)
    });
    let http = HttpTable::new(table, false, defaults, own.collect());
    Ok(TableFile { http: Some(http), findings: values.findings.take(), ..TableFile::default() })
}

fn section(source: &Source, name: &str, place: Span) -> HttpSection {
    HttpSection {
        name: name.into(),
        origin: source.origin(place),
        extent: place.start..place.end,
        origins: Vec::new(),
        policy: None,
        written: Vec::new(),
    }
}

/// A document on its way to rules.
pub(super) struct Document<'a> {
    pub(super) values: Values<'a>,
    pub(super) root: &'a Node,
    /// The names of rules so far.
    names: HashSet<String>,
    operations: Vec<Operation>,
}

impl Document<'_> {
    /// The error of a document without that member.
    fn lacks(&self, member: &str, help: &str) -> TableError {
        let start = Span { start: self.root.span.start, end: self.root.span.start };
        self.values.source.error(start, format!("the document has no {member}"), help)
    }

    fn version(&self) -> Result<(), TableError> {
        const HELP: &str =
            "write it as OpenAPI 3.0 or later; tools such as swagger2openapi convert older documents";
        if let Some(swagger) = self.root.member("swagger") {
            return Err(self.values.fault(swagger.span, "is a version of Swagger", HELP));
        }
        let Some(version) = self.root.member("openapi") else {
            return Err(self.lacks("openapi", "begin the document with openapi: 3.1.0"));
        };
        match &version.kind {
            Kind::String(text) | Kind::Number(text) if text.starts_with("3.") => Ok(()),
            _ => Err(self.values.fault(version.span, "is not a supported version of OpenAPI", HELP)),
        }
    }

    fn paths(&mut self) -> Result<(), TableError> {
        let root = self.root;
        let Some(paths) = root.member("paths") else {
            return Err(self.lacks("paths", "add the paths of the API's operations"));
        };
        let all = bases(&self.values, root.member("servers"))?;
        for path in last_of_each(self.values.members(Some(paths), "paths")?) {
            if !path.key.starts_with("x-") {
                self.path(path, &all)?;
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &Member, all: &Bases) -> Result<(), TableError> {
        if !path.key.starts_with('/') {
            return Err(self.values.fault(path.key_span, "is not a path", "begin it with a slash"));
        }
        let members = self.values.members(Some(&path.value), "a path")?;
        if let Some(reference) = path.value.member("$ref") {
            let message = format!("the operations of {} are somewhere else, and are not read", path.key);
            let help = "put them into this document; tools such as redocly bundle do that";
            self.values.warn("skipped-entry", reference.span, message, help);
        }
        let of_path = match path.value.member("servers") {
            Some(servers) => bases(&self.values, Some(servers))?,
            None => all.clone(),
        };
        for member in last_of_each(members) {
            let Some((_, method)) = METHODS.iter().find(|(key, _)| **key == *member.key) else { continue };
            self.operation(path, member, method, &of_path)?;
        }
        Ok(())
    }

    fn operation(
        &mut self,
        path: &Member,
        operation: &Member,
        method: &'static str,
        bases_of_path: &Bases,
    ) -> Result<(), TableError> {
        self.values.members(Some(&operation.value), "an operation")?;
        let own = match operation.value.member("servers") {
            Some(servers) => bases(&self.values, Some(servers))?,
            None => bases_of_path.clone(),
        };
        let class = self.class(&path.value, &operation.value, method)?;
        let (name, place) = self.name(path, operation, method)?;
        let (shown, is_exact) = pattern(&path.key);
        if !is_exact {
            let message = format!("{} of {name} is matched by {shown}, which matches more", path.key);
            let help = "a rule's path has one variable in a segment, and no query";
            self.values.note("approximated", path.key_span, message, help);
        }
        for (number, (base, hosts)) in own.iter().enumerate() {
            let name = if number == 0 { name.clone() } else { format!("{name} ({base})") };
            let rule = IdempotencyRule::new(name, method, &format!("{base}{shown}"), class.clone());
            let rule = rule.map_err(|error| {
                let help = format!("correct it: {error}");
                self.values.fault(path.key_span, "is not a path that can be matched", help)
            })?;
            self.operations.push(Operation {
                rule: rule.for_hosts(hosts.iter().cloned()),
                place,
                origins: vec![("name", place), ("method", operation.key_span), ("path", path.key_span)],
                extent: Span { start: operation.key_span.start, end: operation.value.span.end },
            });
        }
        Ok(())
    }

    /// The operation's id, or method and path where it has none of its own.
    fn name(
        &mut self,
        path: &Member,
        operation: &Member,
        method: &str,
    ) -> Result<(String, Span), TableError> {
        let fallback = format!("{method} {}", path.key);
        let Some(id) = operation.value.member("operationId") else {
            self.names.insert(fallback.clone());
            return Ok((fallback, operation.key_span));
        };
        let text = self.values.string(id, "operationId")?;
        // The rules of the base are called by their methods, and one of that name would take the place of one of them.
        let is_of_base = METHODS.iter().any(|(_, method)| **method == *text);
        if !is_of_base && self.names.insert(text.to_string()) {
            return Ok((text.to_string(), id.span));
        }
        let problem = if is_of_base { "is the name of a method" } else { "comes twice" };
        let message = format!("the operation id {text:?} {problem}; this rule is called {fallback:?}");
        self.values.warn("duplicate-name", id.span, message, "give each operation its own id");
        self.names.insert(fallback.clone());
        Ok((fallback, id.span))
    }
}

/// The pattern for a path, and whether it matches nothing else. A pattern has one variable in a segment, and no query.
pub(super) fn pattern(path: &str) -> (String, bool) {
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let (path, rest) = path.split_at(end);
    let mut is_exact = rest.is_empty();
    let segments = path.split('/').map(|segment| match (segment.find('{'), segment.rfind('}')) {
        (Some(first), Some(last)) if first < last && segment.matches('{').count() > 1 => {
            is_exact = false;
            let (before, after) = (segment.get(..first), segment.get(last + 1..));
            format!("{}*{}", before.unwrap_or_default(), after.unwrap_or_default())
        }
        _ => segment.to_owned(),
    });
    let pattern = segments.collect::<Vec<_>>().join("/");
    (pattern, is_exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_one_variable_at_most() {
        for (path, expected, is_exact) in [
            ("/things/{id}", "/things/{id}", true),
            ("/things/{id}.json", "/things/{id}.json", true),
            ("/compare/{base}...{head}", "/compare/*", false),
            ("/x-{a}-{b}.tar/y", "/x-*.tar/y", false),
            ("/things?action=copy", "/things", false),
            ("/", "/", true),
        ] {
            assert_eq!(pattern(path), (expected.to_owned(), is_exact), "{path}");
        }
    }
}
