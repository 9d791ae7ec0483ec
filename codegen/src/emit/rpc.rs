//! One RPC, in the pieces that generated code is made of.

use super::emitter::Emitter;
use super::page_fields::PageFields;
use crate::docs::{DocLines, Source, batching_words, first_sentence, policy_docs, polling_docs};
use crate::join::JoinedMethod;
use gax_retry::MethodKind;
use gax_table::BatchDescriptor;
use heck::ToSnakeCase as _;
use proc_macro2::{Ident, Literal, TokenStream};
use prost_build::{Method, Module};
use quote::{format_ident, quote};

/// Types that prost writes without a path.
pub(crate) const BARE_TYPES: [&str; 8] = ["()", "bool", "i32", "i64", "u32", "u64", "f32", "f64"];

/// One RPC.
pub(super) struct Rpc<'a> {
    /// Its place among the service's methods, without a suffix.
    pub(super) index: Literal,
    /// The name of its functions.
    pub(super) ident: Ident,
    /// Such as `ListAssets`.
    pub(super) name: &'a str,
    pub(super) kind: MethodKind,
    pub(super) request: TokenStream,
    pub(super) response: TokenStream,
    /// The proto's comment.
    pub(super) comment: &'a [String],
    /// `#[deprecated]`, where the proto says so.
    pub(super) deprecated: Option<TokenStream>,
    /// The operations that it starts.
    pub(super) operation: Option<Operation>,
    /// The function that batches its requests.
    pub(super) batching: Option<RpcBatching>,
    /// The fields of its requests that are filled with a new id if they are empty, by their names in the proto.
    pub(super) request_ids: &'a [String],
    /// How its pages are read.
    pub(super) pages: Option<PageFields>,
    policy: DocLines,
}

/// A function's name, and its place among its like; `None`: the RPC has none.
pub(super) type Numbered = Option<(usize, String)>;

/// How requests of an RPC are merged into one.
pub(super) struct RpcBatching {
    /// The place among those of the service, without a suffix.
    pub(super) index: Literal,
    pub(super) ident: Ident,
    /// The service and name of the RPC.
    pub(super) full_name: String,
    pub(super) descriptor: BatchDescriptor,
}

/// The operations that an RPC starts.
pub(super) struct Operation {
    /// The place among those of the service, without a suffix.
    pub(super) index: Literal,
    /// The accessor of their settings, and the function that starts one.
    pub(super) ident: Ident,
    /// The function that takes one up by its name.
    pub(super) resume: Ident,
    pub(super) docs: DocLines,
    /// `None`: the protos don't say which types they have.
    pub(super) types: Option<(MessageType, MessageType)>,
}

/// A message's Rust type, and its full name.
pub(super) struct MessageType {
    pub(super) path: TokenStream,
    pub(super) name: String,
}

impl MessageType {
    fn new(path: &str, name: &str, proto_path: &str) -> Self {
        Self { path: rust_type(path, proto_path), name: name.trim_start_matches('.').to_owned() }
    }
}

