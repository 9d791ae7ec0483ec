//! A table as a client config of Google's Node generator.

use super::definitions::Definitions;
use super::fields::{code_list, lacks_cap, millis, object, seven_fields, with_delays};
use super::object_hash::object_hash;
use super::services::{Service, services};
use crate::ServiceDescription;
use crate::convert::conversion::Conversion;
use crate::convert::losses::{Losses, Whom};
use crate::convert::proxy::call_timeout;
use crate::convert::text::{json_text, member, string};
use crate::document::Node;
use crate::model::Entry;
use crate::{MethodPolicy, RetryTable};
use gax_retry::__private::unchecked;
use gax_retry::{Code, CodeSet, RetrySettings};
use std::time::Duration;

/// The text of a client config.
pub(in crate::convert) fn write_client_config(
    table: &RetryTable,
    known: &[ServiceDescription],
) -> Conversion {
    let mut losses = Losses::new("a client config", table);
    losses.lose_suppressions();
    losses.lose_throttling("leave it to a gRPC service config");
    let nothing = Entry::nothing();
    let services = services(table, known, &nothing, &mut losses);
    losses.lose_extras(|_| false);
    let interfaces =
        services.iter().map(|service| member(service.name, client(service, &mut losses))).collect();
    let text = json_text(&object(vec![member("interfaces", object(interfaces))]));
    Conversion { text, findings: losses.into_findings() }
}

fn client(service: &Service<'_>, losses: &mut Losses<'_>) -> Node {
    let mut codes = Definitions::<CodeSet>::new();
    codes.add(CodeSet::EMPTY, "non_idempotent");
    codes.add(CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]), "idempotent");
    let mut params = Definitions::<RetrySettings>::new();
    let default = node_params(Duration::from_millis(100), 1.3, Duration::from_secs(60));
    params.add(default, "default");
    let mut methods = Vec::new();
    for (name, policy) in &service.methods {
        let whom = losses.whom(service.name, name);
        lose(&whom, *policy, losses);
        let mut fields = Vec::new();
        match call_timeout(*policy) {
            Some(timeout) => fields.push(member("timeout_millis", millis(timeout))),
            None => {
                losses.lose_of(&whom, "a call without a timeout", "without timeout_millis it has 30 s");
            }
        }
        let codes_name = codes.name_of(policy.codes(), &code_name(policy.codes()));
        let params_name = if policy.codes().is_empty() {
            "default".to_owned()
        } else {
            let wanted = params_of(&with_delays(&whom, policy.settings(), losses));
            let hash = object_hash(&seven_fields(&wanted));
            params.name_of(wanted, &hash)
        };
        fields.push(member("retry_codes_name", string(codes_name)));
        fields.push(member("retry_params_name", string(params_name)));
        methods.push(member(name, object(fields)));
    }
    let codes = codes.iter().map(|(name, codes)| member(name, code_list(*codes))).collect();
    let params = params.iter().map(|(name, settings)| member(name, object(seven_fields(settings)))).collect();
    object(vec![
        member("retry_codes", object(codes)),
        member("retry_params", object(params)),
        member("methods", object(methods)),
    ])
}

/// Notes what the form can't say of a method that is retried.
fn lose(whom: &Whom, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) {
    let settings = policy.settings();
    if policy.codes().is_empty() {
        return;
    }
    if settings.initial_rpc_timeout() != settings.total_timeout() {
        losses.lose_of(whom, "the timeout of single attempts", "an attempt may take all of the timeout");
    }
    if lacks_cap(settings) {
        losses.lose_of(whom, "a delay without a cap", "a cap of zero is written, which Node takes for one");
    }
}

fn params_of(settings: &RetrySettings) -> RetrySettings {
    let builder = node_params(Duration::ZERO, 1.0, Duration::ZERO)
        .to_builder()
        .initial_retry_delay(settings.initial_retry_delay())
        .retry_delay_multiplier(settings.retry_delay_multiplier())
        .max_retry_delay(settings.max_retry_delay());
    unchecked(builder)
}

/// The params that Google's Node generator writes: its timeouts are constants that nothing reads.
fn node_params(initial: Duration, multiplier: f64, max: Duration) -> RetrySettings {
    let minute = Duration::from_secs(60);
    let builder = RetrySettings::builder()
        .total_timeout(Duration::from_secs(600))
        .initial_retry_delay(initial)
        .retry_delay_multiplier(multiplier)
        .max_retry_delay(max)
        .initial_rpc_timeout(minute)
        .max_rpc_timeout(minute);
    unchecked(builder)
}

/// A set's name in Google's Node clients: its codes in the order of their numbers.
fn code_name(codes: CodeSet) -> String {
    codes.iter().map(|code| code.name().to_ascii_lowercase()).collect::<Vec<_>>().join("_")
}
