//! Pages that a generated client reads.

use crate::client::core::Client;
use crate::client::paging::{Page, PageSource, Paged};
use crate::client::unary::UnaryCall;
use prost::Message;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Request, Response, Status};
use tonic_gax::GrpcTransport;

/// A list that a generated client reads: a stream of its items.
pub type PagedCall<T, Req, Res, Item> = Paged<UnaryPages<T, Req, Res, Item>>;

/// The pages of an RPC: a unary call each.
pub struct UnaryPages<T, Req, Res, Item> {
    client: Client<T>,
    index: usize,
    method: PagedMethod<Req, Res, Item>,
    metadata: MetadataMap,
    extensions: Extensions,
    message: Req,
}

impl<T, Req, Res, Item> PageSource for UnaryPages<T, Req, Res, Item>
where
    T: GrpcTransport,
    Req: Message + Clone + Send + Sync + 'static,
    Res: Message + Default + Send + Sync + 'static,
{
    type Token = String;
    type Item = Item;
    type Response = Response<Res>;
    type Reply = Response<Res>;
    type Error = Status;
    type Call = UnaryCall<T, Res>;

    fn call(&mut self, token: String, missing: Option<usize>) -> UnaryCall<T, Res> {
        let mut message = self.message.clone();
        let field = (self.method.page_token)(&mut message);
        if field.get() != token {
            field.set(token);
        }
        if let Some((page_size, missing)) = self.method.page_size.zip(missing) {
            page_size(&mut message).at_most(missing);
        }
        let (metadata, extensions) = (self.metadata.clone(), self.extensions.clone());
        self.client.unary(self.index, Request::from_parts(metadata, extensions, message))
    }

    fn page(&self, mut response: Response<Res>) -> Page<Response<Res>, Item> {
        let message = response.get_mut();
        let next_token = (self.method.next_page_token)(message).get().to_owned();
        Page::new((self.method.items)(message), next_token).with_response(response)
    }
}

gax_text::short_debug! { self: [T, Req, Res, Item] UnaryPages<T, Req, Res, Item> {} }

/// For generated code: where an RPC's messages have what paging is about.
#[expect(missing_debug_implementations, reason = "for generated code")]
#[expect(clippy::exhaustive_structs, reason = "generated code makes it")]
pub struct PagedMethod<Req, Res, Item> {
    /// The request's token.
    pub page_token: fn(&mut Req) -> &mut dyn TokenField,
    /// The request's page size, if it has one.
    pub page_size: Option<fn(&mut Req) -> &mut dyn SizeField>,
    /// The response's token.
    pub next_page_token: fn(&mut Res) -> &mut dyn TokenField,
    /// Moves the items out of the response.
    pub items: fn(&mut Res) -> Vec<Item>,
}

/// For generated code: a list's pages, from the one that the request asks for.
pub fn paged<T, Req, Res, Item>(
    client: &Client<T>,
    index: usize,
    request: Request<Req>,
    method: PagedMethod<Req, Res, Item>,
) -> PagedCall<T, Req, Res, Item>
where
    T: GrpcTransport,
    Req: Message + Clone + Send + Sync + 'static,
    Res: Message + Default + Send + Sync + 'static,
{
    let (metadata, extensions, mut message) = request.into_parts();
    let first = (method.page_token)(&mut message).get().to_owned();
    Paged::new(UnaryPages { client: client.clone(), index, method, metadata, extensions, message }, first)
}

/// A field that holds a token.
pub trait TokenField {
    /// The token; empty, if there's none.
    fn get(&self) -> &str;
    /// Puts a token into it.
    fn set(&mut self, token: String);
}

impl TokenField for String {
    fn get(&self) -> &str {
        self
    }

    fn set(&mut self, token: String) {
        *self = token;
    }
}

impl TokenField for Option<String> {
    fn get(&self) -> &str {
        self.as_deref().unwrap_or_default()
    }

    fn set(&mut self, token: String) {
        *self = Some(token);
    }
}

/// A field that holds the size of a page.
pub trait SizeField {
    /// Lowers a size that is set. Zero and a negative number are the server's own choice, and stay.
    fn at_most(&mut self, items: usize);
}

/// Numbers, and numbers that may be missing.
macro_rules! sizes {
    ($($number:ty),*) => {
        $(
            impl SizeField for $number {
                fn at_most(&mut self, items: usize) {
                    *self = (*self).min(<$number>::try_from(items).unwrap_or(<$number>::MAX));
                }
            }
        )*
    };
}

sizes!(i32, i64, u32, u64);

impl<N: SizeField> SizeField for Option<N> {
    fn at_most(&mut self, items: usize) {
        if let Some(size) = self {
            size.at_most(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowered<N: SizeField + Copy>(sizes: &[N], items: usize) -> Vec<N> {
        let mut sizes = sizes.to_vec();
        for size in &mut sizes {
            size.at_most(items);
        }
        sizes
    }

    #[test]
    fn only_a_size_that_is_greater_is_lowered() {
        assert_eq!(lowered(&[-1, 0, 1, 2, 3, 4], 3), [-1, 0, 1, 2, 3, 3]);
        assert_eq!(lowered(&[0_u32, 4], 3), [0, 3]);
        assert_eq!(lowered(&[None, Some(0_u64), Some(4)], 3), [None, Some(0), Some(3)]);
        assert_eq!(lowered(&[i32::MAX], usize::MAX), [i32::MAX]);
        assert_eq!(lowered(&[i64::MAX], 1), [1]);
    }

    #[test]
    fn a_missing_token_is_empty() {
        let mut token = None;
        assert_eq!(TokenField::get(&token), "");
        token.set("a".to_owned());
        assert_eq!(token, Some("a".to_owned()));
    }
}
