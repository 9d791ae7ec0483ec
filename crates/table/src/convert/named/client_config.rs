//! A table as a client config of Google's Node generator.

use super::definitions::{Definitions, Method};
use super::fields::{code_list, lacks_cap, millis, seven_fields, with_delays};
use super::services::{Service, services};
use crate::convert::losses::Losses;
use crate::convert::proxy::call_timeout;
use crate::convert::text::{Field, Value, field, object, string, write_json};
use crate::model::TableEntry;
use crate::{Finding, RetryTable, ServiceDescription, SettingsKey};
use gax_retry::{Code, CodeSet, RetrySettings};
use std::fmt;
use std::fmt::Write as _;
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
    let mut codes = Definitions::new(|codes: &CodeSet| *codes);
    codes.add(CodeSet::EMPTY, "non_idempotent");
    codes.add(CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]), "idempotent");
    let mut params = Definitions::new(|settings: &RetrySettings| SettingsKey::from(settings));
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
        let codes = codes.name_of(policy.codes(), &code_name(policy.codes()));
        let params = if policy.codes().is_empty() {
            default.clone()
        } else {
            let settings = with_delays(&subject, policy.settings(), losses);
            if lacks_cap(&settings) {
                let help = "a cap of zero is written, which Node treats as a cap";
                losses.lose_of(&subject, "a delay without a cap", help);
            }
            let wanted = params_of(&settings);
            let hash = object_hash(&seven_fields(&wanted));
            params.name_of(wanted, &hash)
        };
        methods.push(Method { name, timeout, codes, params });
    }
    let codes = codes.all.into_iter().map(|(name, codes)| field(name.to_string(), code_list(codes)));
    let params = params
        .all
        .into_iter()
        .map(|(name, settings)| field(name.to_string(), object(seven_fields(&settings))));
    let methods = methods.into_iter().map(move |method| {
        let timeout = method.timeout.map(|timeout| field("timeout_millis", millis(timeout)));
        let mut fields: Vec<_> = timeout.into_iter().collect();
        fields.push(field("retry_codes_name", string(method.codes.to_string())));
        fields.push(field("retry_params_name", string(method.params.to_string())));
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

/// How the npm package `object-hash` puts into words that something is a plain object: the prototype and
/// constructor that every such object has.
const PLAIN_OBJECT: &str = "string:9:prototype:Undefined,string:9:__proto__:\
object:3:string:9:prototype:Undefined,string:9:__proto__:Null,string:11:constructor:\
fn:string:8:[native]string:20:function-name:Objectobject:0:,,string:11:constructor:\
fn:string:8:[native]string:20:function-name:Objectstring:12:[CIRCULAR:2],";

/// The SHA-1 that the npm package `object-hash` computes for an object whose values are numbers.
fn object_hash(fields: &[Field<'_>]) -> String {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by(|one, other| one.key.cmp(&other.key));
    let mut text = format!("object:{}:{PLAIN_OBJECT}", sorted.len() + 3);
    for field in sorted {
        if let Value::Number(number) = &field.value {
            let _infallible = write!(text, "string:{}:{}:number:{number},", field.key.len(), field.key);
        }
    }
    sha1_smol::Sha1::from(text).digest().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::text::field;

    #[test]
    fn names_are_those_of_published_clients() {
        for (initial, multiplier, max, name) in [
            ("100", "4", "60000", "693222d32e887d96c8faeadca469f7763ccda85a"),
            ("100", "1.3", "30000", "71ca22c74d2828b200f9ff1cc285a8beb96cc2af"),
            ("2000", "2", "60000", "dd71b8c1d82d51c18ce5ba426d9acc4c44e7746e"),
            ("1000", "2", "60000", "264268458a9e88347dbacbd9398202ff5885a40b"),
        ] {
            let fields = [
                ("initial_retry_delay_millis", initial),
                ("retry_delay_multiplier", multiplier),
                ("max_retry_delay_millis", max),
                ("initial_rpc_timeout_millis", "60000"),
                ("rpc_timeout_multiplier", "1"),
                ("max_rpc_timeout_millis", "60000"),
                ("total_timeout_millis", "600000"),
            ]
            .map(|(key, number)| field(key, Value::Number(number.into())));
            assert_eq!(object_hash(&fields), name);
        }
    }
}
