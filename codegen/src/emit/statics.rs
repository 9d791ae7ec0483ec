//! The table as statics.

use super::emitter::Emitter;
use super::google;
use super::rpc::Rpc;
use crate::join::{JoinedMethod, JoinedService};
use gax_retry::{BatchingSettings, Code, CodeSet, Hedging, LimitExceeded, MethodKind, RetrySettings};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use std::ops::RangeFrom;
use std::time::Duration;

/// The definitions and methods of a service.
pub(super) fn statics(emitter: &Emitter, joined: &JoinedService, rpcs: &[Rpc<'_>]) -> TokenStream {
    let runtime = &emitter.runtime;
    let codes = joined.code_definitions().iter().map(|(name, codes)| {
        let codes = code_set(runtime, *codes);
        quote!((#name, #codes))
    });
    let params = joined.param_definitions().iter().map(|(name, settings)| {
        let settings = retry_settings(runtime, settings);
        quote!((#name, #settings))
    });
    let batches: Vec<&BatchingSettings> =
        joined.methods.iter().filter_map(|method| method.batching.as_ref()).collect();
    let polls: Vec<&RetrySettings> =
        joined.methods.iter().filter_map(|method| method.polling.as_ref()).collect();
    let hedges: Vec<&Hedging> = joined.methods.iter().filter_map(|method| method.hedging.as_ref()).collect();
    let [mut batch, mut poll, mut hedge, mut annotation] = [0_usize.., 0.., 0.., 0..];
    let google = google::statics(emitter, joined);
    let methods = joined.methods.iter().zip(rpcs).map(|(method, rpc)| {
        let JoinedMethod { service, name, .. } = method;
        let path = format!("/{service}/{name}");
        let kind = kind(runtime, method.kind);
        let codes = Literal::usize_unsuffixed(method.codes.index);
        let params = Literal::usize_unsuffixed(method.params.index);
        let batching = place("batching", "BATCHING_SETTINGS", method.batching.is_some(), &mut batch);
        let polling = place("polling", "POLLING_SETTINGS", method.polling.is_some(), &mut poll);
        let hedging = place("hedging", "HEDGING", method.hedging.is_some(), &mut hedge);
        let is_annotated = google::annotations(emitter, method).is_some();
        let annotated = place("annotations", "ANNOTATIONS", is_annotated, &mut annotation);
        let waits = method.wait_for_ready.map(|waits| quote!(wait_for_ready: Some(#waits),));
        let wait = method.wait_timeout.map(duration).map(|timeout| quote!(wait_timeout: Some(#timeout),));
        let idle = method.idle_timeout.map(duration).map(|timeout| quote!(idle_timeout: Some(#timeout),));
        let host = (method.service != joined.name()).then(|| joined.name());
        let host = host.map(|host| quote!(host: Some(#host),));
        let idempotent = method.is_idempotent.then(|| quote!(is_idempotent: true,));
        // Streams that resume have to be of these.
        let messages = (method.kind == MethodKind::ServerStreaming).then(|| {
            let Rpc { request, response, .. } = rpc;
            quote!(messages: Some(#runtime::__private::message_types::<#request, #response>),)
        });
        let read_only = method.is_read_only.then(|| quote!(is_read_only: true,));
        quote! {
            #runtime::__private::method_info(#runtime::__private::MethodParts {
                kind: #kind,
                codes: &RETRYABLE_CODE_DEFINITIONS[#codes],
                params: &RETRY_PARAM_DEFINITIONS[#params],
                #batching #polling #hedging #waits #wait #idle #idempotent #read_only #annotated #host #messages
                ..#runtime::__private::MethodParts::of(#service, #name, #path)
            })
        }
    });
    let code_count = Literal::usize_unsuffixed(codes.len());
    let param_count = Literal::usize_unsuffixed(params.len());
    let method_count = Literal::usize_unsuffixed(methods.len());
    let if_any = |name: &str, of: TokenStream, values: Vec<TokenStream>| {
        let (name, count) = (format_ident!("{name}"), Literal::usize_unsuffixed(values.len()));
        (!values.is_empty()).then(|| quote!(static #name: [#runtime::#of; #count] = [#(#values),*];))
    };
    let batches = batches.iter().map(|settings| batching_settings(runtime, settings)).collect();
    let batching = if_any("BATCHING_SETTINGS", quote!(__private::BatchingSettings), batches);
    let polls = polls.iter().map(|settings| retry_settings(runtime, settings)).collect();
    let polling = if_any("POLLING_SETTINGS", quote!(RetrySettings), polls);
    let hedges = hedges.iter().map(|hedging| of_hedging(runtime, hedging)).collect();
    let hedging = if_any("HEDGING", quote!(Hedging), hedges);
    quote! {
        static RETRYABLE_CODE_DEFINITIONS: [(&str, #runtime::CodeSet); #code_count] = [#(#codes),*];
        static RETRY_PARAM_DEFINITIONS: [(&str, #runtime::RetrySettings); #param_count] = [#(#params),*];
        #batching
        #polling
        #hedging
        #google
        static METHODS: [#runtime::MethodInfo; #method_count] = [#(#methods),*];
    }
}

/// The field of a method that has a place in a list, which has the values of those that have some.
fn place(field: &str, list: &str, has_one: bool, places: &mut RangeFrom<usize>) -> Option<TokenStream> {
    let place = Literal::usize_unsuffixed(has_one.then(|| places.next()).flatten()?);
    let (field, list) = (format_ident!("{field}"), format_ident!("{list}"));
    Some(quote!(#field: Some(&#list[#place]),))
}

fn batching_settings(runtime: &TokenStream, settings: &BatchingSettings) -> TokenStream {
    let number = |number: u64| Literal::u64_unsuffixed(number).into_token_stream();
    let elements = number(settings.element_count_threshold());
    let bytes = number(settings.request_byte_threshold());
    let delay = duration(settings.delay_threshold());
    let most = |name: &str, most: Option<u64>| {
        let name = format_ident!("{name}");
        most.map(number).map(|most| quote!(.#name(#most)))
    };
    let max_elements = most("max_outstanding_elements", settings.max_outstanding_elements());
    let max_bytes = most("max_outstanding_bytes", settings.max_outstanding_bytes());
    let limit =
        Some(settings.limit_exceeded()).filter(|limit| *limit != LimitExceeded::Ignore).map(|limit| {
            let limit = format_ident!("{limit:?}");
            quote!(.limit_exceeded(#runtime::__private::LimitExceeded::#limit))
        });
    quote! {
        #runtime::__private::BatchingSettings::builder()
            .element_count_threshold(#elements)
            .request_byte_threshold(#bytes)
            .delay_threshold(#delay)
            #max_elements #max_bytes #limit
            .build()
    }
}

fn of_hedging(runtime: &TokenStream, hedging: &Hedging) -> TokenStream {
    let attempts = Literal::u32_unsuffixed(hedging.max_attempts());
    let delay = hedging.delay_between().map(duration).map(|delay| quote!(.delay(#delay)));
    let percentile = hedging.percentile_of_latencies().map(Literal::f64_unsuffixed);
    let percentile = percentile.map(|percentile| quote!(.percentile(#percentile)));
    let codes = Some(hedging.codes()).filter(|codes| !codes.is_empty()).map(|codes| {
        let codes = code_set(runtime, codes);
        quote!(.non_fatal_code_set(#codes))
    });
    quote!(#runtime::Hedging::new(#attempts) #delay #percentile #codes .allow_non_idempotent())
}

fn code_set(runtime: &TokenStream, codes: CodeSet) -> TokenStream {
    let codes = codes.iter().map(|code| {
        let code = code_ident(code);
        quote!(.with(#runtime::Code::#code))
    });
    quote!(#runtime::CodeSet::EMPTY #(#codes)*)
}

/// A code's name in Rust.
fn code_ident(code: Code) -> proc_macro2::Ident {
    format_ident!("{code:?}")
}

fn kind(runtime: &TokenStream, kind: MethodKind) -> TokenStream {
    let kind = format_ident!("{kind:?}");
    quote!(#runtime::MethodKind::#kind)
}

/// The fields that are set, each by its name.
fn retry_settings(runtime: &TokenStream, settings: &RetrySettings) -> TokenStream {
    let set = |name: &str, value: Option<TokenStream>| {
        let name = format_ident!("{name}");
        value.map(|value| quote!(.#name(#value)))
    };
    let time = |name: &str, value: Option<Duration>| set(name, value.map(duration));
    let factor = |name: &str, value: Option<f64>| {
        set(name, value.map(|factor| Literal::f64_unsuffixed(factor).into_token_stream()))
    };
    let attempts = settings.max_attempts().map(|most| Literal::u32_unsuffixed(most).into_token_stream());
    let only = Some(settings.only_with_server_delay()).filter(|codes| !codes.is_empty());
    let only = only.map(|codes| code_set(runtime, codes));
    let growth =
        Some(settings.rpc_timeout_multiplier()).filter(|factor| factor.to_bits() != 1.0_f64.to_bits());
    let total = settings.total_timeout();
    let [initial_is_total, max_is_total] = settings.rpc_timeouts_are_total();
    let is_one = initial_is_total || max_is_total;
    let fields = [
        time("initial_retry_delay", settings.initial_retry_delay()),
        factor("retry_delay_multiplier", settings.retry_delay_multiplier()),
        time("max_retry_delay", settings.max_retry_delay()),
        time("max_server_delay", settings.max_server_delay()),
        set("only_with_server_delay", only),
        set("jittered", (!settings.jittered()).then(|| quote!(false))),
        time("timeout", total.filter(|_| is_one)),
        time("initial_rpc_timeout", settings.initial_rpc_timeout().filter(|_| !initial_is_total)),
        factor("rpc_timeout_multiplier", growth),
        time("max_rpc_timeout", settings.max_rpc_timeout().filter(|_| !max_is_total)),
        time("total_timeout", total.filter(|_| !is_one)),
        set("max_attempts", attempts),
    ];
    quote!(#runtime::__private::ConstSettings::new() #(#fields)* .build())
}

/// A duration in the unit that it is a whole number of. Seconds that make minutes are written with their
/// nanoseconds, since clippy would want the minutes.
fn duration(duration: Duration) -> TokenStream {
    let seconds = Literal::u64_unsuffixed(duration.as_secs());
    let nanos = duration.subsec_nanos();
    match u64::try_from(duration.as_millis()) {
        Ok(_) if duration.is_zero() => quote!(::core::time::Duration::ZERO),
        Ok(millis) if nanos != 0 && nanos.is_multiple_of(1_000_000) => {
            let millis = Literal::u64_unsuffixed(millis);
            quote!(::core::time::Duration::from_millis(#millis))
        }
        _ => {
            let nanos = Literal::u32_unsuffixed(nanos);
            quote!(::core::time::Duration::new(#seconds, #nanos))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_the_name_that_debug_prints() {
        let names: Vec<String> = Code::ALL.into_iter().map(|code| code_ident(code).to_string()).collect();
        assert_eq!(names[4], "DeadlineExceeded");
        assert_eq!(names[16], "Unauthenticated");
    }

    #[test]
    fn durations_are_exact() {
        for (value, expected) in [
            (Duration::ZERO, "ZERO"),
            (Duration::from_secs(60), "new(60,0)"),
            (Duration::from_millis(100), "from_millis(100)"),
            (Duration::new(1, 1), "new(1,1)"),
            (Duration::MAX, "new(18446744073709551615,999999999)"),
        ] {
            let text = duration(value).to_string().replace(' ', "");
            assert_eq!(text, format!("::core::time::Duration::{expected}"));
        }
    }
}
