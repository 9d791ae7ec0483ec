//! A document's nodes to what they say.

use super::inherit::fill_in;
use super::names::read_name;
use crate::dialect::resolve;
use crate::document::{Kind, Located, Member, Node, Source, Span};
use crate::model::TableFile;
use crate::model::written::{HedgingPolicy, MethodConfig, OwnFields, RetryPolicy, ServiceConfig, Throttling};
use crate::values::{Values, rest};
use crate::{Dialect, TableError};
use gax_retry::Code;
use gax_text::{DurationError, closest, parse_nanos};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The settings of an entry, which `[params.NAME]` may have as well.
pub(super) const SETTINGS: [&str; 12] = [
    "timeout",
    "total_timeout",
    "initial_retry_delay",
    "retry_delay_multiplier",
    "max_retry_delay",
    "max_attempts",
    "jittered",
    "initial_rpc_timeout",
    "rpc_timeout_multiplier",
    "max_rpc_timeout",
    "max_server_delay",
    "only_with_server_delay",
];

/// The other fields of an entry.
pub(super) const OTHERS: [&str; 13] = [
    "for",
    "codes",
    "params",
    "hedging",
    "wait_for_ready",
    "wait_timeout",
    "idle_timeout",
    "inherit",
    "polling",
    "batching",
    "idempotent",
    "grpc",
    "allow",
];

/// Reads a table in this project's own form.
pub(crate) fn read_toml_table(
    source: &Source,
    root: &Node,
    dialect: Dialect,
) -> Result<TableFile, TableError> {
    let values = Values::of_own_form(source);
    let config = values.table(root)?;
    #[cfg(feature = "http")]
    let (http, allowed) = root.member("http").map(|node| values.http(root, node)).transpose()?.unzip();
    let file = resolve(&values, config, dialect)?;
    #[cfg(feature = "http")]
    let suppressions = file.suppressions.into_iter().chain(allowed.into_iter().flatten()).collect();
    #[cfg(feature = "http")]
    let file = TableFile { suppressions, http, ..file };
    Ok(file)
}

type Codes = Located<Vec<Located<Code>>>;

/// Codes, and the name that they are defined by.
type NamedCodes = (Option<Arc<str>>, Codes);

/// The definitions of `[codes]` and `[params]`.
#[derive(Default)]
struct Definitions<'n> {
    codes: HashMap<&'n str, Codes>,
    params: HashMap<&'n str, &'n Node>,
}

