//! The functions of a client that read lists page by page.

use super::page_fields::PageFields;
use super::rpc::Rpc;
use crate::docs::DocLines;
use crate::names::{ServiceNames, accessor_names};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// For each RPC the function that reads its list, if it is paged.
pub(super) fn lists(
    runtime: &TokenStream,
    names: &ServiceNames,
    rpcs: &[Rpc<'_>],
) -> Vec<Option<TokenStream>> {
    let calls = rpcs.iter().map(|rpc| rpc.ident.to_string());
    let lists = rpcs.iter().filter(|rpc| rpc.pages.is_some());
    let wanted: Vec<String> = calls.chain(lists.map(|rpc| format!("{}_paged", plain(&rpc.ident)))).collect();
    let mut functions = accessor_names(wanted.iter().map(String::as_str)).into_iter().skip(rpcs.len());
    let lists = rpcs.iter().map(|rpc| {
        let pages = rpc.pages.as_ref()?;
        Some(list(runtime, names, rpc, pages, &functions.next()?))
    });
    lists.collect()
}

fn list(
    runtime: &TokenStream,
    names: &ServiceNames,
    rpc: &Rpc<'_>,
    pages: &PageFields,
    function: &str,
) -> TokenStream {
    let Rpc { index, ident, request, response, .. } = rpc;
    let PageFields { size, items, items_name, item, into_list, .. } = pages;
    let (deprecated, allowed) = (&rpc.deprecated, &pages.allowed);
    let function = format_ident!("{function}");
    let accessor = plain(ident);
    let docs = DocLines::new(format!(
        "Calls `{}` page by page: a stream of the responses' `{items_name}`.",
        rpc.name
    ))
    .block([format!("Each page is a call as by [`{accessor}`](Self::{accessor}), with its own retries.")])
    .block([format!("Settings: [`{}::{accessor}`].", names.stub_settings)]);
    let size = if let Some(size) = size {
        quote!(::core::option::Option::Some(|request| &mut request.#size))
    } else {
        quote!(::core::option::Option::None)
    };
    quote! {
        #docs
        #deprecated
        #allowed
        pub fn #function(
            &self,
            request: impl ::tonic::IntoRequest<#request>,
        ) -> #runtime::paging::PagedCall<T, #request, #response, #item> {
            #runtime::__private::paged(
                &self.inner,
                #index,
                request.into_request(),
                #runtime::__private::PagedMethod {
                    page_token: |request| &mut request.page_token,
                    page_size: #size,
                    next_page_token: |response| &mut response.next_page_token,
                    items: |response| ::core::mem::take(&mut response.#items) #into_list,
                },
            )
        }
    }
}

/// A function's name in text.
fn plain(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}
