//! Lists that servers give page by page, as streams of items or of pages ([AIP-158](https://google.aip.dev/158)).
//!
//! Generated clients have a method for each RPC that is paged: `list_assets_paged` in addition to `list_assets`. [`paginate`]
//! does the same over any client.

mod closure;
mod error;
mod page;
mod paged;
pub(crate) mod unary;
mod walk;

pub use closure::{ClosurePages, paginate};
pub use error::PageError;
pub use page::{IntoPage, Page, PageToken};
pub use paged::{Paged, Pages};
pub use unary::{PagedCall, UnaryPages};
pub use walk::PageSource;
