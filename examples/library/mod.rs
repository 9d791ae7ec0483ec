//! The service that the examples call, `library.v1.LibraryService`, and a server for it that rejects its first calls.
#![allow(dead_code, unused_imports, reason = "an example calls a part of it")]

mod generated;
mod server;

pub(crate) use generated::google::longrunning;
pub(crate) use generated::library::v1;
pub(crate) use server::{Library, listen, serve};
