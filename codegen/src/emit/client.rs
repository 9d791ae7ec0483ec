//! A service's client.

use super::batching::batchings;
use super::emitter::Emitter;
use super::paged;
use super::rpc::{Operation, Rpc, field_ident};
use crate::docs::{DocLines, rustdoc};
use crate::names::ServiceNames;
use gax_retry::MethodKind;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// `XClient`.
pub(super) fn client(
    emitter: &Emitter,
    names: &ServiceNames,
    comment: &[String],
    full_name: &str,
    rpcs: &[Rpc<'_>],
) -> TokenStream {
    let runtime = &emitter.runtime;
    let client = format_ident!("{}", names.client);
    let settings = format_ident!("{}", names.settings);
    let docs = DocLines::new(format!("A client of `{full_name}` that retries as its retry table says (tonic's own client of this name does not)."))
        .block(rustdoc(comment));
    let default = emitter.build_transport.then(|| quote!(= ::tonic::transport::Channel));
    let connect = emitter.build_transport.then(|| connect(runtime, &client, &settings));
    let calls = rpcs.iter().map(|rpc| call(runtime, names, rpc));
    let batchings = batchings(runtime, &client, rpcs);
    let lists = paged::lists(runtime, names, rpcs);
    let operations = operations(names, rpcs);
    quote! {
        #docs
        #[derive(Debug, Clone)]
        pub struct #client<T #default> {
            inner: #runtime::__private::Client<T>,
        }

        #connect

        impl<T: #runtime::GrpcTransport> #client<T> {
            /// A client over a channel, with what the retry table says.
            #[must_use]
            pub fn new(channel: T) -> Self {
                Self::with_settings(channel, #settings::default())
            }

            /// A client over a channel, with these settings.
            #[must_use]
            pub fn with_settings(channel: T, settings: #settings) -> Self {
                Self { inner: #runtime::__private::Client::new(channel, settings) }
            }

            /// A client over a channel with an interceptor, which runs once per attempt: it can put a fresh
            /// token into each.
            #[must_use]
            pub fn with_interceptor<F>(
                channel: T,
                interceptor: F,
            ) -> #client<::tonic::service::interceptor::InterceptedService<T, F>>
            where
                F: ::tonic::service::Interceptor,
                ::tonic::service::interceptor::InterceptedService<T, F>: #runtime::GrpcTransport,
            {
                #client::new(::tonic::service::interceptor::InterceptedService::new(channel, interceptor))
            }

            /// Sends requests to this origin, over channels that don't have one.
            #[must_use]
            pub fn with_origin(self, origin: &::tonic::codegen::http::Uri) -> Self {
                Self { inner: self.inner.with_origin(origin) }
            }

            /// Compresses requests. A server that can't read them replies with an error.
            #[must_use]
            pub fn send_compressed(self, encoding: ::tonic::codec::CompressionEncoding) -> Self {
                Self { inner: self.inner.send_compressed(encoding) }
            }

            /// Lets the server compress its responses.
            #[must_use]
            pub fn accept_compressed(self, encoding: ::tonic::codec::CompressionEncoding) -> Self {
                Self { inner: self.inner.accept_compressed(encoding) }
            }

            /// The longest message that is read, in bytes. Default: 4 MiB.
            #[must_use]
            pub fn max_decoding_message_size(self, limit: usize) -> Self {
                Self { inner: self.inner.max_decoding_message_size(limit) }
            }

            /// The longest message that is sent, in bytes. Default: no limit.
            #[must_use]
            pub fn max_encoding_message_size(self, limit: usize) -> Self {
                Self { inner: self.inner.max_encoding_message_size(limit) }
            }

            #(#calls #lists)*
        }

        #operations

        #batchings
    }
}

/// The functions for long-running operations. The crate that they need is there only with a feature of the runtime's, and so are
/// they: the module becomes a macro of the runtime's once its code is formatted.
fn operations(names: &ServiceNames, rpcs: &[Rpc<'_>]) -> Option<TokenStream> {
    let functions: Vec<TokenStream> = rpcs.iter().filter_map(|rpc| operation(names, rpc)).collect();
    let client = format_ident!("{}", names.client);
    (!functions.is_empty()).then(|| {
        quote! {
            mod __long_running {
                impl #client {
                    #(#functions)*
                }
            }
        }
    })
}

fn operation(names: &ServiceNames, rpc: &Rpc<'_>) -> Option<TokenStream> {
    let Rpc { index, name, request, deprecated, .. } = rpc;
    let Operation { index: operation, ident, resume, types, .. } = rpc.operation.as_ref()?;
    let (response, metadata) = types.as_ref()?;
    let accessor = ident.to_string();
    let settings = format!("Settings: [`{}::{accessor}`].", names.stub_settings);
    let start =
        DocLines::new(format!("Starts a long-running operation by `{name}`, and polls until it is done."))
            .block([settings.clone()]);
    let resumed = DocLines::new(format!(
        "Takes up a long-running operation of `{name}` by its name, also one that another process started."
    ))
    .block([settings]);
    let (response_path, response_name) = (&response.path, &response.name);
    let (metadata_path, metadata_name) = (&metadata.path, &metadata.name);
    Some(quote! {
        #start
        #deprecated
        fn #ident(request: #request) -> (#response_path, #metadata_path) {
            (#index, #operation, #response_name, #metadata_name)
        }
        #resumed
        #deprecated
        fn #resume() {}
    })
}

fn connect(runtime: &TokenStream, client: &Ident, settings: &Ident) -> TokenStream {
    quote! {
        impl #client<::tonic::transport::Channel> {
            /// Connects to an address (a URI, or an endpoint with its TLS and other options) and makes a
            /// client with what the retry table says.
            ///
            /// Connecting takes no longer than the endpoint's own connect timeout or, without one, a third of the
            /// shortest RPC timeout, but at least 1 s and at most 20 s.
            ///
            /// # Errors
            ///
            /// The address is malformed, or no server responds in time.
            pub async fn connect<D>(destination: D) -> Result<Self, ::tonic::transport::Error>
            where
                D: TryInto<::tonic::transport::Endpoint>,
                D::Error: Into<::tonic::codegen::StdError>,
            {
                Self::connect_with_settings(destination, #settings::default()).await
            }

            /// Connects, for a client with these settings.
            ///
            /// # Errors
            ///
            /// The address is malformed, or no server responds in time.
            pub async fn connect_with_settings<D>(
                destination: D,
                settings: #settings,
            ) -> Result<Self, ::tonic::transport::Error>
            where
                D: TryInto<::tonic::transport::Endpoint>,
                D::Error: Into<::tonic::codegen::StdError>,
            {
                let channel = #runtime::__private::connect(destination, &settings).await?;
                Ok(Self::with_settings(channel, settings))
            }
        }
    }
}

/// The call of an RPC with one request, some of whose fields may have to be filled.
fn unary(runtime: &TokenStream, rpc: &Rpc<'_>) -> TokenStream {
    let Rpc { index, request_ids, .. } = rpc;
    if request_ids.is_empty() {
        return quote!(self.inner.unary(#index, request.into_request()));
    }
    let fields = request_ids.iter().map(|name| field_ident(name));
    quote! {
        let mut request = request.into_request();
        #(#runtime::__private::fill_request_id(&mut request.get_mut().#fields);)*
        self.inner.unary(#index, request)
    }
}

fn call(runtime: &TokenStream, names: &ServiceNames, rpc: &Rpc<'_>) -> TokenStream {
    let Rpc { index, ident, request, response, deprecated, .. } = rpc;
    let comment = rustdoc(rpc.comment);
    let docs = if comment.is_empty() {
        DocLines::new(format!("Calls `{}`.", rpc.name))
    } else {
        DocLines::default().block(comment)
    };
    let accessor = rpc.ident.to_string();
    let accessor = accessor.trim_start_matches("r#");
    let settings = format!("Settings: [`{}::{accessor}`].", names.stub_settings);
    let docs = if rpc.kind.streams_requests() {
        let switch = format!("[`{}::with_replay`]", names.settings);
        docs.block([settings, format!("To buffer its requests and send them again: {switch}.")])
    } else {
        docs.block([settings])
    };
    let docs = if rpc.request_ids.is_empty() {
        docs
    } else {
        let fields = rpc.request_ids.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        docs.block([format!(
            "Fills {fields} with a new UUID if it is empty. All attempts have the same one."
        )])
    };
    let one = quote!(request: impl ::tonic::IntoRequest<#request>);
    let many = quote!(request: impl ::tonic::IntoStreamingRequest<Message = #request>);
    let (argument, output, body) = match rpc.kind {
        MethodKind::ServerStreaming => (
            one,
            quote!(#runtime::StreamingCall<#runtime::ResponseStream<#response>>),
            quote!(self.inner.server_streaming(#index, request.into_request())),
        ),
        MethodKind::ClientStreaming => (
            many,
            quote!(#runtime::StreamingCall<#response>),
            quote!(self.inner.client_streaming(#index, request.into_streaming_request())),
        ),
        MethodKind::BidiStreaming => (
            many,
            quote!(#runtime::StreamingCall<#runtime::ResponseStream<#response>>),
            quote!(self.inner.streaming(#index, request.into_streaming_request())),
        ),
        _ => (one, quote!(#runtime::UnaryCall<T, #response>), unary(runtime, rpc)),
    };
    quote! {
        #docs
        #deprecated
        pub fn #ident(&self, #argument) -> #output {
            #body
        }
    }
}
