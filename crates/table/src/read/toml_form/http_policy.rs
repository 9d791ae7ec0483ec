//! The settings of HTTP requests: those of `[http]`, and what a rule has in their place.

use super::read::SETTINGS;
use crate::TableError;
use crate::dialect::resolve_http;
use crate::document::{Kind, Located, Member, Node, Span};
use crate::model::written::{HedgingPolicy, MethodConfig, RetryPolicy};
use crate::model::{HttpEntry, HttpFields, HttpSection};
use crate::values::Values;
use gax_retry::Code;
use gax_retry::http::{StatusSet, TransportFailure, TransportFailures};
use gax_text::closest;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The settings that no entry has, or that an entry has in another form.
pub(super) const HTTP_SETTINGS: [&str; 6] =
    ["params", "hedging", "statuses", "failures", "retry_after", "codes"];

/// How many names settings have.
pub(super) const NAMES: usize = HTTP_SETTINGS.len() + SETTINGS.len();

/// The settings under `[params]`, by their names.
pub(super) type Params<'n> = HashMap<&'n str, &'n Node>;

/// Timeouts that a total one set inside replaces.
const TIMEOUTS: [&str; 4] =
    ["total_timeout", "initial_rpc_timeout", "rpc_timeout_multiplier", "max_rpc_timeout"];

impl Values<'_> {
    /// The fields of a table that may have settings as well, its own first; `N` is the number of all.
    pub(super) fn find_with_settings<'n, const N: usize>(
        &self,
        node: &'n Node,
        what: &str,
        own: &[&'static str],
    ) -> Result<[Option<&'n Node>; N], TableError> {
        let mut all = own.iter().copied().chain(HTTP_SETTINGS).chain(SETTINGS);
        self.find(node, what, std::array::from_fn(|_| all.next().unwrap_or_default()))
    }

    /// `[http]`, or a rule of it with what it inherits; places are filled in by the caller. `outer` is `[http]` and the part of
    /// the text that is the rule's.
    pub(super) fn section(
        &self,
        name: &str,
        node: &Node,
        params: &Params<'_>,
        outer: Option<(&HttpSection, &Range<usize>)>,
    ) -> Result<HttpSection, TableError> {
        let written = self.written(node, params)?;
        let inherited = outer.map(|(outer, _)| &*outer.written).unwrap_or_default();
        let policy = if written.is_empty() {
            outer.and_then(|(outer, _)| outer.policy.clone())
        } else {
            let merged = Node { span: node.span, kind: Kind::Object(over(&written, inherited)) };
            // Findings about what is inherited have been made where it stands.
            let apart = Values::of_own_form(self.source);
            let policy = apart.http_policy(&merged)?;
            self.findings.extend(apart.findings.take().into_iter().filter(|finding| {
                let place = finding.origin().map_or(0, |origin| origin.span().start);
                outer.is_none_or(|(outer, extent)| {
                    let is_repeated = outer.policy.is_some() && finding.rule() == "no-max-attempts";
                    extent.contains(&place) && !is_repeated
                })
            }));
            Some(Arc::new(policy))
        };
        Ok(HttpSection {
            name: name.into(),
            origin: self.source.origin(node.span),
            extent: 0..0,
            origins: Vec::new(),
            policy,
            written,
        })
    }

    /// The settings that a table says itself or by its params.
    fn written(&self, node: &Node, params: &Params<'_>) -> Result<Vec<Member>, TableError> {
        let is_setting = |name: &str| HTTP_SETTINGS.contains(&name) || SETTINGS.contains(&name);
        if let Some(codes) = node.member("codes") {
            let help = "write statuses = [429, 503], and failures = [\"connect\"] for failures below HTTP";
            return Err(self.fault(codes.span, "are codes of RPCs", help));
        }
        let own: Vec<Member> = node
            .members()
            .iter()
            .filter(|member| is_setting(&member.key) && *member.key != *"params")
            .cloned()
            .collect();
        let Some(name) = node.member("params") else { return Ok(own) };
        let (_, params) = self.defined(name, "params", params)?;
        Ok(over(&own, params.members()))
    }

    fn http_policy(&self, merged: &Node) -> Result<HttpEntry, TableError> {
        let fields = self.http_fields(merged)?;
        let settings = self.settings(merged, None)?;
        let span = merged.member("statuses").map_or(merged.span, |node| node.span);
        let codes = codes_of(&fields, span);
        let hedging = merged.member("hedging").map(|node| self.hedging(node)).transpose()?;
        if let Some(codes) = hedging.as_ref().and_then(|hedging| hedging.non_fatal_codes.as_ref()) {
            let help = "leave them out: the statuses that are retried don't end a hedged request";
            return Err(self.fault(codes.span, "are codes of RPCs", help));
        }
        let hedging = hedging
            .map(|hedging| Box::new(HedgingPolicy { non_fatal_codes: Some(codes.clone()), ..hedging }));
        let retry = RetryPolicy { codes: Some(codes.clone()), ..settings.retry };
        let config = MethodConfig {
            span: merged.span,
            timeout: settings.timeout,
            // Nothing is said of retries if nothing is retried.
            retry: (!codes.value.is_empty()).then(|| Box::new(retry)),
            hedging,
            own: settings.own.into(),
            ..MethodConfig::default()
        };
        let entry = resolve_http(self, &config)?;
        Ok(HttpEntry::new(entry, fields))
    }

    fn http_fields(&self, merged: &Node) -> Result<HttpFields, TableError> {
        let mut fields = HttpFields {
            statuses: StatusSet::SIX,
            failures: TransportFailures::ALL,
            ..HttpFields::default()
        };
        if let Some(node) = merged.member("statuses") {
            fields.statuses_origin = Some(self.source.origin(node.span));
            fields.statuses = StatusSet::EMPTY;
            for element in self.array(node, "statuses")? {
                let (first, last) = self.status(element)?;
                fields.statuses = fields.statuses.with_range(first, last);
                // A whole class of wrong requests begins with one.
                if first == last || first == 400 {
                    fields.status_origins.push((first, self.source.origin(element.span)));
                }
            }
        }
        if let Some(node) = merged.member("failures") {
            fields.failures = TransportFailures::NONE;
            for element in self.array(node, "failures")? {
                fields.failures = fields.failures.with(self.failure(element)?);
            }
        }
        let heeded =
            merged.member("retry_after").map(|node| self.boolean(node, "retry_after")).transpose()?;
        fields.retry_after_origin = heeded.as_ref().map(|word| self.source.origin(word.span));
        fields.retry_after = heeded.map(|word| word.value);
        Ok(fields)
    }

    /// The first and the last of the statuses that an element stands for.
    fn status(&self, node: &Node) -> Result<(u16, u16), TableError> {
        const HELP: &str = "write a number from 400 to 599, \"4xx\" or \"5xx\"";
        match &node.kind {
            Kind::String(text) if **text == *"4xx" => Ok((400, 499)),
            Kind::String(text) if **text == *"5xx" => Ok((500, 599)),
            Kind::Number(text) => match text.parse::<u16>() {
                Ok(status @ 400..=599) => Ok((status, status)),
                Ok(200..=299) => {
                    Err(self.fault(node.span, "is a success, after which nothing is retried", HELP))
                }
                Ok(100..=399) => Err(self.fault(node.span, "is not an error, so it is not retried", HELP)),
                _ => Err(self.fault(node.span, "is not an HTTP status", HELP)),
            },
            _ => Err(self.fault(node.span, "is not an HTTP status", HELP)),
        }
    }

    fn failure(&self, node: &Node) -> Result<TransportFailure, TableError> {
        let text = self.string(node, "a failure")?;
        let retried = || TransportFailure::ALL.iter().filter(|kind| TransportFailures::ALL.contains(**kind));
        if let Some(failure) = retried().find(|kind| kind.as_str() == &*text) {
            return Ok(*failure);
        }
        if *text == *TransportFailure::Unreadable.as_str() {
            let problem = "is never retried: another attempt would get the same response";
            return Err(self.fault(node.span, problem, "leave it out"));
        }
        let help = match closest(&text, retried().map(|kind| kind.as_str())) {
            Some(close) => format!("did you mean {close:?}?"),
            None => format!("write {}", TransportFailures::ALL),
        };
        Err(self.fault(node.span, "is not a failure below HTTP", help))
    }
}

