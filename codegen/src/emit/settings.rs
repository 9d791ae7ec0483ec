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
    let builder_docs =
        DocLines::new(format!("Makes [`{settings}`]: starts from the retry table, for one to change."));
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

            /// The service's RPCs in the order of its proto, then those that are mixed in, with what the retry table
            /// says of each.
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
                pub fn #ident(#reference self) -> #reference #runtime::settings::OperationCallSettings {
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

/// The retry budget that a client starts with, if the table has throttling, and its documentation.
fn budget(emitter: &Emitter) -> (Option<TokenStream>, String) {
    let runtime = &emitter.runtime;
    let throttling = emitter.throttling.map(|throttling| (throttling.max_tokens(), throttling.token_ratio()));
    let budget = throttling
        .map(|(max, ratio)| quote!(.with_table_budget(#runtime::RetryBudget::tokens(#max, #ratio))));
    let default = throttling.map_or_else(
        || "none".to_owned(),
        |(max, ratio)| {
            format!("the retry table's throttling, {max} tokens of which a success puts back {ratio}; `None` is no retry budget")
        },
    );
    let docs = format!(
        " The retry budget that all RPCs share. Default: {default}. Clones of these settings share it, and so do the clients made of them."
    );
    (budget, docs)
}

/// The setters of what is on or off for every call.
fn switches(runtime: &TokenStream) -> TokenStream {
    quote! {
        /// Sets options over the ones that were set before: jitter, the environment, delays that servers ask for and
        /// more.
        #[must_use]
        pub fn with_options(self, options: #runtime::OperationOptions) -> Self {
            Self { inner: self.inner.with_options(options) }
        }

        /// Whether anything is retried. With `false` every call is one attempt, whatever its settings and options
        /// say; deadlines and reports stay. Default: yes.
        #[must_use]
        pub fn with_retries_enabled(self, enabled: bool) -> Self {
            Self { inner: self.inner.with_retries_enabled(enabled) }
        }

        /// Whether attempts after the first send the server the number of those before them, in the header
        /// `grpc-previous-rpc-attempts`. Default: yes, but not by gax-java's rules.
        #[must_use]
        pub fn with_previous_attempts_header(self, is_sent: bool) -> Self {
            Self { inner: self.inner.with_previous_attempts_header(is_sent) }
        }

        /// Whether a server's own timeout counts as `DEADLINE_EXCEEDED` once the attempt's time is up.
        /// Default: yes.
        #[must_use]
        pub fn with_server_timeouts_are_ours(self, ours: bool) -> Self {
            Self { inner: self.inner.with_server_timeouts_are_ours(ours) }
        }

        /// Whether tonic's `GrpcMethod` goes with every request, in its extensions, for interceptors and
        /// layers below the client to see. Default: yes, but not directly over a `Channel`, where nobody
        /// could look for it. It takes three allocations a request.
        #[must_use]
        pub fn with_method_extension(self, is_sent: bool) -> Self {
            Self { inner: self.inner.with_method_extension(is_sent) }
        }

        /// Whether the response of every call carries its report. Default: only if it has more than
        /// a first attempt that succeeded, or if the call asks for it. It takes three allocations a call.
        #[must_use]
        pub fn with_reports(self, reports: bool) -> Self {
            Self { inner: self.inner.with_reports(reports) }
        }
    }
}

/// Accessors of what is buffered of requests, to be sent again.
fn replaying() -> TokenStream {
    quote! {
        /// The longest request, in bytes, that is buffered for replay; a longer one is sent once.
        /// Default: 4 MiB + 64 KiB. With zero, no request is retried.
        #[must_use]
        pub fn with_max_replay_bytes(self, bytes: usize) -> Self {
            Self { inner: self.inner.with_max_replay_bytes(bytes) }
        }

        /// Buffers requests of any length for replay.
        #[must_use]
        pub fn without_replay_limit(self) -> Self {
            Self { inner: self.inner.without_replay_limit() }
        }

        /// Whether streams of requests are buffered as they are sent, so that another attempt can be sent the
        /// same messages and then the rest. Default: yes by gRPC's rules, else no.
        #[must_use]
        pub fn with_replay_streams(self, replayed: bool) -> Self {
            Self { inner: self.inner.with_replay_streams(replayed) }
        }

        /// The most bytes that all streams of requests of the client and its clones have buffered at a time.
        /// A call that would need more goes on without retries. Default: 16 MiB.
        #[must_use]
        pub fn with_max_total_replay_bytes(self, bytes: usize) -> Self {
            Self { inner: self.inner.with_max_total_replay_bytes(bytes) }
        }
    }
}

/// The setter of observers.
fn observing(emitter: &Emitter) -> TokenStream {
    let runtime = &emitter.runtime;
    quote! {
        /// Installs an observer, which is notified of every operation. Several are notified in the order of installation.
        /// Default: none, which costs nothing.
        #[must_use]
        pub fn with_observer(
            self,
            observer: ::std::sync::Arc<dyn #runtime::observe::OperationObserver>,
        ) -> Self {
            Self { inner: self.inner.with_observer(observer) }
        }
    }
}

/// The service of a client of Google's, and the setter of its headers.
fn google(emitter: &Emitter, service: &str) -> (Option<TokenStream>, Option<TokenStream>) {
    let Some(host) = emitter.annotations.host(service) else { return (None, None) };
    let runtime = &emitter.runtime;
    let docs = String::from(
        " The headers for Google's servers, which are sent with every attempt. Default: what requests are routed by, and the versions of \
         the libraries and of the API.",
    );
    let endpoint_docs = format!(
        " Where the service is: at `{host}`, unless another address or universe is set. `connect` takes it."
    );
    let setter = quote! {
        #[doc = #endpoint_docs]
        #[must_use]
        pub fn endpoint() -> #runtime::google::ServiceEndpoint {
            SERVICE.endpoint()
        }

        #[doc = #docs]
        #[must_use]
        pub fn with_google_headers(self, headers: #runtime::google::GoogleHeaders) -> Self {
            Self { inner: self.inner.with_google_headers(headers) }
        }
    };
    (Some(quote!(.of_service(&SERVICE))), Some(setter))
}

/// `XSettings`.
pub(super) fn client_settings(emitter: &Emitter, names: &ServiceNames, service: &str) -> TokenStream {
    let runtime = &emitter.runtime;
    let (rules, rules_docs) = match emitter.compatibility {
        Compatibility::Grpc => (
            quote!(.with_compatibility(#runtime::Compatibility::Grpc)),
            " Which client's rules turn settings into attempts. Default: gRPC's own, in whose dialect the retry table was read.",
        ),
        _ => (
            quote!(),
            " Which client's rules turn settings into attempts. Default: those of the documentation.",
        ),
    };
    let (budget, budget_docs) = budget(emitter);
    let settings = format_ident!("{}", names.settings);
    let stub_settings = format_ident!("{}", names.stub_settings);
    let docs = DocLines::new("The settings of a client: those of its RPCs, and what holds for every call.");
    let observing = observing(emitter);
    let (of_service, google) = google(emitter, service);
    let switches = switches(runtime);
    let replaying = replaying();
    quote! {
        #docs
        #[derive(Debug, Clone)]
        pub struct #settings {
            inner: #runtime::__private::ClientSettings,
        }

        impl #settings {
            /// Settings with these for the RPCs.
            #[must_use]
            pub fn create(stub_settings: #stub_settings) -> Self {
                Self { inner: #runtime::__private::ClientSettings::new(stub_settings.inner)#rules #budget #of_service }
            }

            #[doc = #rules_docs]
            #[must_use]
            pub fn with_compatibility(self, compatibility: #runtime::Compatibility) -> Self {
                Self { inner: self.inner.with_compatibility(compatibility) }
            }

            #[doc = #budget_docs]
            #[must_use]
            pub fn with_retry_budget(self, budget: impl Into<Option<#runtime::RetryBudget>>) -> Self {
                Self { inner: self.inner.with_retry_budget(budget) }
            }

            /// Shares one retry budget with everything that calls this server, through `budgets`. The first client or layer
            /// to come brings the server's budget, and all others use that one. If you also call
            /// `with_retry_budget`, call it first.
            #[must_use]
            pub fn with_server_retry_budget(self, budgets: &#runtime::settings::RetryBudgets, server: &str) -> Self {
                Self { inner: self.inner.with_server_retry_budget(budgets, server) }
            }

            #replaying

            /// The most time that connecting may take, if the client connects by itself and the endpoint has no
            /// connect timeout of its own. Default: a third of the shortest RPC timeout, but at least 1 s and at
            /// most 20 s.
            #[must_use]
            pub fn with_connect_timeout(self, timeout: ::std::time::Duration) -> Self {
                Self { inner: self.inner.with_connect_timeout(timeout) }
            }

            /// Takes the settings of RPCs from a handle's table (a `SettingsHandle`, with the feature `live`), and
            /// from each table that replaces it, read by the same rules as when this code was generated.
            /// Changes of the stub settings override the table, and so does a retry budget that is set here.
            /// Default: the settings don't change.
            #[must_use]
            pub fn with_handle(self, handle: &impl #runtime::live::SettingsSource) -> Self {
                Self { inner: self.inner.with_handle(handle) }
            }

            /// Whether the handle refuses each table that names services or methods which this client doesn't have.
            /// Call it after `with_handle`; without a handle it has no effect. Default: a table is refused if a name in
            /// it is most likely misspelt, and others are a warning.
            ///
            /// # Errors
            ///
            /// The table that the handle has now names some.
            pub fn deny_unknown_methods(self, deny: bool) -> Result<Self, #runtime::live::UnknownMethodsError> {
                Ok(Self { inner: self.inner.deny_unknown_methods(deny)? })
            }

            #switches

            #google

            #observing
        }

        impl Default for #settings {
            /// The settings of the retry table.
            fn default() -> Self {
                Self::create(#stub_settings::default())
            }
        }

        impl From<#stub_settings> for #settings {
            fn from(stub_settings: #stub_settings) -> Self {
                Self::create(stub_settings)
            }
        }
    }
}
