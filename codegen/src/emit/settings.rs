//! A service's settings: those of its RPCs, and those of its client.

use super::emitter::Emitter;
use super::rpc::{Operation, Rpc};
use crate::docs::DocLines;
use crate::names::ServiceNames;
use gax_retry::Compatibility;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// `XStubSettings` and its builder.
pub(super) fn stub_settings(runtime: &TokenStream, names: &ServiceNames, rpcs: &[Rpc<'_>]) -> TokenStream {
    let settings = format_ident!("{}", names.stub_settings);
    let builder = format_ident!("{}", names.builder);
    let settings_docs = DocLines::new("The retryable codes and retry settings that each RPC starts with.")
        .block([format!("They come from [`{settings}::builder`], which starts from the retry table.")]);
    let builder_docs = DocLines::new(format!("Makes [`{settings}`]: starts from the retry table."));
    let getters = accessors(runtime, names, rpcs, Access::Reads);
    let setters = accessors(runtime, names, rpcs, Access::Changes);
    quote! {
        #settings_docs
        #[derive(Debug, Clone)]
        pub struct #settings {
            inner: #runtime::__private::StubSettings,
        }

        impl #settings {
            /// Starts from the retry table.
            pub fn builder() -> #builder {
                #builder { inner: #runtime::__private::StubSettings::new(&METHODS) }
            }

            /// Starts from these settings.
            pub fn to_builder(&self) -> #builder {
                #builder { inner: self.inner.clone() }
            }

            /// The retry table's sets of codes by name, in the order in which the RPCs first use them.
            #[must_use]
            pub fn retryable_code_definitions() -> &'static [(&'static str, #runtime::CodeSet)] {
                &RETRYABLE_CODE_DEFINITIONS
            }

            /// The retry table's settings by name, in the order in which the RPCs first use them.
            #[must_use]
            pub fn retry_param_definitions() -> &'static [(&'static str, #runtime::RetrySettings)] {
                &RETRY_PARAM_DEFINITIONS
            }

            /// The service's RPCs in the order of its proto, then those that are mixed in, with the values of the
            /// retry table for each.
            #[must_use]
            pub fn methods() -> &'static [#runtime::MethodInfo] {
                &METHODS
            }

            #getters
        }

        impl Default for #settings {
            /// The settings of the retry table.
            fn default() -> Self {
                Self { inner: #runtime::__private::StubSettings::new(&METHODS) }
            }
        }

        #builder_docs
        #[derive(Debug, Clone)]
        #[must_use = "settings come from build()"]
        pub struct #builder {
            inner: #runtime::__private::StubSettings,
        }

        impl #builder {
            #setters

            /// Changes the settings of every RPC that has one request and one response, paged ones included.
            pub fn apply_to_all_unary_methods(
                &mut self,
                apply: impl FnMut(&mut #runtime::CallSettings),
            ) -> &mut Self {
                self.inner.apply_to_all_unary_methods(apply);
                self
            }

            /// The settings as they are now.
            ///
            /// # Errors
            ///
            /// The settings of an RPC can't be used.
            pub fn build(self) -> Result<#settings, #runtime::SettingsError> {
                Ok(#settings { inner: self.inner.build()? })
            }
        }
    }
}

/// The value of an accessor.
#[derive(Clone, Copy)]
enum Access {
    /// A shared reference, of `XStubSettings`.
    Reads,
    /// A mutable one, of its builder.
    Changes,
}

/// The accessors of RPCs, and those of the operations that RPCs start. The retry table is shown once, where settings are read.
fn accessors(runtime: &TokenStream, names: &ServiceNames, rpcs: &[Rpc<'_>], access: Access) -> TokenStream {
    let (must_use, reference, call, operation) = match access {
        Access::Reads => (quote!(#[must_use]), quote!(&), quote!(call), quote!(operation)),
        Access::Changes => (quote!(), quote!(&mut), quote!(call_mut), quote!(operation_mut)),
    };
    let of_rpcs = rpcs.iter().map(|rpc| {
        let Rpc { index, ident, deprecated, .. } = rpc;
        let changed = || changed(names, &format!("`{}`", rpc.name), ident);
        let docs = match access {
            Access::Reads => rpc.policy_docs(),
            Access::Changes => &changed(),
        };
        quote! {
            #docs
            #deprecated
            #must_use
            pub fn #ident(#reference self) -> #reference #runtime::CallSettings {
                self.inner.#call(#index)
            }
        }
    });
    let with_operations = rpcs.iter().filter_map(|rpc| Some((rpc, rpc.operation.as_ref()?)));
    let of_operations =
        with_operations.map(|(Rpc { name, deprecated, .. }, Operation { index, ident, docs, .. })| {
            let changed =
                || changed(names, &format!("the long-running operations that `{name}` starts"), ident);
            let docs = match access {
                Access::Reads => docs,
                Access::Changes => &changed(),
            };
            quote! {
                #docs
                #deprecated
                #must_use
                pub fn #ident(#reference self) -> #reference #runtime::OperationCallSettings {
                    self.inner.#operation(#index)
                }
            }
        });
    quote! {
        #(#of_rpcs)*

        #(#of_operations)*
    }
}

/// The docs of settings that are changed.
fn changed(names: &ServiceNames, of: &str, accessor: &Ident) -> DocLines {
    let accessor = accessor.to_string();
    let accessor = accessor.trim_start_matches("r#");
    let shown = format!("[`{}::{accessor}`]", names.stub_settings);
    DocLines::new(format!("The settings of {of}; {shown} shows those of the retry table."))
}

/// `XSettings`, and what the runtime knows by it of the service.
pub(super) fn client_settings(emitter: &Emitter, names: &ServiceNames, service: &str) -> TokenStream {
    let runtime = &emitter.runtime;
    let settings = format_ident!("{}", names.settings);
    let stub_settings = format_ident!("{}", names.stub_settings);
    let rules = (emitter.compatibility == Compatibility::Grpc)
        .then(|| quote!(.by_rules_of(#runtime::Compatibility::Grpc)));
    let throttling = emitter.throttling.map(|throttling| (throttling.max_tokens(), throttling.token_ratio()));
    let budget = throttling
        .map(|(max, ratio)| quote!(.with_table_budget(#runtime::RetryBudget::tokens(#max, #ratio))));
    let host = emitter.annotations.host(service);
    let google = host.is_some().then(|| {
        quote! {
            impl #runtime::__private::GoogleStub for #stub_settings {
                const SERVICE: &'static #runtime::__private::ServiceInfo = &SERVICE;
            }
        }
    });
    let of_service = host.is_some().then(|| quote!(.of_service(&SERVICE)));
    let defaults = [
        rules.is_some().then(|| "Settings become attempts by gRPC's own rules, in whose dialect the retry table was read.".to_owned()),
        throttling.map(|(max, ratio)| {
            format!("The retry budget is the retry table's throttling: {max} tokens, of which a success returns {ratio}.")
        }),
        host.map(|host| format!("The service is at `{host}`, unless another address or universe is set.")),
    ];
    let docs = DocLines::new("The settings of a client: those of its RPCs, and the options of all calls.")
        .block(defaults.into_iter().flatten());
    quote! {
        #docs
        pub type #settings = #runtime::ClientSettings<#stub_settings>;

        impl #runtime::__private::ServiceStub for #stub_settings {
            fn into_config(self) -> #runtime::__private::ClientConfig {
                #runtime::__private::ClientConfig::new(self.inner)#rules #budget #of_service
            }
        }

        #google
    }
}
