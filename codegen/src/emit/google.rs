//! The statics that Google's annotations lead to.

use super::emitter::Emitter;
use crate::join::{JoinedMethod, JoinedService};
use gax_table::RequestParam;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The service, if it is one of Google's, and the annotations of its methods, if there are any.
pub(super) fn statics(emitter: &Emitter, joined: &JoinedService) -> TokenStream {
    let runtime = &emitter.runtime;
    let service = emitter.annotations.host(joined.name()).map(|host| {
        quote! {
            static SERVICE: #runtime::__private::ServiceInfo =
                #runtime::__private::ServiceInfo::new(#host, ::core::option_env!("CARGO_PKG_VERSION"));
        }
    });
    let annotated: Vec<TokenStream> =
        joined.methods.iter().filter_map(|method| annotations(emitter, method)).collect();
    let count = Literal::usize_unsuffixed(annotated.len());
    let annotations = (!annotated.is_empty()).then(
        || quote!(static ANNOTATIONS: [#runtime::__private::MethodAnnotations; #count] = [#(#annotated),*];),
    );
    quote!(#service #annotations)
}

pub(super) fn annotations(emitter: &Emitter, method: &JoinedMethod) -> Option<TokenStream> {
    let runtime = &emitter.runtime;
    let params = emitter.annotations.params(&method.service, &method.name);
    let version = emitter.annotations.version(&method.service);
    if params.is_empty() && version.is_none() {
        return None;
    }
    let params = params.iter().map(|param| request_param(runtime, param));
    let version = version.map_or_else(|| quote!(None), |version| quote!(Some(#version)));
    Some(quote!(#runtime::__private::MethodAnnotations::new(const { &[#(#params),*] }, #version)))
}

fn request_param(runtime: &TokenStream, param: &RequestParam) -> TokenStream {
    let RequestParam { key, path, kind, absent, pattern, .. } = param;
    let path = path.iter().map(|number| Literal::u32_unsuffixed(*number));
    let path = quote!(&[#(#path),*]);
    let kind = Literal::i32_unsuffixed(*kind);
    match pattern {
        None => quote!(#runtime::__private::RequestParam::new(#key, #path, #kind, #absent)),
        Some([before, taken, after]) => {
            quote!(#runtime::__private::RequestParam::taken(#key, #path, #absent, [#before, #taken, #after]))
        }
    }
}