impl Values<'_> {
    fn table(&self, root: &Node) -> Result<ServiceConfig, TableError> {
        // The last one is for HTTP only, and read apart.
        let names = ["codes", "params", "entry", "retry_throttling", "grpc", "allow", "http"];
        #[cfg_attr(not(feature = "convert"), expect(unused_variables, reason = "grpc is kept for writing"))]
        let [codes, params, entries, throttling, grpc, allow, _] = self.find(root, "a retry table", names)?;
        let mut definitions = Definitions::default();
        for member in self.tables(codes, "codes")? {
            let codes = self.codes(&member.value, "codes")?;
            definitions.codes.insert(&member.key, codes);
        }
        for member in self.tables(params, "params")? {
            self.find(&member.value, "params", SETTINGS)?;
            definitions.params.insert(&member.key, &member.value);
        }
        let entries = self.elements(entries, "entry")?;
        self.find_unused(root, codes, "codes")?;
        self.find_unused(root, params, "params")?;
        let mut methods = Vec::new();
        let mut heirs = Vec::new();
        for (index, node) in entries.iter().enumerate() {
            let end = entries.get(index + 1).map_or(self.source.text().len(), |next| next.span.start);
            let extent = Span { start: node.span.start, end };
            let (method, inherits) = self.entry(node, extent, &definitions)?;
            heirs.extend(inherits.map(|span| (index, span)));
            methods.push(method);
        }
        fill_in(self.source, &mut methods, &heirs)?;
        let (beside, methods) = methods.into_iter().partition(says_nothing_of_retries);
        Ok(ServiceConfig {
            methods,
            beside,
            throttling: throttling.map(|node| self.throttling(node)).transpose()?,
            suppressions: self.suppressions(allow, None)?,
            #[cfg(feature = "convert")]
            rest: grpc.map(|node| rest(node, &[])).unwrap_or_default(),
            unrecognized_code: None,
        })
    }

    /// Definitions that neither an entry nor a rule names.
    fn find_unused(&self, root: &Node, defined: Option<&Node>, what: &str) -> Result<(), TableError> {
        let http = root.member("http");
        let lists = [root.member("entry"), http.and_then(|http| http.member("rule"))];
        let users = lists.into_iter().flatten().flat_map(Node::items).chain(http);
        let named: HashSet<&str> = users.filter_map(|user| user.member(what)?.text()).collect();
        for member in self.tables(defined, what)?.iter().filter(|member| !named.contains(&*member.key)) {
            let message = format!("nothing names {:?} of [{what}]", member.key);
            let help = format!("remove it, or write {what} = {:?} in an entry", member.key);
            self.note("no-effect", member.key_span, message, help);
        }
        Ok(())
    }

    fn entry(
        &self,
        node: &Node,
        extent: Span,
        definitions: &Definitions<'_>,
    ) -> Result<(MethodConfig, Option<Span>), TableError> {
        let all: [&str; OTHERS.len() + SETTINGS.len()] = std::array::from_fn(|index| {
            OTHERS.iter().chain(&SETTINGS).nth(index).copied().unwrap_or_default()
        });
        self.find(node, "an entry", all)?;
        let field = |name: &str| node.member(name);
        let boolean = |name| field(name).map(|node| self.boolean(node, name)).transpose();
        let [idempotent, inherits, waits] = ["idempotent", "inherit", "wait_for_ready"].map(boolean);
        let names = field("for")
            .ok_or_else(|| self.fault(node.span, "has no for", "write for = [\"package.Service/Method\"]"))?;
        let names = self.array(names, "for")?;
        let names = names.iter().map(|name| read_name(self, name)).collect::<Result<_, _>>()?;
        let params =
            field("params").map(|name| self.defined(name, "params", &definitions.params)).transpose()?;
        let settings = self.settings(node, params.as_ref().map(|(_, node)| **node))?;
        let (codes_name, codes) =
            field("codes").map(|node| self.named_codes(node, definitions)).transpose()?.unzip();
        let own = OwnFields {
            definitions: codes_name.flatten().zip(params.map(|(name, _)| name)),
            polling: field("polling").map(|node| self.polling(node)).transpose()?,
            batching: field("batching").map(|node| self.batching(node)).transpose()?,
            idempotent: idempotent?,
            wait_timeout: field("wait_timeout").map(|node| self.timeout(node)).transpose()?,
            idle_timeout: field("idle_timeout").map(|node| self.timeout(node)).transpose()?,
            suppressions: self.suppressions(field("allow"), Some(extent))?,
            ..settings.own
        };
        let inherits = inherits?;
        let hedging = field("hedging").map(|node| self.hedging(node)).transpose()?;
        let mut rest = field("grpc").map(|node| rest(node, &[])).unwrap_or_default();
        let timeout = self.service_config_timeout(&mut rest)?;
        let retry = RetryPolicy { codes, ..settings.retry };
        let method = MethodConfig {
            span: node.span,
            names,
            timeout: settings.timeout.or(timeout),
            retry: Some(retry).filter(|retry| !retry.is_empty()).map(Box::new),
            hedging: hedging.map(Box::new),
            wait_for_ready: waits?,
            own: own.into(),
            rest,
        };
        if let (Some(_), Some(hedging)) = (&method.retry, &method.hedging) {
            let problem = "can't be used, because the entry also retries";
            return Err(self.fault(hedging.span, problem, "remove one of the two"));
        }
        Ok((method, inherits.filter(|inherits| inherits.value).map(|inherits| inherits.span)))
    }

    /// The settings of an entry: its own, else those of its params.
    pub(super) fn settings(&self, entry: &Node, params: Option<&Node>) -> Result<Settings, TableError> {
        let find = |name: &str| entry.member(name).or_else(|| params.and_then(|params| params.member(name)));
        let time = |name| find(name).map(|node| self.time(node)).transpose();
        let timeout = |name| find(name).map(|node| self.timeout(node)).transpose();
        let number = |name| find(name).map(|node| self.number(node, name)).transpose();
        let only = find("only_with_server_delay");
        let only = only.map(|node| self.codes(node, "only_with_server_delay")).transpose()?;
        Ok(Settings {
            timeout: timeout("timeout")?,
            own: OwnFields {
                total_timeout: timeout("total_timeout")?,
                jittered: find("jittered").map(|node| self.boolean(node, "jittered")).transpose()?,
                initial_rpc_timeout: timeout("initial_rpc_timeout")?,
                rpc_timeout_multiplier: number("rpc_timeout_multiplier")?,
                max_rpc_timeout: timeout("max_rpc_timeout")?,
                max_server_delay: time("max_server_delay")?,
                only_with_server_delay: only.map(|codes| Located {
                    value: codes.value.iter().map(|code| code.value).collect(),
                    span: codes.span,
                }),
                ..OwnFields::default()
            },
            retry: RetryPolicy {
                span: entry.span,
                initial_backoff: time("initial_retry_delay")?,
                multiplier: number("retry_delay_multiplier")?,
                max_backoff: time("max_retry_delay")?,
                max_attempts: find("max_attempts")
                    .map(|node| self.count(node, "max_attempts"))
                    .transpose()?,
                codes: None,
            },
        })
    }

    /// The timeout among what only a service config says: zero, which limits nothing except for gRPC itself.
    fn service_config_timeout(&self, rest: &mut Vec<Member>) -> Result<Option<Located<i128>>, TableError> {
        let Some(index) = rest.iter().position(|member| &*member.key == "timeout") else { return Ok(None) };
        self.duration(&rest.remove(index).value, "timeout").map(Some)
    }

    /// Codes, by name or as a list.
    fn named_codes(&self, node: &Node, definitions: &Definitions<'_>) -> Result<NamedCodes, TableError> {
        if let Kind::String(_) = node.kind {
            let (name, codes) = self.defined(node, "codes", &definitions.codes)?;
            return Ok((Some(name), codes.clone()));
        }
        Ok((None, self.codes(node, "codes")?))
    }

    pub(super) fn defined<'d, T>(
        &self,
        node: &Node,
        what: &str,
        definitions: &'d HashMap<&'d str, T>,
    ) -> Result<(Arc<str>, &'d T), TableError> {
        let name = self.string(node, what)?;
        let definition = definitions.get(&*name).ok_or_else(|| {
            let help = match closest(&name, definitions.keys().copied()) {
                Some(close) => format!("did you mean {close:?}?"),
                None => format!("add it under [{what}]"),
            };
            self.fault(node.span, &format!("is not defined under [{what}]"), help)
        })?;
        Ok((name, definition))
    }

    pub(super) fn hedging(&self, node: &Node) -> Result<HedgingPolicy, TableError> {
        let names = ["max_attempts", "delay", "percentile", "non_fatal_codes"];
        let [attempts, delay, percentile, codes] = self.find(node, "hedging", names)?;
        let percentile = percentile.map(|node| self.number(node, "percentile")).transpose()?;
        if let Some(percentile) = percentile.filter(|number| !(number.value > 0.0 && number.value < 1.0)) {
            let help = "write a number above 0 and below 1, such as 0.95";
            return Err(self.fault(percentile.span, "is not a percentile", help));
        }
        Ok(HedgingPolicy {
            span: node.span,
            max_attempts: attempts.map(|node| self.count(node, "max_attempts")).transpose()?,
            delay: delay.map(|node| self.time(node)).transpose()?,
            percentile,
            non_fatal_codes: codes.map(|node| self.codes(node, "non_fatal_codes")).transpose()?,
        })
    }

    fn throttling(&self, node: &Node) -> Result<Throttling, TableError> {
        let [tokens, ratio] = self.find(node, "retry_throttling", ["max_tokens", "token_ratio"])?;
        Ok(Throttling {
            span: node.span,
            max_tokens: tokens.map(|node| self.number(node, "max_tokens")).transpose()?,
            token_ratio: ratio.map(|node| self.number(node, "token_ratio")).transpose()?,
        })
    }

    fn tables<'n>(&self, node: Option<&'n Node>, name: &str) -> Result<&'n [Member], TableError> {
        match node {
            None => Ok(&[]),
            Some(Node { kind: Kind::Object(members), .. }) => Ok(members),
            Some(node) => {
                let problem = format!("is {}, but {name} is a table", node.a_kind());
                Err(self.fault(node.span, &problem, format!("write [{name}]")))
            }
        }
    }

    fn time(&self, node: &Node) -> Result<Located<i128>, TableError> {
        let Kind::String(text) = &node.kind else {
            let help = "write a number with its unit in quotes, such as \"100ms\"";
            let problem = format!("is {}, but a time is a string", node.a_kind());
            return Err(self.fault(node.span, &problem, help));
        };
        let fault = |error: DurationError| self.fault(node.span, &error.problem, error.help);
        let value = i128::try_from(parse_nanos(text).map_err(fault)?).unwrap_or(i128::MAX);
        Ok(Located { value, span: node.span })
    }

    /// A time that limits something, which none of zero does.
    pub(super) fn timeout(&self, node: &Node) -> Result<Located<i128>, TableError> {
        let time = self.time(node)?;
        if time.value == 0 {
            let help = "write a time above zero";
            return Err(self.fault(node.span, "is a timeout of zero", help));
        }
        Ok(time)
    }

    pub(super) fn short_time(&self, node: &Node) -> Result<Duration, TableError> {
        self.to_duration(self.time(node)?)
    }

    pub(super) fn to_duration(&self, time: Located<i128>) -> Result<Duration, TableError> {
        u64::try_from(time.value)
            .map(Duration::from_nanos)
            .map_err(|_| self.fault(time.span, "is too long", "write a time of less than 500 years"))
    }
}

pub(super) struct Settings {
    pub(super) timeout: Option<Located<i128>>,
    pub(super) own: OwnFields,
    pub(super) retry: RetryPolicy,
}

/// Returns whether an entry is not about retries but about polling, batching or idempotency, so that it neither is treated as one nor
/// hides that of its service.
fn says_nothing_of_retries(method: &MethodConfig) -> bool {
    let own = &method.own;
    let says_more = method.retry.is_some()
        || method.timeout.or(own.total_timeout).is_some()
        || own.initial_rpc_timeout.or(own.max_rpc_timeout).is_some()
        || own.rpc_timeout_multiplier.is_some()
        || own.max_server_delay.is_some()
        || own.only_with_server_delay.is_some()
        || own.jittered.is_some()
        || own.wait_timeout.or(own.idle_timeout).is_some()
        || method.hedging.is_some()
        || method.wait_for_ready.is_some()
        || !method.rest.is_empty();
    let says_other = own.polling.is_some() || own.batching.is_some() || own.idempotent.is_some();
    says_other && !says_more
}
