//! Where something stands in a proto.

use prost_types::FileDescriptorProto;

/// Where an option of a method stands, or else the method, given their numbers in the file: `file:line:column`, or the file alone.
pub(crate) fn place_of(file: &FileDescriptorProto, [service, method]: [usize; 2], option: i32) -> String {
    place_at(file, &[6, as_number(service), 2, as_number(method), 4, option], 4)
}

/// The place nearest to what has that path, of those that have at least so many steps of it.
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
