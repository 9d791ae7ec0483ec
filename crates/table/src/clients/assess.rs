//! The assessment of a service config for one client.

use super::decode::Wrong;
use super::fields::{Fix, Reader, WRITE, removal};
use super::lenient::{self, NoJson, Quirk};
use super::policy::Policy;
use super::report::{ClientReport, Verdict};
use super::rules::Client;
use super::script::{ClientOptions, Script};
use crate::document::{Kind, Node, Source, Span};
use crate::values::quoted;
use std::collections::HashSet;

/// One entry, as a client has read it.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) names: Vec<(String, String)>,
    pub(super) policy: Option<Policy>,
    /// Nanoseconds; `None`: no limit.
    pub(super) timeout: Option<i128>,
}

impl Client {
    /// Returns what the client makes of the text of a service config. With a script, of calls to a server that answers so; with a
    /// method (`pkg.Service/Method`), of calls of that method, whatever the names of the table are.
    ///
    /// A text that the client can't read is a verdict too. A byte order mark belongs to the text.
    #[must_use]
    pub fn read(
        self,
        text: &[u8],
        options: &ClientOptions,
        script: Option<&Script>,
        method: Option<&str>,
    ) -> ClientReport {
        self.read_file(None, text, options, script, method)
    }

    /// Like [`read`](Self::read), of a file that the report's places name.
    #[must_use]
    pub fn read_file(
        self,
        file: Option<&str>,
        text: &[u8],
        options: &ClientOptions,
        script: Option<&Script>,
        method: Option<&str>,
    ) -> ClientReport {
        let text = String::from_utf8_lossy(text);
        let source = &Source::new(file.map(Into::into), &text);
        let mut reader =
            Reader { client: self, options, source, deviations: Vec::new(), entry: None, throttle: None };
        let mut entries = Vec::new();
        if let Some(name) = options.unknown(self) {
            let message = format!("no rule says what the option {name:?} does");
            reader.note(Verdict::Unknown, Span::default(), message, Fix::Advice("leave it out"));
        }
        if let Some(root) = reader.tree(&text) {
            entries = reader.root(&root);
        }
        reader.report(&entries, script, method)
    }
}

