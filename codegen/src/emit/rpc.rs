//! One RPC, in the pieces that generated code is made of.

use super::Emitter;
use crate::docs::{DocLines, Source, first_sentence, policy_docs};
use crate::join::JoinedMethod;
use gax_retry::MethodKind;
use proc_macro2::{Ident, Literal, TokenStream};
use prost_build::Method;
use quote::{format_ident, quote};

/// Types that prost writes without a path.
const BARE_TYPES: [&str; 8] = ["()", "bool", "i32", "i64", "u32", "u64", "f32", "f64"];

/// One RPC.
pub(super) struct Rpc<'a> {
    /// Its place among the service's methods, without a suffix.
    pub(super) index: Literal,
    /// What its functions are called.
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
    policy: DocLines,
}

impl<'a> Rpc<'a> {
    pub(super) fn new(
        index: usize,
        accessor: &str,
        method: &'a Method,
        comment: &'a [String],
        entry: &JoinedMethod,
        emitter: &Emitter,
    ) -> Self {
        let name = method.proto_name.as_str();
        let docs = DocLines::new(format!("The settings of `{name}`.")).block(first_sentence(comment));
        let JoinedMethod { codes, params, .. } = entry;
        let source = Source { codes: &codes.name, params: &params.name, origin: entry.origin.as_ref() };
        Self {
            index: Literal::usize_unsuffixed(index),
            ident: format_ident!("{accessor}"),
            name,
            kind: entry.kind,
            request: rust_type(&method.input_type, &emitter.proto_path),
            response: rust_type(&method.output_type, &emitter.proto_path),
            comment,
            deprecated: method.options.deprecated().then(|| quote!(#[deprecated])),
            policy: policy_docs(
                docs,
                entry.kind,
                (codes.value, &params.value),
                emitter.compatibility,
                source,
            ),
        }
    }

    /// Whether there are settings for it: a stream of requests is never sent again.
    pub(super) fn has_settings(&self) -> bool {
        !self.kind.streams_requests()
    }

    /// The docs of its accessors: what it does, what the table says, what that leads to.
    pub(super) fn policy_docs(&self) -> &DocLines {
        &self.policy
    }
}

/// A message's type, from inside a service's module.
fn rust_type(name: &str, proto_path: &str) -> TokenStream {
    let is_absolute = name.starts_with("::") || name.starts_with("crate::");
    let path = if is_absolute || BARE_TYPES.contains(&name) {
        name.to_owned()
    } else {
        format!("{proto_path}::{name}")
    };
    path.parse().expect("prost writes types that are Rust")
}

#[cfg(test)]
mod tests {
    use super::*;

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
