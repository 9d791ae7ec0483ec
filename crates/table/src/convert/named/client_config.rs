//! A table as a client config of Google's Node generator.

use super::definitions::{Definitions, Method, Names};
use super::fields::{code_list, lacks_cap, millis, seven_fields, with_delays};
use super::object_hash::object_hash;
use super::services::{Service, services};
use crate::convert::losses::Losses;
use crate::convert::proxy::call_timeout;
use crate::convert::text::{Value, field, object, string, write_json};
use crate::model::TableEntry;
use crate::{Finding, RetryTable, ServiceDescription};
use gax_retry::{Code, CodeSet, RetrySettings};
use std::fmt;
use std::time::Duration;

/// Writes the text of a client config.
pub(in crate::convert) fn write_client_config(
    table: &RetryTable,
    known: &[ServiceDescription],
    out: &mut dyn fmt::Write,
) -> Result<Vec<Finding>, fmt::Error> {
    let mut losses = Losses::new("a client config", table);
    losses.lose_suppressions();
    losses.lose_throttling("leave it to a gRPC service config");
    let nothing = TableEntry::nothing();
    let services = services(table, known, &nothing, &mut losses);
    losses.lose_extras(|_| false);
    let interfaces = services.iter().map(|service| field(service.name, client(service, &mut losses)));
    write_json(object(vec![field("interfaces", Value::fields(interfaces))]), out)?;
    Ok(losses.into_findings())
}

fn client<'a>(service: &Service<'a>, losses: &mut Losses<'_>) -> Value<'a> {
    let mut codes = Definitions::<CodeSet>::new();
    codes.add(CodeSet::EMPTY, "non_idempotent");
    codes.add(CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]), "idempotent");
    let mut params = Definitions::<RetrySettings>::new();
    let default = node_params(Duration::from_millis(100), 1.3, Duration::from_secs(60));
    let default = params.add(default, "default");
    let mut methods = Vec::with_capacity(service.methods.len());
    for (name, policy) in &service.methods {
        let subject = losses.subject(service.name, name);
        let has_own_timeout = policy.settings().initial_rpc_timeout() != policy.settings().total_timeout();
        if !policy.codes().is_empty() && has_own_timeout {
            let help = "an attempt may take all of the timeout";
            losses.lose_of(&subject, "the timeout of single attempts", help);
        }
        let timeout = call_timeout(*policy);
        if timeout.is_none() {
            losses.lose_of(&subject, "a call without a timeout", "without timeout_millis it has 30 s");
        }
        let codes = codes.number_of(policy.codes(), &code_name(policy.codes()));
        let params = if policy.codes().is_empty() {
            default
        } else {
            let settings = with_delays(&subject, policy.settings(), losses);
            if lacks_cap(&settings) {
                let help = "a cap of zero is written, which Node treats as a cap";
                losses.lose_of(&subject, "a delay without a cap", help);
            }
            let wanted = params_of(&settings);
            let hash = object_hash(&seven_fields(&wanted));
            params.number_of(wanted, &hash)
        };
        methods.push(Method { name, timeout, codes, params });
    }
    let names = Names::of(&codes, &params);
    let codes = codes.into_iter().map(|(name, codes)| field(name.to_string(), code_list(codes)));
    let params =
        params.into_iter().map(|(name, settings)| field(name.to_string(), object(seven_fields(&settings))));
    let methods = methods.into_iter().map(move |method| {
        let timeout = method.timeout.map(|timeout| field("timeout_millis", millis(timeout)));
        let mut fields: Vec<_> = timeout.into_iter().collect();
        fields.push(field("retry_codes_name", string(names.codes(method.codes))));
        fields.push(field("retry_params_name", string(names.params(method.params))));
        field(method.name, object(fields))
    });
    object(vec![
        field("retry_codes", Value::fields(codes)),
        field("retry_params", Value::fields(params)),
        field("methods", Value::fields(methods)),
    ])
}

fn params_of(settings: &RetrySettings) -> RetrySettings {
    let builder = node_params(Duration::ZERO, 1.0, Duration::ZERO)
        .to_builder()
        .initial_retry_delay(settings.initial_retry_delay())
        .retry_delay_multiplier(settings.retry_delay_multiplier())
        .max_retry_delay(settings.max_retry_delay());
    builder.build_unchecked()
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
    builder.build_unchecked()
}

/// A set's name in Google's Node clients: its codes in the order of their numbers.
fn code_name(codes: CodeSet) -> String {
    codes.iter().map(|code| code.name().to_ascii_lowercase()).collect::<Vec<_>>().join("_")
}
