//! A client over HTTP and JSON.

use super::emitter::Emitter;
use crate::join::JoinedService;
use crate::names::ServiceNames;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// The descriptors of a build and the functions that make its client over REST, if they are asked for.
pub(super) fn rest(emitter: &Emitter, names: &ServiceNames, joined: &JoinedService) -> Option<TokenStream> {
    let descriptors = emitter.rest.as_deref()?;
    let host = emitter.annotations.host(joined.name());
    let host = host.map_or_else(|| quote!(None), |host| quote!(Some(#host)));
    let runtime = &emitter.runtime;
    let client = format_ident!("{}", names.client);
    let settings = format_ident!("{}", names.settings);
    Some(quote! {
        /// The services, messages and HTTP rules of the build, as an encoded `FileDescriptorSet`.
        static REST: ::gax_rest::__private::RestService =
            ::gax_rest::__private::RestService::new(#host, include!(#descriptors));

        impl<S: ::gax_rest::RestHttpService> #client<::gax_rest::RestTransport<S>> {
            /// A client over HTTP and JSON, by the protos' `google.api.http` rules: the same calls, with the same settings. RPCs
            /// that are no reads to HTTP are hedged only if the hedging is for RPCs that are not idempotent too.
            #[must_use]
            pub fn rest(http: S, settings: #settings) -> Self {
                let (transport, settings) = REST.client(http, settings);
                Self { inner: #runtime::__private::Client::new(transport, settings) }
            }

            /// A client over HTTP and JSON, with these options of its transport.
            ///
            /// # Errors
            ///
            /// A rule among the options can't be used.
            pub fn rest_with_options(
                http: S,
                settings: #settings,
                options: ::gax_rest::RestOptions,
            ) -> Result<Self, ::gax_rest::RestError> {
                let (transport, settings) = REST.client_with(http, settings, options)?;
                Ok(Self { inner: #runtime::__private::Client::new(transport, settings) })
            }
        }
    })
}
