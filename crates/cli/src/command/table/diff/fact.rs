//! The facts of a method that two tables are compared by.

use crate::command::table::view::{
    MethodView, batching, batching_members, code_names, codes_text, count_limit, delay, hedging,
    hedging_members, limit, ms, polling, polling_members, rpc_timeout, short_place,
};
use crate::render::Ms;
use gax_retry::RetrySettings;
use gax_table::{PolicyField as Field, SourceLocation};
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
        what: &'static str,
        name: &'static str,
        value: Value,
        words: impl Into<String>,
        place: Option<&SourceLocation>,
    ) -> Self {
        let parts = vec![(value.clone(), place.map(short_place))];
        Self { what, name, value, words: words.into(), parts }
    }

    /// A time that nothing in the table gives as it is.
    fn computed(what: &'static str, name: &'static str, time: Option<Duration>, none: &str) -> Self {
        let words = time.map_or_else(|| none.to_owned(), |time| Ms(time).to_string());
        Self::new(what, name, json!(time.map(Ms)), words, None)
    }

    /// Times that grow from attempt to attempt, of several values.
    fn grown(
        what: &'static str,
        name: &'static str,
        words: String,
        view: &MethodView<'_>,
        parts: Option<Vec<(&'static str, Value, Field)>>,
    ) -> Self {
        let member = |(name, value, _): &(&'static str, Value, Field)| ((*name).to_owned(), value.clone());
        let value = parts.as_ref().map_or(Value::Null, |parts| parts.iter().map(member).collect());
        let place = |field| view.origin_of(field).map(short_place);
        let parts = parts.into_iter().flatten().map(|(_, value, field)| (value, place(field))).collect();
        Self { what, name, value, words, parts }
    }

    fn delay(view: &MethodView<'_>) -> Self {
        let (policy, dialect) = (view.policy.filter(|_| view.is_retried()), view.table.dialect());
        let words = policy.map_or_else(|| "none".to_owned(), |policy| delay(policy, dialect));
        let parts = policy.map(|policy| {
            let delays = policy.settings().retry_delays(dialect.compatibility());
            vec![
                ("initial_ms", json!(Ms(delays.initial())), Field::InitialRetryDelay),
                ("multiplier", json!(delays.multiplier()), Field::RetryDelayMultiplier),
                ("max_ms", json!(delays.max().map(Ms)), Field::MaxRetryDelay),
                ("jittered", json!(policy.settings().jittered()), Field::Jittered),
            ]
        });
        Self::grown("delay", "delay", words, view, parts)
    }

    fn rpc_timeout(view: &MethodView<'_>) -> Self {
        let is_below_total = |settings: &&RetrySettings| {
            let total = settings.total_timeout();
            settings.initial_rpc_timeout().is_some_and(|initial| total.is_none_or(|total| initial < total))
        };
        let settings = view.settings().filter(is_below_total);
        let words = settings.map_or_else(|| "what is left of the total".to_owned(), rpc_timeout);
        let parts = settings.map(|settings| {
            vec![
                ("initial_ms", json!(settings.initial_rpc_timeout().map(Ms)), Field::InitialRpcTimeout),
                ("multiplier", json!(settings.rpc_timeout_multiplier()), Field::RpcTimeoutMultiplier),
                ("max_ms", json!(settings.max_rpc_timeout().map(Ms)), Field::MaxRpcTimeout),
            ]
        });
        Self::grown("rpc_timeout", "RPC timeout", words, view, parts)
    }
}

/// All facts of a method, in the order in which changes are shown.
pub(super) fn facts(view: &MethodView<'_>) -> [Fact; 18] {
    let (place, settings) = (|field| view.origin_of(field), view.settings());
    let has_entry = view.policy.is_some();
    let (codes, only) = (view.codes(), view.only_with_server_delay());
    let total = settings.and_then(RetrySettings::total_timeout);
    let longest = settings.and_then(RetrySettings::max_server_delay).filter(|_| !codes.is_empty());
    let longest_words = longest.map_or_else(|| "default".to_owned(), |time| limit(Some(time)));
    let most = view.max_attempts().filter(|_| !codes.is_empty() || view.hedging().is_some());
    let most_words = count_limit(most);
    let (load, silence) = (format!("{} attempts", view.load_text()), format!("{} of a call", view.silence()));
    let none = || "none".to_owned();
    let hedged = view.hedging().map_or_else(none, hedging);
    let polled = view.polling().map_or_else(none, polling);
    let batched = view.batching().map_or_else(none, batching);
    let idempotent = view.idempotent().map_or("not said", |idempotent| if idempotent { "yes" } else { "no" });
    let of_hedging = json!(view.hedging().map(hedging_members));
    let of_polling = json!(view.polling().map(polling_members));
    let of_batching = json!(view.batching().map(batching_members));
    let wait = view.policy.and_then(|policy| policy.wait_timeout());
    let idle = view.policy.and_then(|policy| policy.idle_timeout());
    let entry = if has_entry { "yes" } else { "none" };
    let only_place = place(Field::OnlyWithServerDelay);
    let named = |codes| json!(code_names(codes));
    [
        Fact::new("entry", "policy", has_entry.into(), entry, view.origin()),
        Fact::new("codes", "retryable codes", named(codes), codes_text(codes), place(Field::RetryableCodes)),
        Fact::new(
            "only_with_server_delay",
            "only with a server's delay",
            named(only),
            codes_text(only),
            only_place,
        ),
        Fact::new("total_timeout_ms", "total timeout", ms(total), limit(total), place(Field::TotalTimeout)),
        Fact::rpc_timeout(view),
        Fact::delay(view),
        Fact::new(
            "max_server_delay_ms",
            "longest delay of a server",
            ms(longest),
            longest_words,
            place(Field::MaxServerDelay),
        ),
        Fact::computed("first_retry_ms", "first retry", view.starts().get(1).copied(), "none"),
        Fact::computed("worst_case_ms", "worst case", view.worst_case(), "unbounded"),
        Fact::new("attempts", "attempts", most.into(), most_words, place(Field::MaxAttempts)),
        Fact::new("load", "in an outage", view.load().into(), load, None),
        Fact::new(
            "attempts_of_silence",
            "if nothing replies",
            view.attempts_of_silence().into(),
            silence,
            None,
        ),
        Fact::new("hedging", "hedging", of_hedging, hedged, place(Field::Hedging)),
        Fact::new("wait_timeout_ms", "wait timeout of streams", ms(wait), limit(wait), None),
        Fact::new("idle_timeout_ms", "idle timeout of streams", ms(idle), limit(idle), None),
        Fact::new("idempotent", "idempotent", view.idempotent().into(), idempotent, place(Field::Idempotent)),
        Fact::new("polling", "polling", of_polling, polled, None),
        Fact::new("batching", "batching", of_batching, batched, None),
    ]
}
