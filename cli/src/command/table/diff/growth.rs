//! Times that grow from attempt to attempt, as a table has them.

use crate::command::table::show::text::{delay, rpc_timeout};
use crate::render::Ms;
use gax_retry::RetrySettings;
use gax_table::{Dialect, MethodPolicy, PolicyField, SourceLocation};
use serde_json::{Map, Value, json};

/// The delays between attempts, or their timeouts.
#[derive(Debug, Clone)]
pub(super) struct Growth {
    pub(super) words: String,
    parts: Vec<Part>,
}

/// One of the values.
#[derive(Debug, Clone)]
struct Part {
    name: &'static str,
    value: Value,
    place: Option<SourceLocation>,
}

impl Growth {
    /// The delays; `None`: nothing is retried one after the other.
    pub(super) fn of_delay(policy: MethodPolicy<'_>, dialect: Dialect) -> Option<Self> {
        if policy.codes().is_empty() || policy.hedging().is_some() {
            return None;
        }
        let settings = policy.settings();
        let delays = settings.retry_delays(dialect.compatibility());
        let parts = [
            ("initial_ms", json!(Ms(delays.initial())), PolicyField::InitialRetryDelay),
            ("multiplier", json!(delays.multiplier()), PolicyField::RetryDelayMultiplier),
            ("max_ms", json!(delays.max().map(Ms)), PolicyField::MaxRetryDelay),
            ("jittered", json!(settings.jittered()), PolicyField::Jittered),
        ];
        Some(Self::new(policy, delay(policy, dialect), parts))
    }

    /// The RPC timeouts; `None`: an attempt may use all that is left of the total.
    pub(super) fn of_rpc_timeout(policy: MethodPolicy<'_>) -> Option<Self> {
        let settings: &RetrySettings = policy.settings();
        let initial = settings.initial_rpc_timeout()?;
        if settings.total_timeout().is_some_and(|total| initial >= total) {
            return None;
        }
        let parts = [
            ("initial_ms", json!(Ms(initial)), PolicyField::InitialRpcTimeout),
            ("multiplier", json!(settings.rpc_timeout_multiplier()), PolicyField::RpcTimeoutMultiplier),
            ("max_ms", json!(settings.max_rpc_timeout().map(Ms)), PolicyField::MaxRpcTimeout),
        ];
        Some(Self::new(policy, rpc_timeout(settings), parts))
    }

    fn new<const N: usize>(
        policy: MethodPolicy<'_>,
        words: String,
        parts: [(&'static str, Value, PolicyField); N],
    ) -> Self {
        let place = |field| policy.origin_of(field).cloned();
        let parts = parts.into_iter().map(|(name, value, field)| Part { name, value, place: place(field) });
        Self { words, parts: parts.collect() }
    }

    /// All values, for programs.
    pub(super) fn value(&self) -> Value {
        let members = self.parts.iter().map(|part| (part.name.to_owned(), part.value.clone()));
        Value::Object(members.collect::<Map<_, _>>())
    }

    /// The places of the first value that is not the same on both sides.
    pub(super) fn places(both: [Option<&Self>; 2]) -> [Option<SourceLocation>; 2] {
        if let [Some(was), Some(is)] = both {
            let mut parts = was.parts.iter().zip(&is.parts);
            let differing = parts.find(|(was, is)| was.value != is.value);
            return differing.map_or([None, None], |(was, is)| [was.place.clone(), is.place.clone()]);
        }
        both.map(|side| side.and_then(|side| side.parts.iter().find_map(|part| part.place.clone())))
    }
}
