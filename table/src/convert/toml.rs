//! A table in this project's own form.

use super::conversion::Conversion;
use super::gather::gather;
use super::losses::Losses;
use super::text::{member, number_text, quoted, string};
use crate::RetryTable;
use crate::document::{Kind, Located, Member, Node};
use crate::model::written::{HedgingPolicy, MethodConfig, Name};
use crate::values::{seconds_text, time_text};
use gax_retry::{BatchingSettings, Code, LimitExceeded, RetrySettings};
use std::time::Duration;

/// The longest line into which a list is put whole.
const LINE: usize = 100;

/// The TOML text of a table.
pub(super) fn write_toml(table: &RetryTable) -> Conversion {
    let config = gather(table);
    let mut losses = Losses::new("TOML", table);
    let mut blocks = Vec::new();
    if !config.rest.is_empty() {
        let values = config.rest.iter().filter_map(|member| {
            inline(&member.value).map(|value| format!("{} = {value}", key(&member.key)))
        });
        blocks.push(format!("[grpc]\n{}\n", values.collect::<Vec<_>>().join("\n")));
    }
    for suppression in &config.suppressions {
        let mut lines = Lines::new("[[allow]]");
        lines.add("rule", Some(quoted(suppression.rule())));
        lines.add("reason", Some(quoted(suppression.reason())));
        blocks.push(lines.text);
    }
    if let Some(throttling) = &config.throttling {
        let mut lines = Lines::new("[retry_throttling]");
        lines.add("max_tokens", throttling.max_tokens.map(|number| number_text(number.value)));
        lines.add("token_ratio", throttling.token_ratio.map(|number| number_text(number.value)));
        blocks.push(lines.text);
    }
    blocks.extend(config.methods.iter().map(|method| entry(method, &mut losses)));
    blocks.extend(config.beside.iter().map(|method| entry(method, &mut losses)));
    if config.methods.is_empty() && config.beside.is_empty() {
        blocks.insert(0, "entry = []\n".to_owned());
    }
    Conversion { text: blocks.join("\n"), findings: losses.into_findings() }
}

fn entry(method: &MethodConfig, losses: &mut Losses<'_>) -> String {
    let mut lines = Lines::new("[[entry]]");
    lines.list("for", &method.names.iter().map(name).collect::<Vec<_>>());
    let own = &method.own;
    if own.definitions.is_some() {
        losses.lose(
            method,
            "the names of codes and params",
            "define them under [codes] and [params] by hand",
        );
    }
    lines.add("timeout", method.timeout.filter(|timeout| timeout.value > 0).map(time));
    lines.add("total_timeout", own.total_timeout.map(time));
    if let Some(policy) = &method.retry {
        let says_nothing = policy.codes.is_none()
            && policy.max_attempts.is_none()
            && policy.initial_backoff.is_none()
            && policy.max_backoff.is_none()
            && policy.multiplier.is_none();
        let empty = says_nothing.then(|| "[]".to_owned());
        lines.add("codes", policy.codes.as_ref().map(codes).or(empty));
        lines.add("max_attempts", policy.max_attempts.map(|attempts| attempts.value.to_string()));
        lines.add("initial_retry_delay", policy.initial_backoff.map(time));
        lines.add("retry_delay_multiplier", policy.multiplier.map(|number| number_text(number.value)));
        lines.add("max_retry_delay", policy.max_backoff.map(time));
    }
    lines.add("jittered", own.jittered.map(|jittered| jittered.value.to_string()));
    lines.add("initial_rpc_timeout", own.initial_rpc_timeout.map(time));
    lines.add("rpc_timeout_multiplier", own.rpc_timeout_multiplier.map(|number| number_text(number.value)));
    lines.add("max_rpc_timeout", own.max_rpc_timeout.map(time));
    lines.add("max_server_delay", own.max_server_delay.map(time));
    lines.add("wait_for_ready", method.wait_for_ready.map(|wait| wait.value.to_string()));
    lines.add("hedging", method.hedging.as_ref().map(hedging));
    lines.add("polling", own.polling.as_ref().map(polling));
    lines.add("batching", own.batching.as_ref().map(batching));
    if !own.suppressions.is_empty() {
        let allowed = own.suppressions.iter().map(|suppression| {
            format!("{{ rule = {}, reason = {} }}", quoted(suppression.rule()), quoted(suppression.reason()))
        });
        lines.list("allow", &allowed.collect::<Vec<_>>());
    }
    let mut rest = method.rest.clone();
    // A timeout of zero has a meaning in service configs only.
    let zero = method.timeout.filter(|timeout| timeout.value <= 0);
    rest.extend(zero.map(|timeout| member("timeout", string(seconds_text(timeout.value)))));
    if !rest.is_empty() {
        if rest.iter().any(|member| holds_null(&member.value)) {
            losses.lose(method, "null", "it counts as absent");
        }
        lines.add("grpc", Some(inline_table(&rest)));
    }
    lines.text
}

/// The lines of one table.
struct Lines {
    text: String,
}

impl Lines {
    fn new(header: &str) -> Self {
        Self { text: format!("{header}\n") }
    }

    fn add(&mut self, key: &str, value: Option<String>) {
        if let Some(value) = value {
            self.text.extend([key, " = ", &value, "\n"]);
        }
    }

    /// A list, in one line if it is short.
    fn list(&mut self, key: &str, items: &[String]) {
        let one_line = format!("{key} = [{}]", items.join(", "));
        if one_line.len() <= LINE || items.len() < 2 {
            self.text.push_str(&one_line);
        } else {
            self.text.extend([key, " = [\n    ", &items.join(",\n    "), ",\n]"]);
        }
        self.text.push('\n');
    }
}

fn name(name: &Name) -> String {
    let (service, method) = (name.service.as_str(), name.method.as_str());
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
    format!("{{ {} }}", fields.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn polling(settings: &RetrySettings) -> String {
    let fields = [
        settings.initial_retry_delay().map(|initial| format!("initial_delay = {}", duration(initial))),
        settings.retry_delay_multiplier().map(|growth| format!("delay_multiplier = {}", number_text(growth))),
        settings.max_retry_delay().map(|max| format!("max_delay = {}", duration(max))),
        settings.total_timeout().map(|total| format!("total_timeout = {}", duration(total))),
    ];
    format!("{{ {} }}", fields.into_iter().flatten().collect::<Vec<_>>().join(", "))
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
    format!("{{ {} }}", fields.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn codes(codes: &Located<Vec<Located<Code>>>) -> String {
    let names: Vec<_> = codes.value.iter().map(|code| quoted(code.value.name())).collect();
    format!("[{}]", names.join(", "))
}

fn time(nanos: Located<i128>) -> String {
    quoted(&time_text(nanos.value))
}

fn duration(duration: Duration) -> String {
    quoted(&time_text(i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)))
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
        Kind::Number(number) => number.clone(),
        Kind::String(text) => quoted(text),
        Kind::Array(elements) => {
            format!("[{}]", elements.iter().filter_map(inline).collect::<Vec<_>>().join(", "))
        }
        Kind::Object(members) => inline_table(members),
    })
}

fn inline_table(members: &[Member]) -> String {
    let fields = members
        .iter()
        .filter_map(|member| inline(&member.value).map(|value| format!("{} = {value}", key(&member.key))));
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
