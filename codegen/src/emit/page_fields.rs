//! The fields that an RPC's pages are asked for and read by.

use crate::page_items::ResolvedPages;
use crate::paging::{Item, ItemType};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The fields of an RPC's messages that its pages are about.
pub(super) struct PageFields {
    /// The request's, for the size of a page.
    pub(super) size: Option<Ident>,
    /// The response's, with the items, and its name in the proto.
    pub(super) items: TokenStream,
    pub(super) items_name: String,
    pub(super) item: TokenStream,
    /// Makes a list of the items in that field.
    pub(super) into_list: TokenStream,
    /// `#[allow(..)]`, where a lint would mind.
    pub(super) allowed: Option<TokenStream>,
}

impl PageFields {
    /// `message` is the type of the message in an item.
    pub(super) fn new(pages: &ResolvedPages, message: &TokenStream) -> Self {
        let shape = &pages.shape;
        let of = |item: &ItemType| match item {
            ItemType::Scalar(name) => name.parse().expect("a type of Rust's own"),
            ItemType::Bytes => quote!(::std::vec::Vec<u8>),
            ItemType::Message(_) => message.clone(),
        };
        let converts = *shape.item.value() == ItemType::Bytes;
        // prost may have been configured to make other types of bytes and maps.
        let (item, into_list) = match &shape.item {
            Item::One(item) => {
                let into_vecs = || quote!(.into_iter().map(::core::convert::Into::into).collect());
                (of(item), converts.then(into_vecs).unwrap_or_default())
            }
            Item::Entry(key, value) => {
                let into_vec = converts.then(|| quote!(.map(|(key, value)| (key, value.into()))));
                let (key, value) = (of(key), of(value));
                (quote!((#key, #value)), quote!(.into_iter() #into_vec .collect()))
            }
        };
        let lints = [
            shape.is_deprecated.then(|| quote!(deprecated)),
            converts.then(|| quote!(clippy::useless_conversion)),
        ];
        let lints: Vec<TokenStream> = lints.into_iter().flatten().collect();
        let allowed = || quote!(#[allow(#(#lints),*, reason = "the proto's own fields")]);
        Self {
            size: shape.size.as_ref().map(|size| format_ident!("{}", size.name)),
            items: pages.field.parse().expect("prost writes fields that are Rust"),
            items_name: shape.items.clone(),
            item,
            into_list,
            allowed: (!lints.is_empty()).then(allowed),
        }
    }
}
