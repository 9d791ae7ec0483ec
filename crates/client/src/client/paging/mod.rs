//! Lists that servers give page by page, as streams of items or of pages ([AIP-158](https://google.aip.dev/158)).
//!
//! Generated clients have a method for each RPC that is paged: `list_assets_paged` in addition to `list_assets`. [`paginate`]
//! does the same over any client.

mod closure;
mod error;
mod page;
mod page_token;
mod paged;
mod pages;
pub(crate) mod unary;
mod walk;

pub use closure::{ClosurePages, paginate};
pub use error::PageError;
pub use page::{IntoPage, Page};
pub use page_token::PageToken;
pub use paged::Paged;
pub use pages::Pages;
pub use unary::{PagedCall, UnaryPages};
pub use walk::PageSource;
