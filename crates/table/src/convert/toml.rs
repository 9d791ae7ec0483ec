//! A table in this project's own form.

use super::gather::gather;
use super::losses::Losses;
use super::text::number_text;
use crate::document::{Kind, Located, Member, Node, last_of_each};
use crate::model::EntryName;
use crate::model::written::{HedgingPolicy, MethodConfig};
use crate::values::quoted;
use crate::values::{nanos, seconds_text};
use crate::{Finding, RetryTable, Suppression};
use gax_retry::{BatchingSettings, Code, LimitExceeded, RetrySettings};
use gax_text::time_text;
use std::fmt;
use std::time::Duration;

/// The longest line into which a list is put whole.
const LINE: usize = 100;

/// Writes the TOML text of a table.
pub(super) fn write_toml(table: &RetryTable, out: &mut dyn fmt::Write) -> Result<Vec<Finding>, fmt::Error> {
    let config = gather(table);
    let mut losses = Losses::new("TOML", table);
    let mut blocks = Blocks { out, is_first: true };
    if config.methods.is_empty() && config.beside.is_empty() {
        blocks.block()?.write_str("entry = []\n")?;
    }
    if !config.rest.is_empty() {
        let values = last_of_each(&config.rest).into_iter().filter_map(inline_field);
        writeln!(blocks.block()?, "[grpc]\n{}", values.collect::<Vec<_>>().join("\n"))?;
    }
    for suppression in &config.suppressions {
        let mut lines = blocks.lines("[[allow]]")?;
        lines.add("rule", Some(quoted(suppression.rule())))?;
        lines.add("reason", Some(quoted(suppression.reason())))?;
    }
    if let Some(throttling) = &config.throttling {
        let mut lines = blocks.lines("[retry_throttling]")?;
        lines.add("max_tokens", throttling.max_tokens.map(|number| number_text(number.value)))?;
        lines.add("token_ratio", throttling.token_ratio.map(|number| number_text(number.value)))?;
    }
    for method in config.methods.iter().chain(&config.beside) {
        entry(method, &mut losses, &mut blocks)?;
    }
    Ok(losses.into_findings())
}

fn entry(method: &MethodConfig, losses: &mut Losses<'_>, blocks: &mut Blocks<'_>) -> fmt::Result {
    let mut lines = blocks.lines("[[entry]]")?;
    lines.list("for", method.names.iter().map(name))?;
    let own = &method.own;
    if own.definitions.is_some() {
        let help = "define them under [codes] and [params] by hand";
        losses.lose_of(&losses.entry(method), "the names of codes and params", help);
    }
    lines.add("timeout", method.timeout.filter(|timeout| timeout.value > 0).map(time))?;
    lines.add("total_timeout", own.total_timeout.map(time))?;
    if let Some(policy) = &method.retry {
        let empty = policy.is_empty().then(|| "[]".to_owned());
        lines.add("codes", policy.codes.as_ref().map(codes).or(empty))?;
        lines.add("max_attempts", policy.max_attempts.map(|attempts| attempts.value.to_string()))?;
        lines.add("initial_retry_delay", policy.initial_backoff.map(time))?;
        lines.add("retry_delay_multiplier", policy.multiplier.map(|number| number_text(number.value)))?;
        lines.add("max_retry_delay", policy.max_backoff.map(time))?;
    }
    lines.add("jittered", own.jittered.map(|jittered| jittered.value.to_string()))?;
    lines.add("initial_rpc_timeout", own.initial_rpc_timeout.map(time))?;
    lines
        .add("rpc_timeout_multiplier", own.rpc_timeout_multiplier.map(|number| number_text(number.value)))?;
    lines.add("max_rpc_timeout", own.max_rpc_timeout.map(time))?;
    lines.add("max_server_delay", own.max_server_delay.map(time))?;
    if let Some(only) = own.only_with_server_delay {
        let names: Vec<String> = only.value.iter().map(|code| quoted(code.name())).collect();
        lines.list("only_with_server_delay", names.into_iter())?;
    }
    lines.add("wait_for_ready", method.wait_for_ready.map(|wait| wait.value.to_string()))?;
    lines.add("hedging", method.hedging.as_deref().map(hedging))?;
    lines.add("wait_timeout", own.wait_timeout.map(time))?;
    lines.add("idle_timeout", own.idle_timeout.map(time))?;
    lines.add("idempotent", own.idempotent.map(|word| word.value.to_string()))?;
    lines.add("polling", own.polling.as_ref().map(polling))?;
    lines.add("batching", own.batching.as_ref().map(batching))?;
    if !own.suppressions.is_empty() {
        lines.list("allow", own.suppressions.iter().map(allowed))?;
    }
    // A timeout of zero has a meaning in service configs only.
    let zero = method.timeout.filter(|timeout| timeout.value <= 0);
    let zero = zero.map(|timeout| format!("timeout = {}", quoted(&seconds_text(timeout.value))));
    if !method.rest.is_empty() || zero.is_some() {
        if method.rest.iter().any(|member| holds_null(&member.value)) {
            losses.lose_of(&losses.entry(method), "null", "it is treated as absent");
        }
        lines.add(
            "grpc",
            Some(in_braces(last_of_each(&method.rest).into_iter().filter_map(inline_field).chain(zero))),
        )?;
    }
    Ok(())
}

/// The tables of a file, with an empty line between two of them.
struct Blocks<'a> {
    out: &'a mut dyn fmt::Write,
    is_first: bool,
}

