//! Presets by name.

use super::Preset;
use gax_text::closest;

const ALL: &[fn() -> Preset] = &[
    super::storage,
    super::docs,
    super::docs_32,
    super::docs_legacy,
    super::memorystore_doc,
    super::memorystore,
    super::python_doc,
    super::python,
    super::python_default_retry,
    super::python_default_retry_if_generation_specified,
    super::python_default_retry_if_metageneration_specified,
    super::python_default_retry_if_etag_in_json,
    super::python_media_2,
    super::node,
    super::node_upload,
    super::node_upload_session,
    super::java_storage,
    super::java_storage_uniform,
    super::go,
    super::gsutil_doc,
    super::gsutil,
    super::gsutil_xml,
    super::gax_node,
    super::cpp,
    super::cpp_strict,
    super::csharp,
    super::php,
    super::ruby,
    super::rust,
];

/// Every preset.
pub fn all() -> impl Iterator<Item = Preset> {
    ALL.iter().map(|preset| preset())
}

/// The names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|preset| preset.name())
}

/// The preset of that name.
///
/// # Errors
///
/// No preset has that name; the error lists those that exist.
pub fn named(name: &str) -> Result<Preset, UnknownPresetError> {
    all().find(|preset| preset.name() == name).ok_or_else(|| UnknownPresetError { name: name.to_owned() })
}

/// A name that no preset has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPresetError {
    name: String,
}

gax_text::error_text! { UnknownPresetError { name }, "there is no preset {name:?}; {}", advice(name) }

fn advice(name: &str) -> String {
    let names: Vec<&str> = names().collect();
    match closest(name, names.iter().copied()) {
        Some(close) => format!("did you mean {close}?"),
        None => format!("there are {}", names.join(", ")),
    }
}
