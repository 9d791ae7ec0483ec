//! A table as GAPIC YAML of schema 1, or as a client config: methods that name their definitions.

use super::conversion::Conversion;
use super::json::{json_text, member, number_text, string, value};
use super::losses::{Losses, shown};
use super::yaml::yaml_text;
use crate::table::document::{Kind, Member, Node};
use crate::table::{MethodPolicy, RetryTable};
use crate::{Code, CodeSet, RetrySettings};
use std::time::Duration;

/// A service with its methods, in the order in which the table names them.
struct Service<'a> {
    name: &'a str,
    methods: Vec<(&'a str, MethodPolicy<'a>)>,
}

/// The text of GAPIC YAML.
pub(super) fn write_gapic(table: &RetryTable) -> Conversion {
    let mut losses = Losses::new("GAPIC YAML");
    let services = services(table, &mut losses);
    let interfaces = services.iter().map(|service| interface(table, service, &mut losses)).collect();
    let text = yaml_text(&object(vec![
        member("type", string("com.google.api.codegen.ConfigProto")),
        member("config_schema_version", string("1.0.0")),
        member("interfaces", value(Kind::Array(interfaces))),
    ]));
    Conversion { text, findings: losses.into_findings() }
}

/// The text of a client config.
pub(super) fn write_client_config(table: &RetryTable) -> Conversion {
    let mut losses = Losses::new("a client config");
    let services = services(table, &mut losses);
    let interfaces =
        services.iter().map(|service| member(service.name, client(service, &mut losses))).collect();
    let text = json_text(&object(vec![member("interfaces", object(interfaces))]));
    Conversion { text, findings: losses.into_findings() }
}

/// The methods that the table names. What it says of services or of everything needs the names of their
/// methods, which only descriptors have.
fn services<'a>(table: &'a RetryTable, losses: &mut Losses) -> Vec<Service<'a>> {
    let mut services: Vec<Service<'a>> = Vec::new();
    for name in table.names() {
        let Some(method) = name.method().filter(|_| !name.service().is_empty()) else {
            let help = "write an entry for each method";
            losses.lose_of(
                &shown(name.service(), name.method().unwrap_or("")),
                "a default for methods",
                help,
            );
            continue;
        };
        let Some(policy) = table.lookup(name.service(), method) else { continue };
        let place = services.iter().position(|service| service.name == name.service());
        let place = place.unwrap_or_else(|| {
            services.push(Service { name: name.service(), methods: Vec::new() });
            services.len() - 1
        });
        if let Some(service) = services.get_mut(place)
            && !service.methods.iter().any(|(known, _)| *known == method)
        {
            service.methods.push((method, policy));
            let whom = shown(name.service(), method);
            if policy.settings().max_attempts().is_some() {
                losses.lose_of(&whom, "max_attempts", "only the timeout ends the retries");
            }
            if policy.hedging().is_some() {
                losses.lose_of(&whom, "hedging", "leave it to a gRPC service config");
            }
            if !policy.settings().jittered() {
                losses.lose_of(&whom, "jittered = false", "waits are drawn at random");
            }
        }
    }
    services
}

