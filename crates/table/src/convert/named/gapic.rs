//! A table as GAPIC YAML of schema 1.

use super::definitions::{Definitions, Method};
use super::fields::{code_list, lacks_cap, millis, number, seven_fields, with_delays};
use super::services::{Service, services};
use crate::convert::losses::{Losses, Subject};
use crate::convert::text::{Value, field, object, string, write_yaml};
use crate::model::TableEntry;
use crate::{Finding, MethodPolicy, RetryTable, ServiceDescription, SettingsKey};
use gax_retry::{CodeSet, Compatibility, RetrySettings};
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// Writes the text of GAPIC YAML.
pub(in crate::convert) fn write_gapic(
    table: &RetryTable,
    known: &[ServiceDescription],
    out: &mut dyn fmt::Write,
) -> Result<Vec<Finding>, fmt::Error> {
    let mut losses = Losses::new("GAPIC YAML", table);
    losses.lose_suppressions();
    losses.lose_throttling("leave it to a gRPC service config");
    let nothing = TableEntry::nothing();
    let services = services(table, known, &nothing, &mut losses);
    let written =
        services.iter().flat_map(|service| service.methods.iter().map(|(name, _)| (service.name, *name)));
    let written: HashSet<(&str, &str)> = written.collect();
    losses.lose_extras(|name| written.contains(&(&*name.service, &*name.method)));
    drop(written);
    let interfaces = services.iter().map(|service| interface(table, service, &mut losses));
    let config = object(vec![
        field("type", string("com.google.api.codegen.ConfigProto")),
        field("config_schema_version", string("1.0.0")),
        field("interfaces", Value::elements(interfaces)),
    ]);
    write_yaml(config, out)?;
    Ok(losses.into_findings())
}

fn interface<'a>(table: &'a RetryTable, service: &Service<'a>, losses: &mut Losses<'_>) -> Value<'a> {
    let mut codes = Definitions::new(|codes: &CodeSet| *codes);
    let mut params = Definitions::new(|settings: &RetrySettings| SettingsKey::from(settings));
    for named in table.definitions(service.name) {
        for (name, set) in &named.codes {
            codes.add(*set, name);
        }
        for (name, settings) in &named.params {
            params.add(settings.clone(), name);
        }
    }
    let mut methods = Vec::with_capacity(service.methods.len());
    for (name, policy) in &service.methods {
        let subject = losses.subject(service.name, name);
        let settings = writable(&subject, *policy, losses);
        let timeout = settings.total_timeout();
        let codes = codes.add(policy.codes(), policy.codes_key());
        methods.push(Method { name, codes, params: params.add(settings, policy.params_key()), timeout });
    }
    let codes = codes.all.into_iter().map(|(name, codes)| {
        object(vec![field("name", string(name.to_string())), field("retry_codes", code_list(codes))])
    });
    let params = params.all.into_iter().map(|(name, settings)| {
        let mut fields = vec![field("name", string(name.to_string()))];
        fields.extend(seven_fields(&settings));
        object(fields)
    });
    let service = service.name;
    let methods = methods.into_iter().map(move |method| {
        let mut fields = vec![
            field("name", string(method.name)),
            field("retry_codes_name", string(method.codes.to_string())),
            field("retry_params_name", string(method.params.to_string())),
        ];
        fields.extend(method.timeout.map(|total| field("timeout_millis", millis(total))));
        let polling = table.own_polling(service, method.name);
        fields
            .extend(polling.map(|polling| {
                field("long_running", long_running(polling, table.dialect().compatibility()))
            }));
        object(fields)
    });
    object(vec![
        field("name", string(service)),
        field("retry_codes_def", Value::elements(codes)),
        field("retry_params_def", Value::elements(params)),
        field("methods", Value::elements(methods)),
    ])
}

/// The settings as the form can say them: times in whole milliseconds, and no number of attempts.
fn writable(subject: &Subject, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) -> RetrySettings {
    let retried = !policy.codes().is_empty();
    let settings =
        if retried { with_delays(subject, policy.settings(), losses) } else { policy.settings().clone() };
    let set = |time: Option<Duration>| time.map(whole);
    let same = settings.to_builder().max_attempts(None).jittered(true);
    let rounded = (same.clone())
        .total_timeout(set(settings.total_timeout()))
        .initial_retry_delay(set(settings.initial_retry_delay()))
        .max_retry_delay(set(settings.max_retry_delay()))
        .initial_rpc_timeout(set(settings.initial_rpc_timeout()))
        .max_rpc_timeout(set(settings.max_rpc_timeout()));
    let written = rounded.build_unchecked();
    if written != same.build_unchecked() {
        losses.approximate(subject, "times are rounded", "the format has whole milliseconds");
    }
    if lacks_cap(&settings) && retried {
        let help = "a cap of zero is written, which other readers may treat as a cap";
        losses.lose_of(subject, "a delay without a cap", help);
    }
    written
}

/// The time in whole milliseconds, the nearest; what is above zero stays above zero.
fn whole(time: Duration) -> Duration {
    let nanos = time.as_nanos();
    let millis = (nanos + 500_000) / 1_000_000;
    let millis = if nanos > 0 { millis.max(1) } else { 0 };
    u64::try_from(millis).map_or(time, Duration::from_millis)
}

fn long_running<'v>(polling: &RetrySettings, compatibility: Compatibility) -> Value<'v> {
    let delays = polling.retry_delays(compatibility);
    object(vec![
        field("initial_poll_delay_millis", millis(whole(delays.initial()))),
        field("poll_delay_multiplier", number(delays.multiplier())),
        field("max_poll_delay_millis", millis(whole(delays.max().unwrap_or_default()))),
        field("total_poll_timeout_millis", millis(whole(polling.total_timeout().unwrap_or_default()))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_whole_milliseconds() {
        for (micros, millis) in [(0, 0), (1, 1), (499, 1), (1499, 1), (1500, 2), (60_000_000, 60_000)] {
            assert_eq!(whole(Duration::from_micros(micros)), Duration::from_millis(millis), "{micros}");
        }
    }
}