impl Reader<'_> {
    /// The text's root, if the client comes that far.
    fn tree(&mut self, text: &str) -> Option<Node> {
        let rest = text.strip_prefix('\u{feff}');
        if rest.is_some() && self.is("json.byte-order-mark", "refuse") {
            let advice = Fix::Advice("save the file without a byte order mark");
            self.refuse(Span::default(), "the file begins with a byte order mark", advice);
        }
        let (root, quirks) = match lenient::read(rest.unwrap_or(text)) {
            Ok(read) => read,
            Err(NoJson { span, is_word: true }) => {
                let is_taken = self.is("json.unquoted", "take");
                let verdict = if is_taken { Verdict::Unknown } else { self.refusal() };
                let right = Fix::Write(quoted(self.written(span)));
                self.note(verdict, span, "JSON has no words without quotes", right);
                return None;
            }
            Err(NoJson { span, .. }) => {
                self.refuse(span, "this is not JSON", Fix::Advice("write a service config in JSON"));
                return None;
            }
        };
        for Quirk { rule, span, fix: (place, text) } in quirks {
            if self.is(rule, "refuse") {
                let thing = rule.trim_start_matches("json.").replace('-', " ");
                self.refuse(span, format!("its JSON reader refuses this ({thing})"), Fix::At(place, text));
            }
        }
        root
    }

    fn root(&mut self, root: &Node) -> Vec<Entry> {
        let rule = match root.kind {
            Kind::Object(_) => "object",
            Kind::Null => self.client.rule("root.null"),
            Kind::Array(_) => self.client.rule("root.array"),
            _ => self.client.rule("root.scalar"),
        };
        let is_list = matches!(&root.kind, Kind::Array(elements) if !elements.is_empty());
        if rule == "refuse" || rule == "pairs" && is_list {
            self.refuse(root.span, format!("the file is {}, not an object", root.a_kind()), WRITE);
        }
        if rule != "object" {
            return Vec::new();
        }
        self.load_balancing(root);
        self.health_check(root);
        self.throttling(root);
        if let Some(config) = ["serviceConfig", "service_config"].iter().find_map(|name| root.member(name)) {
            let message = "the service config is in a field of its own, which is not seen";
            let right = Fix::Write(self.written(config.span).to_owned());
            self.never(root.span, message, right);
        }
        let Some(configs) = self.field(root, "methodConfig") else { return Vec::new() };
        if self.is("method-config.no-array", "ignore") && !matches!(configs.kind, Kind::Array(_)) {
            let right = Fix::Write(format!("[{}]", self.written(configs.span)));
            self.never(configs.span, "methodConfig is not an array: ignored", right);
            return Vec::new();
        }
        let configs = self.array(configs, "methodConfig").unwrap_or_default();
        let mut seen = HashSet::new();
        let entries = configs.iter().enumerate().map(|(number, config)| {
            self.entry = Some(number);
            self.config(config, &mut seen)
        });
        let entries = entries.collect();
        self.entry = None;
        entries
    }

    fn config(&mut self, config: &Node, seen: &mut HashSet<(String, String)>) -> Entry {
        if config.kind == Kind::Null && self.is("element.null", "empty") {
            return Entry::default();
        }
        let Some(config) = self.object(config, "an entry of methodConfig") else { return Entry::default() };
        let names = self.field(config, "name");
        let names = names.and_then(|names| self.array(names, "name"));
        let is_unnamed = names.is_none();
        if is_unnamed || names.is_some_and(<[Node]>::is_empty) {
            let message = "an entry without a name is for no method";
            let advice = Fix::Advice("name the services or methods that it is for");
            match (is_unnamed, self.client.rule("name.absent")) {
                (true, "refuse") => self.refuse(config.span, message, advice),
                _ => self.never(config.span, message, advice),
            }
        }
        let names = names.map(|names| self.names(names, seen)).unwrap_or_default();
        let timeout = self.timeout(config);
        if let Some(wait) = self.field(config, "waitForReady") {
            self.wait_for_ready(wait);
        }
        if self.is("message-bytes", "checked") {
            for name in ["maxRequestMessageBytes", "maxResponseMessageBytes"] {
                let bytes = self.value(config, name, Client::integer);
                let takes_all = self.client.name() == "grpc-go";
                let is_fine = |bytes: &f64| takes_all || *bytes >= 0.0;
                self.check(bytes, is_fine, &format!("{name} is negative"), WRITE);
            }
        }
        let is_read = !(is_unnamed && self.is("entry.unnamed", "skip"));
        let retries_off = self.options.has(self.client, "option.retries");
        let is_checked = is_read && !(retries_off && self.is("option.retries-off", "unchecked"));
        let mut policy = if is_checked { self.policy(config) } else { None };
        if retries_off && (policy.is_some() || !is_checked) {
            policy = None;
            let message = "retries are off, by an option of the channel";
            self.never(config.span, message, Fix::Advice("leave the option out"));
        }
        Entry { names, policy, timeout }
    }

    fn names(&mut self, names: &[Node], seen: &mut HashSet<(String, String)>) -> Vec<(String, String)> {
        let mut read = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if !(name.kind == Kind::Null && self.is("element.null", "empty"))
                && self.object(name, "a name").is_none()
            {
                continue;
            }
            let has = |field: &str| name.member(field).is_some();
            let part = |reader: &mut Self, field: &str| {
                let part = reader.value(name, field, |_, node| match &node.kind {
                    Kind::String(text) => Ok(text.to_string()),
                    _ => Err(Wrong { problem: "is not a string", right: None }),
                });
                part.map(|(part, _)| part).unwrap_or_default()
            };
            let (service, method) = (part(self, "service"), part(self, "method"));
            let rule = match (service.is_empty(), has("service"), has("method"), method.is_empty()) {
                (true, false, true, true) => "name.empty-method-without-service",
                (true, false, true, false) => "name.method-without-service",
                (true, true, true, false) => "name.method-of-empty-service",
                _ => "",
            };
            if !rule.is_empty() && self.is(rule, "refuse") {
                let advice = Fix::Advice("add the service's full name");
                self.refuse(name.span, "a method without a service", advice);
            }
            let method = if service.is_empty() { String::new() } else { method };
            if [&service, &method].iter().any(|part| part.contains(['*', '/', ' '])) {
                let right = |part: &str| part.trim_matches(['/', ' ', '*', '.']).to_owned();
                let fix = match (right(&service), right(&method)) {
                    (all, _) if service.contains('*') || all.contains('/') => {
                        Fix::Advice("name each service; {} is all methods of all services")
                    }
                    (service, method) if method.is_empty() => {
                        Fix::Write(format!("{{\"service\": {service:?}}}"))
                    }
                    (service, method) => {
                        Fix::Write(format!("{{\"service\": {service:?}, \"method\": {method:?}}}"))
                    }
                };
                self.never(name.span, "this name is no method's: patterns and slashes are not read", fix);
                continue;
            }
            if !seen.insert((service.clone(), method.clone())) {
                let parts: Vec<Span> = names.iter().map(|name| name.span).collect();
                let place = removal(&parts, index);
                self.refuse(name.span, "this name occurs twice", Fix::At(place, String::new()));
            }
            read.push((service, method));
        }
        read
    }
}