fn interface(table: &RetryTable, service: &Service<'_>, losses: &mut Losses) -> Node {
    let mut codes: Vec<(&str, CodeSet)> = Vec::new();
    let mut params: Vec<(&str, &RetrySettings)> = Vec::new();
    let mut methods = Vec::new();
    for (name, policy) in &service.methods {
        if !codes.iter().any(|(known, _)| *known == policy.codes_key()) {
            codes.push((policy.codes_key(), policy.codes()));
        }
        if !params.iter().any(|(known, _)| *known == policy.params_key()) {
            params.push((policy.params_key(), policy.settings()));
        }
        let mut fields = vec![
            member("name", string(*name)),
            member("retry_codes_name", string(policy.codes_key())),
            member("retry_params_name", string(policy.params_key())),
        ];
        if let Some(total) = policy.settings().total_timeout() {
            fields.push(member("timeout_millis", millis(total)));
        }
        if let Some(polling) = table.polling(service.name, name) {
            fields.push(member("long_running", long_running(polling)));
        }
        if table.batching(service.name, name).is_some() {
            let help = "its batch_descriptor names fields of the request, which only the protos have";
            losses.lose_of(&shown(service.name, name), "batching", help);
        }
        methods.push(object(fields));
    }
    let codes = codes.into_iter().map(|(name, codes)| {
        object(vec![member("name", string(name)), member("retry_codes", code_list(codes))])
    });
    let params = params.into_iter().map(|(name, settings)| {
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

fn client(service: &Service<'_>, losses: &mut Losses) -> Node {
    let idempotent = CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]);
    let mut codes =
        vec![("non_idempotent".to_owned(), CodeSet::EMPTY), ("idempotent".to_owned(), idempotent)];
    let mut params: Vec<(String, RetrySettings)> =
        vec![("default".to_owned(), node_params(100, 1.3, 60_000))];
    let mut methods = Vec::new();
    for (name, policy) in &service.methods {
        let (settings, whom) = (policy.settings(), shown(service.name, name));
        let has_own_attempts = settings.initial_rpc_timeout() != settings.total_timeout();
        if has_own_attempts {
            losses.lose_of(&whom, "the timeout of single attempts", "an attempt may take all of the timeout");
        }
        let codes_name = name_of(&mut codes, policy.codes(), |_| code_name(policy.codes()));
        let params_name = if policy.codes().is_empty() {
            "default".to_owned()
        } else {
            let wanted = RetrySettings {
                initial_retry_delay: settings.initial_retry_delay(),
                retry_delay_multiplier: settings.retry_delay_multiplier(),
                max_retry_delay: settings.max_retry_delay(),
                ..node_params(0, 1.0, 0)
            };
            name_of(&mut params, wanted, |count| format!("params_{count}"))
        };
        let mut fields = Vec::new();
        match settings.total_timeout() {
            Some(total) => fields.push(member("timeout_millis", millis(total))),
            None => losses.lose_of(&whom, "a call without a timeout", "without timeout_millis it has 30 s"),
        }
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

/// The params that Google's Node generator writes: its timeouts are constants that nothing reads.
fn node_params(initial: u64, multiplier: f64, max: u64) -> RetrySettings {
    let minute = Some(Duration::from_secs(60));
    RetrySettings {
        total_timeout: Some(Duration::from_secs(600)),
        initial_retry_delay: Duration::from_millis(initial),
        retry_delay_multiplier: multiplier,
        max_retry_delay: Some(Duration::from_millis(max)),
        initial_rpc_timeout: minute,
        max_rpc_timeout: minute,
        ..RetrySettings::default()
    }
}

/// The name of a definition, which is added if it is not there.
fn name_of<T: PartialEq>(
    definitions: &mut Vec<(String, T)>,
    wanted: T,
    name: impl Fn(usize) -> String,
) -> String {
    if let Some((name, _)) = definitions.iter().find(|(_, known)| *known == wanted) {
        return name.clone();
    }
    let name = name(definitions.len());
    definitions.push((name.clone(), wanted));
    name
}

/// A set's name in Google's Node clients: its codes in the order of their numbers.
fn code_name(codes: CodeSet) -> String {
    codes.iter().map(|code| code.name().to_ascii_lowercase()).collect::<Vec<_>>().join("_")
}

fn long_running(polling: &RetrySettings) -> Node {
    object(vec![
        member("initial_poll_delay_millis", millis(polling.initial_retry_delay())),
        member("poll_delay_multiplier", number(polling.retry_delay_multiplier())),
        member("max_poll_delay_millis", millis(polling.max_retry_delay().unwrap_or_default())),
        member("total_poll_timeout_millis", millis(polling.total_timeout().unwrap_or_default())),
    ])
}

/// The fields of params; a time of zero is one that is not set.
fn seven_fields(settings: &RetrySettings) -> Vec<Member> {
    let time = |time: Option<Duration>| millis(time.unwrap_or_default());
    vec![
        member("initial_retry_delay_millis", millis(settings.initial_retry_delay())),
        member("retry_delay_multiplier", number(settings.retry_delay_multiplier())),
        member("max_retry_delay_millis", time(settings.max_retry_delay())),
        member("initial_rpc_timeout_millis", time(settings.initial_rpc_timeout())),
        member("rpc_timeout_multiplier", number(settings.rpc_timeout_multiplier())),
        member("max_rpc_timeout_millis", time(settings.max_rpc_timeout())),
        member("total_timeout_millis", time(settings.total_timeout())),
    ]
}

fn code_list(codes: CodeSet) -> Node {
    value(Kind::Array(codes.iter().map(|code| string(code.name())).collect()))
}

fn millis(duration: Duration) -> Node {
    if duration.subsec_nanos().is_multiple_of(1_000_000) {
        return value(Kind::Number(duration.as_millis().to_string()));
    }
    number(duration.as_secs_f64() * 1000.0)
}

fn number(number: f64) -> Node {
    value(Kind::Number(number_text(number)))
}

fn object(members: Vec<Member>) -> Node {
    value(Kind::Object(members))
}
