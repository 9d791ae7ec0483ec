//! `gax table`: retry tables, shown, checked and compared.

mod bounds;
mod by_policy;
mod clients;
mod command;
mod convert;
mod diff;
mod explain;
mod lint;
mod show;
pub(in crate::command) mod source;
mod view;

pub(super) use clients::other_client;
pub(crate) use command::{TableCommand, run};
pub(super) use source::{Api, ProtoFlags};
pub(super) use view::close_method;