impl Blocks<'_> {
    fn block(&mut self) -> Result<&mut dyn fmt::Write, fmt::Error> {
        if !std::mem::take(&mut self.is_first) {
            self.out.write_char('\n')?;
        }
        Ok(self.out)
    }

    fn lines(&mut self, header: &str) -> Result<Lines<'_>, fmt::Error> {
        let out = self.block()?;
        writeln!(out, "{header}")?;
        Ok(Lines { out })
    }
}

/// The lines of one table.
struct Lines<'a> {
    out: &'a mut dyn fmt::Write,
}

impl Lines<'_> {
    fn add(&mut self, key: &str, value: Option<String>) -> fmt::Result {
        value.map_or(Ok(()), |value| writeln!(self.out, "{key} = {value}"))
    }

    /// A list, in one line if it is short.
    fn list(&mut self, key: &str, items: impl Iterator<Item = String> + Clone) -> fmt::Result {
        let mut length = key.len() + " = []".len();
        let mut count = 0_usize;
        for item in items.clone() {
            length += item.len() + if count > 0 { ", ".len() } else { 0 };
            count += 1;
            if count > 1 && length > LINE {
                break;
            }
        }
        let (before, between, after) =
            if length <= LINE || count < 2 { ("", ", ", "") } else { ("\n    ", ",\n    ", ",\n") };
        write!(self.out, "{key} = [{before}")?;
        for (number, item) in items.enumerate() {
            write!(self.out, "{}{item}", if number > 0 { between } else { "" })?;
        }
        writeln!(self.out, "{after}]")
    }
}

fn name(name: &EntryName) -> String {
    let (service, method) = (&*name.service, &*name.method);
    let is_plain = !service.is_empty() && service != "*" && !service.contains('/') && !method.contains('/');
    match (service, method) {
        ("", "") => quoted("*"),
        (service, "") if is_plain => quoted(service),
        (service, method) if is_plain => quoted(&format!("{service}/{method}")),
        (service, method) => {
            format!("{{ service = {}, method = {} }}", quoted(service), quoted(method))
        }
    }
}

fn hedging(policy: &HedgingPolicy) -> String {
    let fields = [
        policy.max_attempts.map(|attempts| format!("max_attempts = {}", attempts.value)),
        policy.delay.map(|delay| format!("delay = {}", time(delay))),
        policy.percentile.map(|percentile| format!("percentile = {}", number_text(percentile.value))),
        policy.non_fatal_codes.as_ref().map(|list| format!("non_fatal_codes = {}", codes(list))),
    ];
    in_braces(fields.into_iter().flatten())
}

fn polling(settings: &RetrySettings) -> String {
    let fields = [
        settings.initial_retry_delay().map(|initial| format!("initial_delay = {}", duration(initial))),
        settings.retry_delay_multiplier().map(|growth| format!("delay_multiplier = {}", number_text(growth))),
        settings.max_retry_delay().map(|max| format!("max_delay = {}", duration(max))),
        settings.total_timeout().map(|total| format!("total_timeout = {}", duration(total))),
    ];
    in_braces(fields.into_iter().flatten())
}

fn batching(settings: &BatchingSettings) -> String {
    let behavior = match settings.limit_exceeded() {
        LimitExceeded::Ignore => None,
        LimitExceeded::Block => Some("limit_exceeded = \"block\"".to_owned()),
        LimitExceeded::ThrowException => Some("limit_exceeded = \"throw-exception\"".to_owned()),
    };
    let fields = [
        Some(format!("element_count_threshold = {}", settings.element_count_threshold())),
        Some(format!("request_byte_threshold = {}", settings.request_byte_threshold())),
        Some(format!("delay_threshold = {}", duration(settings.delay_threshold()))),
        settings.max_outstanding_elements().map(|most| format!("max_outstanding_elements = {most}")),
        settings.max_outstanding_bytes().map(|most| format!("max_outstanding_bytes = {most}")),
        behavior,
    ];
    in_braces(fields.into_iter().flatten())
}

pub(super) fn allowed(suppression: &Suppression) -> String {
    format!("{{ rule = {}, reason = {} }}", quoted(suppression.rule()), quoted(suppression.reason()))
}

fn codes(codes: &Located<Vec<Located<Code>>>) -> String {
    let names: Vec<_> = codes.value.iter().map(|code| quoted(code.value.name())).collect();
    format!("[{}]", names.join(", "))
}

fn time(nanos: Located<i128>) -> String {
    quoted(&time_text(nanos.value))
}

fn duration(duration: Duration) -> String {
    quoted(&time_text(nanos(duration)))
}

fn key(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_bare { key.to_owned() } else { quoted(key) }
}

/// A value in one line; `None` for null, which TOML does not have.
fn inline(node: &Node) -> Option<String> {
    Some(match &node.kind {
        Kind::Null => return None,
        Kind::Bool(value) => value.to_string(),
        Kind::Number(number) => number.to_string(),
        Kind::String(text) => quoted(text),
        Kind::Array(elements) => {
            format!("[{}]", elements.iter().filter_map(inline).collect::<Vec<_>>().join(", "))
        }
        Kind::Object(members) => in_braces(last_of_each(members).into_iter().filter_map(inline_field)),
    })
}

pub(super) fn inline_field(member: &Member) -> Option<String> {
    inline(&member.value).map(|value| format!("{} = {value}", key(&member.key)))
}

fn in_braces(fields: impl Iterator<Item = String>) -> String {
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

fn holds_null(node: &Node) -> bool {
    match &node.kind {
        Kind::Null => true,
        Kind::Array(elements) => elements.iter().any(holds_null),
        Kind::Object(members) => members.iter().any(|member| holds_null(&member.value)),
        _ => false,
    }
}
