//! The emulator's memory: objects, and uploads that are not yet whole.

mod checksums;
mod object;
mod preconditions;
mod session;

pub use object::StorageObject;

pub(crate) use checksums::Checksums;
pub(crate) use object::Objects;
pub(crate) use preconditions::Preconditions;
pub(crate) use session::{CHUNK, ObjectUpload, Protocol, Session, Stage};