/// The functions of a client for the operations that an RPC starts, and the types that these have: the response's path and
/// full name, then the metadata's.
pub(super) struct OperationNames<'a> {
    pub(super) index: usize,
    pub(super) start: String,
    pub(super) resume: String,
    pub(super) types: Option<[(String, &'a str); 2]>,
}

/// The note on an RPC that takes a stream.
const REPLAYED: &str =
    "Its requests are a stream: they are sent again only if the client's settings enable it.";

impl<'a> Rpc<'a> {
    pub(super) fn new(
        (index, accessor): (usize, &str),
        (operation, batching, pages): (Option<OperationNames<'_>>, Numbered, Option<PageFields>),
        method: &'a Method,
        (request, response): (String, String),
        comment: &'a [String],
        entry: &JoinedMethod,
        emitter: &'a Emitter,
    ) -> Self {
        let name = method.proto_name.as_str();
        let docs = DocLines::new(format!("The settings of `{name}`.")).block(first_sentence(comment));
        let JoinedMethod { codes, params, .. } = entry;
        let source = Source { codes: &codes.name, params: &params.name, origin: entry.origin.as_ref() };
        let settings = (codes.value, &params.value);
        let hedging = entry.hedging.as_ref();
        let policy = policy_docs(docs, entry.kind, settings, hedging, emitter.compatibility, source);
        let operation = operation.zip(entry.polling.as_ref()).map(|(names, polling)| Operation {
            index: Literal::usize_unsuffixed(names.index),
            ident: format_ident!("{}", names.start),
            resume: format_ident!("{}", names.resume),
            docs: polling_docs(name, polling, emitter.compatibility),
            types: names.types.map(|types| {
                types.map(|(path, name)| MessageType::new(&path, name, &emitter.proto_path)).into()
            }),
        });
        Self {
            index: Literal::usize_unsuffixed(index),
            ident: format_ident!("{accessor}"),
            name,
            kind: entry.kind,
            request: rust_type(&request, &emitter.proto_path),
            response: rust_type(&response, &emitter.proto_path),
            comment,
            deprecated: method.options.deprecated().then(|| quote!(#[deprecated])),
            operation,
            batching: batching.zip(entry.batch_descriptor.clone()).map(|((index, ident), descriptor)| {
                RpcBatching {
                    index: Literal::usize_unsuffixed(index),
                    ident: format_ident!("{ident}"),
                    full_name: format!("{}/{name}", entry.service),
                    descriptor,
                }
            }),
            request_ids: emitter.request_ids.of(&entry.service, &entry.name),
            pages,
            policy: match &entry.batching {
                Some(batching) => policy.block([batching_words(batching)]),
                None if entry.kind.streams_requests() => policy.block([REPLAYED]),
                None => policy,
            },
        }
    }

    /// The docs of its accessors: what it does, what the table says, what that leads to.
    pub(super) fn policy_docs(&self) -> &DocLines {
        &self.policy
    }
}

/// A field's name as prost writes it.
pub(super) fn field_ident(name: &str) -> Ident {
    let name = name.to_snake_case();
    match name.as_str() {
        "_" | "super" | "self" | "extern" | "crate" => format_ident!("{name}_"),
        name if syn::parse_str::<Ident>(name).is_ok() => format_ident!("{name}"),
        name => format_ident!("r#{name}"),
    }
}

/// A message's type, from inside a service's module.
pub(super) fn rust_type(name: &str, proto_path: &str) -> TokenStream {
    let path = if is_absolute(name) { name.to_owned() } else { format!("{proto_path}::{name}") };
    path.parse().expect("prost writes types that are Rust")
}

/// A message's path from a package's module, as prost writes it from another package's.
pub(super) fn rebased(path: &str, from: &str, to: &str) -> String {
    if is_absolute(path) || from == to {
        return path.to_owned();
    }
    let module = |package: &str| -> Vec<String> {
        Module::from_protobuf_package_name(package).parts().map(str::to_owned).collect()
    };
    let (mut absolute, to) = (module(from), module(to));
    for part in path.split("::") {
        match part {
            "super" => drop(absolute.pop()),
            part => absolute.push(part.to_owned()),
        }
    }
    let common = absolute.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("super", to.len() - common);
    up.chain(absolute.iter().skip(common).map(String::as_str)).collect::<Vec<_>>().join("::")
}

/// Returns whether a type is found from everywhere by that path.
fn is_absolute(path: &str) -> bool {
    path.starts_with("::") || path.starts_with("crate::") || BARE_TYPES.contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_another_package_are_found() {
        let (location, redis) = ("google.cloud.location", "google.cloud.redis.v1");
        for (path, from, to, expected) in [
            ("ListLocationsRequest", location, redis, "super::super::location::ListLocationsRequest"),
            ("super::super::iam::v1::Policy", location, redis, "super::super::super::iam::v1::Policy"),
            ("Operation", "google.longrunning", "google.longrunning.v2", "super::Operation"),
            ("Thing", "a.b.c", "a", "b::c::Thing"),
            ("Thing", "a.type", "b", "super::a::r#type::Thing"),
            ("Thing", "", "a.b", "super::super::Thing"),
            ("Thing", "a", "a", "Thing"),
            ("()", location, redis, "()"),
            ("::prost_types::Any", location, redis, "::prost_types::Any"),
            (
                "::types::google::cloud::location::Location",
                location,
                redis,
                "::types::google::cloud::location::Location",
            ),
        ] {
            assert_eq!(rebased(path, from, to), expected);
        }
    }

    #[test]
    fn types_are_found_from_inside_the_module() {
        for (name, expected) in [
            ("ListAssetsRequest", "super :: ListAssetsRequest"),
            ("super::longrunning::Operation", "super :: super :: longrunning :: Operation"),
            ("::prost_types::Any", ":: prost_types :: Any"),
            ("crate::a::B", "crate :: a :: B"),
            ("()", "()"),
            ("u32", "u32"),
            ("::prost::alloc::vec::Vec<u8>", ":: prost :: alloc :: vec :: Vec < u8 >"),
        ] {
            assert_eq!(rust_type(name, "super").to_string(), expected);
        }
    }
}
