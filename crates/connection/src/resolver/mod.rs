//! Where the addresses of endpoints come from.

mod address;
mod address_book;
mod address_list;
mod dns;
mod resolve;
mod target;

pub use address::Address;
pub(super) use address::check_path;
pub(super) use address_book::AddressBook;
pub use address_list::AddressList;
pub(super) use dns::Dns;
pub use resolve::{ResolveFuture, Resolver};
pub use target::TargetError;
pub(super) use target::{Place, Target, without_user_info};
