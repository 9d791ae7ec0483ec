//! One view of a method, on which `gax table show`, `explain` and `diff` stand.

mod find;
mod http;
mod json;
mod method_view;
mod text;
mod words;

pub(in crate::command) use find::close_method;
pub(super) use find::{find, has_nothing, methods};
pub(super) use http::HttpView;
pub(super) use json::{Members, batching_members, code_names, hedging_members, ms, polling_members};
pub(super) use method_view::{MethodView, full_name, most_attempts, recoverable_codes};
pub(super) use text::settings_table;
pub(super) use words::{
    batching, codes_text, count_limit, delay, hedging, limit, line_of, or_none, polling, rpc_timeout,
    short_place,
};
