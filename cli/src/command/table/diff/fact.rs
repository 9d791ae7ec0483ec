//! The facts of a method that two tables are compared by.

use crate::command::table::view::{
    MethodView, batching, batching_members, code_names, codes_text, delay, hedging, hedging_members, limit,
    polling, polling_members, rpc_timeout, short_place,
};
use crate::render::Ms;
use gax_retry::{CodeSet, RetrySettings};
use gax_table::{PolicyField, SourceLocation};
use serde_json::{Value, json};
use std::time::Duration;

/// A value of a method, for programs and for people.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) what: &'static str,
    pub(super) name: &'static str,
    pub(super) value: Value,
    pub(super) words: String,
    /// The values that it is made of, each with its place.
    pub(super) parts: Vec<(Value, Option<String>)>,
}

impl Fact {
    pub(super) fn new(
        [what, name]: [&'static str; 2],
        value: Value,
        words: impl Into<String>,
        place: Option<&SourceLocation>,
    ) -> Self {
        let parts = vec![(value.clone(), place.map(short_place))];
        Self { what, name, value, words: words.into(), parts }
    }

    /// A time that nothing in the table gives as it is.
    fn computed(names: [&'static str; 2], time: Option<Duration>, none: &str) -> Self {
        let words = time.map_or_else(|| none.to_owned(), |time| Ms(time).to_string());
        Self::new(names, json!(time.map(Ms)), words, None)
    }

    fn codes(names: [&'static str; 2], codes: CodeSet, place: Option<&SourceLocation>) -> Self {
        Self::new(names, json!(code_names(codes)), codes_text(codes), place)
    }

    /// Times that grow from attempt to attempt, of several values. Without any, the words are those for none.
    fn grown(
        [what, name]: [&'static str; 2],
        view: &MethodView<'_>,
        words: String,
        parts: Vec<(&'static str, Value, PolicyField)>,
    ) -> Self {
        let place = |field| view.origin_of(field).map(short_place);
        let value = match parts.as_slice() {
            [] => Value::Null,
            parts => parts.iter().map(|(name, value, _)| ((*name).to_owned(), value.clone())).collect(),
        };
        let parts = parts.into_iter().map(|(_, value, field)| (value, place(field))).collect();
        Self { what, name, value, words, parts }
    }

    fn delay(view: &MethodView<'_>) -> Self {
        let names = ["delay", "delay"];
        let Some(policy) = view.policy.filter(|_| view.is_retried()) else {
            return Self::grown(names, view, "none".to_owned(), Vec::new());
        };
        let (settings, dialect) = (policy.settings(), view.table.dialect());
        let delays = settings.retry_delays(dialect.compatibility());
        let parts = vec![
            ("initial_ms", json!(Ms(delays.initial())), PolicyField::InitialRetryDelay),
            ("multiplier", json!(delays.multiplier()), PolicyField::RetryDelayMultiplier),
            ("max_ms", json!(delays.max().map(Ms)), PolicyField::MaxRetryDelay),
            ("jittered", json!(settings.jittered()), PolicyField::Jittered),
        ];
        Self::grown(names, view, delay(policy, dialect), parts)
    }

    fn rpc_timeout(view: &MethodView<'_>) -> Self {
        let names = ["rpc_timeout", "RPC timeout"];
        let is_less = |initial: &Duration, settings: &RetrySettings| {
            settings.total_timeout().is_none_or(|total| *initial < total)
        };
        let initial = view.settings().and_then(|settings| {
            let initial = settings.initial_rpc_timeout().filter(|initial| is_less(initial, settings))?;
            Some((settings, initial))
        });
        let Some((settings, initial)) = initial else {
            return Self::grown(names, view, "what is left of the total".to_owned(), Vec::new());
        };
        let parts = vec![
            ("initial_ms", json!(Ms(initial)), PolicyField::InitialRpcTimeout),
            ("multiplier", json!(settings.rpc_timeout_multiplier()), PolicyField::RpcTimeoutMultiplier),
            ("max_ms", json!(settings.max_rpc_timeout().map(Ms)), PolicyField::MaxRpcTimeout),
        ];
        Self::grown(names, view, rpc_timeout(settings), parts)
    }
}

/// All facts of a method, in the order in which changes are shown.
pub(super) fn facts(view: &MethodView<'_>) -> [Fact; 16] {
    let place = |field| view.origin_of(field);
    let settings = view.settings();
    let total = settings.and_then(RetrySettings::total_timeout);
    let server_delay =
        settings.and_then(RetrySettings::max_server_delay).filter(|_| !view.codes().is_empty());
    let server_delay_words = server_delay.map_or_else(|| "default".to_owned(), |time| limit(Some(time)));
    let attempts = view.max_attempts().filter(|_| !view.codes().is_empty() || view.hedging().is_some());
    let none = || "none".to_owned();
    let idempotent = match view.idempotent() {
        None => "not said",
        Some(true) => "yes",
        Some(false) => "no",
    };
    [
        Fact::new(
            ["entry", "policy"],
            json!(view.policy.is_some()),
            if view.policy.is_some() { "yes" } else { "none" },
            view.origin(),
        ),
        Fact::codes(["codes", "retryable codes"], view.codes(), place(PolicyField::RetryableCodes)),
        Fact::codes(
            ["only_with_server_delay", "only with a server's delay"],
            view.only_with_server_delay(),
            place(PolicyField::OnlyWithServerDelay),
        ),
        Fact::new(
            ["total_timeout_ms", "total timeout"],
            json!(total.map(Ms)),
            limit(total),
            place(PolicyField::TotalTimeout),
        ),
        Fact::rpc_timeout(view),
        Fact::delay(view),
        Fact::new(
            ["max_server_delay_ms", "longest delay of a server"],
            json!(server_delay.map(Ms)),
            server_delay_words,
            place(PolicyField::MaxServerDelay),
        ),
        Fact::computed(["first_retry_ms", "first retry"], view.starts().get(1).copied(), "none"),
        Fact::computed(["worst_case_ms", "worst case"], view.worst_case(), "unbounded"),
        Fact::new(
            ["attempts", "attempts"],
            json!(attempts),
            attempts.map_or_else(|| "no limit".to_owned(), |count| count.to_string()),
            place(PolicyField::MaxAttempts),
        ),
        Fact::new(
            ["load", "in an outage"],
            json!(view.load()),
            format!("{} attempts", view.load_text()),
            None,
        ),
        Fact::new(
            ["attempts_of_silence", "if nothing replies"],
            json!(view.attempts_of_silence()),
            format!("{} of a call", view.silence()),
            None,
        ),
        Fact::new(
            ["hedging", "hedging"],
            json!(view.hedging().map(hedging_members)),
            view.hedging().map_or_else(none, hedging),
            place(PolicyField::Hedging),
        ),
        Fact::new(
            ["idempotent", "idempotent"],
            json!(view.idempotent()),
            idempotent,
            place(PolicyField::Idempotent),
        ),
        Fact::new(
            ["polling", "polling"],
            json!(view.polling().map(polling_members)),
            view.polling().map_or_else(none, polling),
            None,
        ),
        Fact::new(
            ["batching", "batching"],
            json!(view.batching().map(batching_members)),
            view.batching().map_or_else(none, batching),
            None,
        ),
    ]
}
