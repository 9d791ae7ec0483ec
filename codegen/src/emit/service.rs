//! The module of a service.

use super::emitter::Emitter;
use super::page_fields::PageFields;
use super::rpc::{OperationNames, Rpc, rebased, rust_type};
use super::{client, rest, settings, statics};
use crate::descriptors::full_name;
use crate::docs::DocLines;
use crate::join::JoinedService;
use crate::names::{ServiceNames, accessor_names};
use crate::operation_types;
use crate::page_items::ResolvedItems;
use proc_macro2::TokenStream;
use prost_build::{Method, Service};
use quote::{format_ident, quote};

impl Emitter {
    /// A service's module, and the names that its package gets. `mixin` finds the services of which methods
    /// are mixed in.
    pub(crate) fn service<'a>(
        &'a self,
        service: &'a Service,
        names: &ServiceNames,
        joined: &JoinedService,
        pages: &ResolvedItems,
        mixin: impl Fn(&str) -> Option<&'a Service>,
    ) -> TokenStream {
        let full_name = full_name(&service.package, &service.proto_name);
        let rpcs = self.rpcs(service, joined, pages, mixin);
        let module = format_ident!("{}", names.module);
        let docs = DocLines::new(format!("Settings and client of `{full_name}`, from its retry table."));
        let statics = statics::statics(self, joined, &rpcs);
        let stub_settings = settings::stub_settings(&self.runtime, names, &rpcs);
        let client_settings = settings::client_settings(self, names, joined.name());
        let comment: &[String] =
            if self.disable_comments.contains(&full_name) { &[] } else { &service.comments.leading };
        let client = client::client(self, names, comment, &full_name, &rpcs);
        let rest = rest::rest(self, names, joined);
        let exported = names.exported.iter().map(|name| format_ident!("{name}"));
        let exports = (!names.exported.is_empty()).then(|| {
            quote! {
                #[allow(unused_imports, unreachable_pub, reason = "which of a service's types are used is up to its user")]
                pub use #module::{#(#exported),*};
            }
        });
        quote! {
            #docs
            pub mod #module {
                #![allow(
                    dead_code,
                    unreachable_pub,
                    clippy::approx_constant,
                    clippy::needless_update,
                    clippy::should_implement_trait,
                    clippy::unreadable_literal,
                    clippy::wrong_self_convention,
                    reason = "names and numbers are those of the protos and the retry table"
                )]
                #statics
                #stub_settings
                #client_settings
                #client
                #rest
            }
            #exports
        }
    }

    /// The service's RPCs, with those that are mixed in.
    fn rpcs<'a>(
        &'a self,
        service: &'a Service,
        joined: &JoinedService,
        pages: &ResolvedItems,
        mixin: impl Fn(&str) -> Option<&'a Service>,
    ) -> Vec<Rpc<'a>> {
        let full_name = full_name(&service.package, &service.proto_name);
        let methods: Vec<(&Service, &Method)> = joined
            .methods
            .iter()
            .map(|method| {
                let own = if method.service == full_name { Some(service) } else { mixin(&method.service) };
                let own = own.expect("the configuration has the services that are mixed in");
                let found = own.methods.iter().find(|own| own.proto_name == method.name);
                (own, found.expect("prost has the methods that the descriptors have"))
            })
            .collect();
        let starts = joined.methods.iter().zip(&methods).filter(|(joined, _)| joined.polling.is_some());
        let operations =
            starts.map(|(_, (_, method))| format!("{}_operation", method.name.trim_start_matches("r#")));
        let operations: Vec<String> = operations.collect();
        let resumed = operations.iter().map(|operation| format!("resume_{operation}"));
        let with_batching =
            joined.methods.iter().zip(&methods).filter(|(joined, _)| joined.batching.is_some());
        let batches = with_batching
            .map(|(_, (_, method))| format!("{}_batching", method.name.trim_start_matches("r#")));
        let own = methods.iter().map(|(_, method)| method.name.clone());
        let wanted: Vec<String> =
            own.chain(operations.iter().cloned()).chain(resumed).chain(batches).collect();
        let mut accessors = accessor_names(wanted.iter().map(String::as_str));
        let mut batches = accessors.split_off(methods.len() + 2 * operations.len()).into_iter().enumerate();
        let resumed = accessors.split_off(methods.len() + operations.len());
        let mut operations = accessors.split_off(methods.len()).into_iter().zip(resumed).enumerate();
        let rpcs = methods.into_iter().zip(&joined.methods).zip(accessors).enumerate();
        rpcs.map(|(index, (((own, method), entry), accessor))| {
            let disabled = self.disable_comments.contains(&format!("{}.{}", entry.service, entry.name));
            let comment: &[String] = if disabled { &[] } else { &method.comments.leading };
            let path = |name: &str| rebased(name, &own.package, &service.package);
            let types = (path(&method.input_type), path(&method.output_type));
            let operation = entry.polling.as_ref().and_then(|_| operations.next());
            let operation = operation.map(|(index, (start, resume))| {
                let types = operation_types::beside(own, &method.proto_name);
                let types = types.map(|types| {
                    [
                        (path(&types.input_type), &*types.input_proto_type),
                        (path(&types.output_type), &types.output_proto_type),
                    ]
                });
                OperationNames { index, start, resume, types }
            });
            let batching = entry.batching.as_ref().and_then(|_| batches.next());
            let pages = pages.of(own, &method.proto_name);
            let message = |message: &str| rust_type(&path(message), &self.proto_path);
            let pages = pages.map(|pages| PageFields::new(pages, &message(&pages.message)));
            let more = (operation, batching, pages);
            Rpc::new((index, &accessor), more, method, types, comment, entry, self)
        })
        .collect()
    }
}
