//! How requests of an RPC are batched.

use super::rpc::{Rpc, RpcBatching, field_ident};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The functions of a client that batch requests, by `gax-batching`.
pub(super) fn batchings(runtime: &TokenStream, client: &Ident, rpcs: &[Rpc<'_>]) -> Option<TokenStream> {
    let functions: Vec<_> = rpcs.iter().filter_map(batching).collect();
    (!functions.is_empty()).then(|| {
        quote! {
            impl<T: #runtime::GrpcTransport> #client<T>
            where
                T::Future: 'static,
            {
                #(#functions)*
            }
        }
    })
}

fn batching(rpc: &Rpc<'_>) -> Option<TokenStream> {
    let Rpc { ident: call, name, request, response, deprecated, .. } = rpc;
    let RpcBatching { index, ident, full_name, descriptor } = rpc.batching.as_ref()?;
    let batched = field_ident(descriptor.batched_field());
    let discriminators = descriptor.discriminator_fields().map(field_ident);
    let split = if let Some(subresponse) = descriptor.subresponse_field() {
        let subresponse = field_ident(subresponse);
        quote! {
            .split_entries(
                |response: #response| response.#subresponse,
                |entries| #response { #subresponse: entries, ..Default::default() },
            )
        }
    } else {
        quote!(.split(|_: #response, sizes| sizes.iter().map(|_| Default::default()).map(Ok).collect()))
    };
    let docs = format!(
        "Batches requests of `{name}`, as the retry table says: the start of a [`Batcher`](::gax_batching::Batcher)."
    );
    let rule = format!(
        "The `{}` of several requests are sent as one request. It uses the table's settings, not the client's; \
         [`settings`](::gax_batching::Batching::settings) replaces them.",
        descriptor.batched_field()
    );
    Some(quote! {
        #[doc = #docs]
        #[doc = ""]
        #[doc = #rule]
        #deprecated
        pub fn #ident(&self) -> ::gax_batching::Batching<#request, #response, ::tonic::Status> {
            let client = self.clone();
            ::gax_batching::BatchCall::rpc(move |requests: ::std::vec::Vec<#request>| {
                let mut requests = requests.into_iter();
                let mut merged = requests.next().unwrap_or_default();
                requests.for_each(|mut request| merged.#batched.append(&mut request.#batched));
                client.#call(merged)
            })
            #split
            .entries(|request: &#request| u64::try_from(request.#batched.len()).unwrap_or(u64::MAX))
            .bytes(|request: &#request| {
                u64::try_from(::prost::Message::encoded_len(request)).unwrap_or(u64::MAX)
            })
            .discriminator_eq(|request: &#request| (#(request.#discriminators.clone(),)*))
            .settings(BATCHING_SETTINGS[#index].clone())
            .rules(::gax_batching::BatchingRules::Reached)
            .named(#full_name)
        }
    })
}
