//! Generated code.

mod client;
mod rpc;
mod settings;
mod statics;

use crate::docs::DocLines;
use crate::join::JoinedService;
use crate::names::ServiceNames;
use gax_retry::Compatibility;
use proc_macro2::TokenStream;
use prost_build::Service;
use quote::{format_ident, quote};
use rpc::Rpc;
use std::collections::HashSet;

/// What all services' code has in common.
#[derive(Debug, Clone)]
pub(crate) struct Emitter {
    /// The path of the crate `tonic_gax`, such as `::tonic_gax`.
    pub(crate) runtime: TokenStream,
    /// Where messages are, from inside a module beside them: `super`.
    pub(crate) proto_path: String,
    pub(crate) build_transport: bool,
    /// Whose rules the clients run by, unless their user says otherwise.
    pub(crate) compatibility: Compatibility,
    /// Services and methods whose comments are left out, by full name.
    pub(crate) disable_comments: HashSet<String>,
}

impl Emitter {
    /// A service's module, and the names that its package gets.
    pub(crate) fn service(
        &self,
        service: &Service,
        names: &ServiceNames,
        joined: &JoinedService,
    ) -> TokenStream {
        let full_name = crate::descriptors::full_name(&service.package, &service.proto_name);
        let rpcs = self.rpcs(service, joined, &full_name);
        let module = format_ident!("{}", names.module);
        let docs =
            DocLines::new(format!("Settings and client of `{full_name}`, as its retry table has them."));
        let statics = statics::statics(&self.runtime, joined, &full_name);
        let stub_settings = settings::stub_settings(&self.runtime, names, &rpcs);
        let client_settings = settings::client_settings(self, names);
        let comment: &[String] =
            if self.disable_comments.contains(&full_name) { &[] } else { &service.comments.leading };
        let client = client::client(self, names, comment, &full_name, &rpcs);
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
                    clippy::should_implement_trait,
                    clippy::unreadable_literal,
                    clippy::wrong_self_convention,
                    reason = "names and numbers are those of the protos and the retry table"
                )]
                #statics
                #stub_settings
                #client_settings
                #client
            }
            #exports
        }
    }

    fn rpcs<'a>(&self, service: &'a Service, joined: &JoinedService, full_name: &str) -> Vec<Rpc<'a>> {
        let accessors =
            crate::names::accessor_names(service.methods.iter().map(|method| method.name.as_str()));
        service
            .methods
            .iter()
            .zip(&joined.methods)
            .zip(accessors)
            .enumerate()
            .map(|(index, ((method, entry), accessor))| {
                let disabled = self.disable_comments.contains(&format!("{full_name}.{}", method.proto_name));
                let comment: &[String] = if disabled { &[] } else { &method.comments.leading };
                Rpc::new(index, &accessor, method, comment, entry, self)
            })
            .collect()
    }
}
