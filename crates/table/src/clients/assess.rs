//! The assessment of a service config for one client.

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
        if let Some(name) = options.unknown(self) {
            let message = format!("no rule says what the option {name:?} does");
            reader.note(Verdict::Unknown, None, Span::default(), message, "leave it out");
        }
        let entries = reader.tree(&text).and_then(|root| reader.root(&root));
        reader.report(&entries.unwrap_or_default(), script, method)
    }
}

impl Reader<'_> {
    /// The text's root, if the client comes that far.
    fn tree(&mut self, text: &str) -> Option<Node> {
        let rest = text.strip_prefix('\u{feff}');
        if rest.is_some() {
            let advice = "save the file without a byte order mark";
            let message = "the file begins with a byte order mark";
            self.refuse_by("json.byte-order-mark", Span::default(), message, advice);
        }
        match lenient::read(rest.unwrap_or(text)) {
            Ok((root, quirks)) => {
                for Quirk { rule, span, fix: (place, right) } in quirks {
                    let thing = rule.trim_start_matches("json.").replace('-', " ");
                    let message = format!("its JSON reader refuses this ({thing})");
                    self.refuse_by(rule, span, message, Fix::At(place, right));
                }
                return root;
            }
            Err(NoJson { span, is_word: true }) => {
                let (message, right) = ("JSON has no words without quotes", quoted(self.written(span)));
                if self.is("json.unquoted", "take") {
                    self.note(Verdict::Unknown, None, span, message, right);
                } else {
                    self.refuse(span, message, right);
                }
            }
            Err(NoJson { span, .. }) => {
                self.refuse(span, "this is not JSON", "write a service config in JSON");
            }
        }
        None
    }

    fn root(&mut self, root: &Node) -> Option<Vec<Entry>> {
        let rule = match root.kind {
            Kind::Object(_) => "object",
            Kind::Null => self.client.rule("root.null"),
            Kind::Array(_) => self.client.rule("root.array"),
            _ => self.client.rule("root.scalar"),
        };
        if rule == "refuse" || rule == "pairs" && !root.items().is_empty() {
            self.refuse(root.span, format!("the file is {}, not an object", root.a_kind()), WRITE);
        }
        if rule != "object" {
            return None;
        }
        self.load_balancing(root);
        self.health_check(root);
        self.throttling(root);
        let inner = ["serviceConfig", "service_config"].iter().find_map(|name| root.member(name));
        if let Some(config) = inner.filter(|_| root.member("methodConfig").is_none()) {
            let message = "the service config is in a field of its own, which is not seen";
            self.never(root.span, message, self.written(config.span).to_owned());
        }
        let configs = self.field(root, "methodConfig")?;
        if self.is("method-config.no-array", "ignore") && !matches!(configs.kind, Kind::Array(_)) {
            let right = format!("[{}]", self.written(configs.span));
            self.never(configs.span, "methodConfig is not an array: ignored", right);
            return None;
        }
        let mut seen = HashSet::new();
        let configs = self.array(configs, "methodConfig")?.iter().enumerate();
        let entries = configs.map(|(number, config)| {
            self.entry = Some(number);
            self.config(config, &mut seen)
        });
        let entries = entries.collect();
        self.entry = None;
        Some(entries)
    }

    fn config(&mut self, config: &Node, seen: &mut HashSet<(String, String)>) -> Entry {
        if config.kind == Kind::Null && self.is("element.null", "empty") {
            return Entry::default();
        }
        let Some(config) = self.object(config, "an entry of methodConfig") else { return Entry::default() };
        let names = self.field(config, "name").and_then(|names| self.array(names, "name"));
        let is_unnamed = names.is_none();
        if names.is_none_or(<[Node]>::is_empty) {
            let (message, advice) =
                ("an entry without a name is for no method", "name the services or methods that it is for");
            if is_unnamed && self.is("name.absent", "refuse") {
                self.refuse(config.span, message, advice);
            } else {
                self.never(config.span, message, advice);
            }
        }
        let names = names.map(|names| self.names(names, seen)).unwrap_or_default();
        let timeout = self.timeout(config);
        self.wait_for_ready(config);
        if self.is("message-bytes", "checked") {
            for name in ["maxRequestMessageBytes", "maxResponseMessageBytes"] {
                let bytes = self.value(config, name, Client::integer);
                if let Some((_, span)) = bytes.filter(|(bytes, _)| *bytes < 0.0) {
                    let problem = format!("{name} is negative");
                    match self.client.rule("message-bytes.negative") {
                        "refuse" => self.refuse(span, problem, WRITE),
                        _ => self.fails("RESOURCE_EXHAUSTED", span, problem, WRITE),
                    }
                }
            }
        }
        let retries_off = self.options.has(self.client, "option.retries");
        let is_skipped = is_unnamed && self.is("entry.unnamed", "skip")
            || retries_off && self.is("option.retries-off", "unchecked");
        let mut policy = if is_skipped { None } else { self.policy(config) };
        if retries_off && (policy.is_some() || is_skipped) {
            policy = None;
            self.never(config.span, "retries are off, by an option of the channel", "leave the option out");
        }
        Entry { names, policy, timeout }
    }

    fn names(&mut self, names: &[Node], seen: &mut HashSet<(String, String)>) -> Vec<(String, String)> {
        let mut read = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let is_empty = name.kind == Kind::Null && self.is("element.null", "empty");
            if !is_empty && self.object(name, "a name").is_none() {
                continue;
            }
            let part = |reader: &mut Self, field: &str| {
                let node = reader.field(name, field)?;
                reader.kind(node, field, "a string")?.text().map(str::to_owned)
            };
            let service = part(self, "service").unwrap_or_default();
            let mut method = part(self, "method").unwrap_or_default();
            let has = |field| name.member(field).is_some_and(|node| node.kind != Kind::Null);
            if service.is_empty() && has("method") {
                let rule = match (has("service"), method.is_empty()) {
                    (false, true) => "name.empty-method-without-service",
                    (false, false) => "name.method-without-service",
                    (true, false) => "name.method-of-empty-service",
                    (true, true) => "name.both-empty",
                };
                let advice = "add the service's full name";
                self.refuse_by(rule, name.span, "a method without a service", advice);
                method.clear();
            }
            if [&service, &method].iter().any(|part| part.contains(['*', '/', ' '])) {
                let right = |part: &str| part.trim_matches(['/', ' ', '*', '.']).to_owned();
                let fix = match (right(&service), right(&method)) {
                    (all, _) if service.contains('*') || all.contains('/') => {
                        Fix::Advice("name each service; {} is all methods of all services")
                    }
                    (service, method) if method.is_empty() => format!("{{\"service\": {service:?}}}").into(),
                    (service, method) => {
                        format!("{{\"service\": {service:?}, \"method\": {method:?}}}").into()
                    }
                };
                self.never(name.span, "this name is no method's: patterns and slashes are not read", fix);
            } else if seen.insert((service.clone(), method.clone())) {
                read.push((service, method));
            } else {
                let parts: Vec<Span> = names.iter().map(|name| name.span).collect();
                let fix = Fix::At(removal(&parts, index), String::new());
                self.refuse(name.span, "this name occurs twice", fix);
                read.push((service, method));
            }
        }
        read
    }
}
