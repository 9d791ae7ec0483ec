//! How Rust spells the items of paged RPCs.
//!
//! prost knows, since it resolves names: by packages, nested messages, `extern_path` and well-known types. So it gets a service
//! besides a package's own, whose methods are named as the fields with the items are, take an item, and give what wraps the size of
//! a page. No code is made of it.

use crate::descriptors::{Descriptors, full_name};
use crate::paging::{NUMBERS, PageShape, SizeField};
use prost_build::{Module, Service};
use prost_types::{FileDescriptorProto, MethodDescriptorProto, ServiceDescriptorProto};
use std::collections::{BTreeMap, HashMap};

/// A name that no service of a proto can have.
const SERVICE: &str = "(items)";

/// The paged RPCs of all packages.
#[derive(Debug, Default)]
pub(crate) struct PageItems {
    /// Per package, in the order of the methods that prost gets.
    packages: BTreeMap<String, Vec<PagedRpc>>,
}

#[derive(Debug)]
struct PagedRpc {
    name: String,
    /// The response, which stands for items that are no messages, and for sizes without a wrapper.
    response: String,
    shape: PageShape,
}

/// The paged RPCs as Rust spells them, by full name, such as `pkg.Service/Method`.
#[derive(Debug, Default)]
pub(crate) struct ResolvedItems(HashMap<String, ResolvedPages>);

/// A paged RPC's fields and items, as Rust spells them.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedPages {
    pub(crate) shape: PageShape,
    /// The response's field with the items.
    pub(crate) field: String,
    /// The message in an item, from the package of the RPC.
    pub(crate) message: String,
}

impl PagedRpc {
    fn wrapper(&self) -> Option<&str> {
        self.shape.size.as_ref()?.wrapper.as_deref()
    }
}

impl PageItems {
    /// Those of the services whose files `are_needed`.
    pub(crate) fn new(descriptors: &Descriptors, are_needed: impl Fn(&str) -> bool) -> Self {
        let mut items = Self::default();
        for service in descriptors.services.iter().filter(|service| are_needed(&service.file)) {
            for method in &service.methods {
                let Some(shape) = method.pages.clone() else { continue };
                let name = format!("{}/{}", service.full_name, method.name);
                let rpc = PagedRpc { name, response: method.response.clone(), shape };
                items.packages.entry(service.package.clone()).or_default().push(rpc);
            }
        }
        items
    }

    /// The files that prost gets in addition to those of the protos.
    pub(crate) fn files(&self) -> impl Iterator<Item = (Module, FileDescriptorProto)> {
        self.packages.iter().map(|(package, rpcs)| {
            let methods = rpcs.iter().map(|rpc| MethodDescriptorProto {
                name: Some(rpc.shape.items.clone()),
                input_type: Some(rpc.shape.item.value().message().unwrap_or(&rpc.response).to_owned()),
                output_type: Some(rpc.wrapper().unwrap_or(&rpc.response).to_owned()),
                ..MethodDescriptorProto::default()
            });
            let service = ServiceDescriptorProto {
                name: Some(SERVICE.to_owned()),
                method: methods.collect(),
                ..ServiceDescriptorProto::default()
            };
            let file = FileDescriptorProto {
                name: Some(SERVICE.to_owned()),
                package: Some(package.clone()),
                service: vec![service],
                syntax: Some("proto3".to_owned()),
                ..FileDescriptorProto::default()
            };
            (Module::from_protobuf_package_name(package), file)
        })
    }
}

impl ResolvedItems {
    /// Takes what prost has made of such a file; whether the service is one.
    pub(crate) fn take(&mut self, items: &PageItems, service: &Service) -> bool {
        let is_ours = service.proto_name == SERVICE;
        let rpcs = items.packages.get(&service.package).filter(|_| is_ours);
        for (rpc, method) in rpcs.into_iter().flatten().zip(&service.methods) {
            let (field, message) = (method.name.clone(), method.input_type.clone());
            let mut shape = rpc.shape.clone();
            // A wrapper that prost is configured to write as a message is no number.
            let is_number =
                |size: &SizeField| size.wrapper.is_none() || NUMBERS.contains(&method.output_type.as_str());
            shape.size = shape.size.filter(is_number);
            let pages = ResolvedPages { shape, field, message };
            self.0.insert(rpc.name.clone(), pages);
        }
        is_ours
    }

    /// The pages of an RPC.
    pub(crate) fn of(&self, service: &Service, method: &str) -> Option<&ResolvedPages> {
        self.0.get(&format!("{}/{method}", full_name(&service.package, &service.proto_name)))
    }
}
