//! Where the addresses of endpoints come from.

mod address;
mod resolve;
mod target;

pub use address::Address;
pub(super) use address::{AddressBook, check_path};
pub(super) use resolve::Dns;
pub use resolve::{AddressList, ResolveFuture, Resolver};
pub use target::TargetError;
pub(super) use target::{Place, Target, without_user_info};