/// The settings that are set inside, and those set outside that they do not take the place of.
fn over(inner: &[Member], outer: &[Member]) -> Vec<Member> {
    let has = |name: &str| inner.iter().any(|member| *member.key == *name);
    let is_left = |member: &&Member| {
        let name = &*member.key;
        let by_timeout = has("timeout") && TIMEOUTS.contains(&name);
        let by_total = has("total_timeout") && name == "timeout";
        !(has(name) || by_timeout || by_total)
    };
    inner.iter().chain(outer.iter().filter(is_left)).cloned().collect()
}

/// The codes that the statuses and failures are treated as, for all that goes by codes.
fn codes_of(fields: &HttpFields, span: Span) -> Located<Vec<Located<Code>>> {
    let by_failure = [
        (TransportFailure::Connect, Code::Unavailable),
        (TransportFailure::Reset, Code::Unavailable),
        (TransportFailure::Truncated, Code::Unavailable),
        (TransportFailure::Timeout, Code::DeadlineExceeded),
    ];
    let failures = by_failure.into_iter().filter(|(failure, _)| fields.failures.contains(*failure));
    let all = fields.statuses.iter().map(Code::from_http_status).chain(failures.map(|(_, code)| code));
    let codes: gax_retry::CodeSet = all.collect();
    Located { value: codes.iter().map(|value| Located { value, span }).collect(), span }
}

pub(super) fn params_of(root: &Node) -> Params<'_> {
    let params = root.member("params").map_or(&[][..], Node::members);
    params.iter().map(|member| (&*member.key, &member.value)).collect()
}
