//! RPCs of protos, and where something stands in one.

use crate::descriptors::full_name;
use gax_table::{Finding, RoutingError, Severity};
use prost_types::{FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto};

/// The number of `google.api.http` among a method's options, and that of `google.api.routing`.
pub(super) const HTTP: i32 = 72_295_728;
pub(super) const ROUTING: i32 = 72_295_729;

/// An RPC in its proto.
pub(super) struct Rpc<'a> {
    file: &'a FileDescriptorProto,
    path: [i32; 4],
    /// The full name of its service.
    pub(super) service: String,
    pub(super) method: &'a MethodDescriptorProto,
}

/// All RPCs, in the order of the files.
pub(super) fn rpcs(set: &FileDescriptorSet) -> impl Iterator<Item = Rpc<'_>> {
    let services = set.file.iter().flat_map(|file| file.service.iter().enumerate().map(move |at| (file, at)));
    services.flat_map(|(file, (number, service))| {
        service.method.iter().enumerate().map(move |(index, method)| Rpc {
            file,
            path: [6, as_number(number), 2, as_number(index)],
            service: full_name(file.package(), service.name()),
            method,
        })
    })
}

impl Rpc<'_> {
    /// The names of its service and of itself.
    pub(super) fn key(&self) -> (String, String) {
        (self.service.clone(), self.method.name().to_owned())
    }

    /// Where an option of it stands, or else the RPC: `file:line:column`, or the file alone.
    pub(super) fn place_of(&self, option: i32) -> String {
        place_at(self.file, &[&self.path[..], &[4, option]].concat(), 4)
    }

    /// Its annotation there can't be used.
    pub(super) fn unusable(&self, place: &str, error: &RoutingError, without: &str) -> Finding {
        let message = format!("{place}: {}.{}: {error}, so that {without}", self.service, self.method.name());
        Finding::new("unusable-annotation", Severity::Warning, message).with_help(error.help().to_owned())
    }
}

/// The place nearest to what has that path, of those that have at least so many steps of it: `file:line:column`, or the file alone.
pub(crate) fn place_at(file: &FileDescriptorProto, path: &[i32], least: usize) -> String {
    let locations = file.source_code_info.iter().flat_map(|info| &info.location);
    let common = |location: &[i32]| path.iter().zip(location).take_while(|(one, other)| one == other).count();
    let near = locations.filter(|location| common(&location.path) >= least);
    let nearest =
        near.max_by_key(|location| (common(&location.path), std::cmp::Reverse(location.path.len())));
    match nearest.map(|location| location.span.as_slice()) {
        Some([line, column, ..]) => format!("{}:{}:{}", file.name(), line + 1, column + 1),
        _ => file.name().to_owned(),
    }
}

pub(crate) fn as_number(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
