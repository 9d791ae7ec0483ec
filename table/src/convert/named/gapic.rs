//! A table as GAPIC YAML of schema 1.

use super::definitions::Definitions;
use super::fields::{code_list, lacks_cap, millis, number, object, seven_fields, with_delays};
use super::services::{Service, services};
use crate::ServiceDescription;
use crate::convert::conversion::Conversion;
use crate::convert::losses::{Losses, Whom};
use crate::convert::text::yaml_text;
use crate::convert::text::{member, string, value};
use crate::document::{Kind, Node};
use crate::model::Entry;
use crate::{MethodPolicy, RetryTable};
use gax_retry::__private::unchecked;
use gax_retry::{CodeSet, RetrySettings};
use std::time::Duration;

/// The text of GAPIC YAML.
pub(in crate::convert) fn write_gapic(table: &RetryTable, known: &[ServiceDescription]) -> Conversion {
    let mut losses = Losses::new("GAPIC YAML", table);
    losses.lose_suppressions();
    losses.lose_throttling("leave it to a gRPC service config");
    let nothing = Entry::nothing();
    let services = services(table, known, &nothing, &mut losses);
    losses.lose_extras(|name| {
        let service = services.iter().find(|service| service.name == name.service);
        service.is_some_and(|service| service.methods.iter().any(|(method, _)| *method == name.method))
    });
    let interfaces = services.iter().map(|service| interface(table, service, &mut losses)).collect();
    let text = yaml_text(&object(vec![
        member("type", string("com.google.api.codegen.ConfigProto")),
        member("config_schema_version", string("1.0.0")),
        member("interfaces", value(Kind::Array(interfaces))),
    ]));
    Conversion { text, findings: losses.into_findings() }
}

fn interface(table: &RetryTable, service: &Service<'_>, losses: &mut Losses<'_>) -> Node {
    let mut codes = Definitions::<CodeSet>::new();
    let mut params = Definitions::<RetrySettings>::new();
    for named in table.definitions(service.name) {
        for (name, set) in &named.codes {
            codes.add(*set, name);
        }
        for (name, settings) in &named.params {
            params.add(settings.clone(), name);
        }
    }
    let mut methods = Vec::new();
    for (name, policy) in &service.methods {
        let whom = losses.whom(service.name, name);
        let settings = writable(&whom, *policy, losses);
        let mut fields = vec![
            member("name", string(*name)),
            member("retry_codes_name", string(codes.add(policy.codes(), policy.codes_key()))),
            member("retry_params_name", string(params.add(settings.clone(), policy.params_key()))),
        ];
        if let Some(total) = settings.total_timeout() {
            fields.push(member("timeout_millis", millis(total)));
        }
        if let Some(polling) = table.polling(service.name, name) {
            fields.push(member("long_running", long_running(polling)));
        }
        methods.push(object(fields));
    }
    let codes = codes.iter().map(|(name, codes)| {
        object(vec![member("name", string(name)), member("retry_codes", code_list(*codes))])
    });
    let params = params.iter().map(|(name, settings)| {
        let mut fields = vec![member("name", string(name))];
        fields.extend(seven_fields(settings));
        object(fields)
    });
    object(vec![
        member("name", string(service.name)),
        member("retry_codes_def", value(Kind::Array(codes.collect()))),
        member("retry_params_def", value(Kind::Array(params.collect()))),
        member("methods", value(Kind::Array(methods))),
    ])
}

/// The settings as the form can say them: times in whole milliseconds, and no number of attempts.
fn writable(whom: &Whom, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) -> RetrySettings {
    let retried = !policy.codes().is_empty();
    let settings =
        if retried { with_delays(whom, policy.settings(), losses) } else { policy.settings().clone() };
    let set = |time: Option<Duration>| time.map(whole);
    let same = settings.to_builder().max_attempts(None).jittered(true);
    let rounded = (same.clone())
        .total_timeout(set(settings.total_timeout()))
        .initial_retry_delay(set(settings.initial_retry_delay()))
        .max_retry_delay(set(settings.max_retry_delay()))
        .initial_rpc_timeout(set(settings.initial_rpc_timeout()))
        .max_rpc_timeout(set(settings.max_rpc_timeout()));
    let written = unchecked(rounded);
    if written != unchecked(same) {
        losses.approximate(whom, "times are rounded", "the form has whole milliseconds");
    }
    if lacks_cap(&settings) && retried {
        let help = "a cap of zero is written, which other readers may take for one";
        losses.lose_of(whom, "a delay without a cap", help);
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

fn long_running(polling: &RetrySettings) -> Node {
    object(vec![
        member("initial_poll_delay_millis", millis(whole(polling.initial_retry_delay().unwrap_or_default()))),
        member("poll_delay_multiplier", number(polling.retry_delay_multiplier().unwrap_or(1.0))),
        member("max_poll_delay_millis", millis(whole(polling.max_retry_delay().unwrap_or_default()))),
        member("total_poll_timeout_millis", millis(whole(polling.total_timeout().unwrap_or_default()))),
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
