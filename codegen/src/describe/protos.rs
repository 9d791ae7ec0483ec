//! Protos as services.

use super::options::MethodOptions;
use crate::Error;
use crate::descriptors::{Descriptors, ProtoService, full_name};
use crate::includes::compiler;
use gax_table::{MethodDescription, ServiceDescription};
use prost::Message as _;
use prost_types::FileDescriptorSet;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The services of compiled protos; see [`describe_protos`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protos {
    services: Vec<ServiceDescription>,
    imported: Vec<ServiceDescription>,
    java_packages: HashMap<String, String>,
    descriptor_set: Vec<u8>,
}

impl Protos {
    gax_text::getters! { self:
        /// The services of the protos that were named, in their order.
        pub services: &[ServiceDescription] = &self.services;

        /// The services of other protos that these import.
        pub imported: &[ServiceDescription] = &self.imported;

        /// The compiled protos with their imports: an encoded `FileDescriptorSet`.
        pub descriptor_set: &[u8] = &self.descriptor_set;
    }

    /// The Java package of the file that defines the service, if it says one.
    #[must_use]
    pub fn java_package(&self, service: &str) -> Option<&str> {
        self.java_packages.get(service).map(String::as_str)
    }
}

/// Compiles protos and describes their services: how each method is called, whether it starts a long-running
/// operation, and whether it is idempotent.
///
/// Imports are looked for below `includes`; no `protoc` is needed.
///
/// # Errors
///
/// The protos don't compile.
///
/// # Examples
///
/// ```no_run
/// let protos = tonic_gax_build::describe_protos(&["google/cloud/redis/v1/cloud_redis.proto"], &["protos"])?;
/// assert_eq!(protos.services()[0].name(), "google.cloud.redis.v1.CloudRedis");
/// # Ok::<(), tonic_gax_build::Error>(())
/// ```
pub fn describe_protos(protos: &[impl AsRef<Path>], includes: &[impl AsRef<Path>]) -> Result<Protos, Error> {
    let mut compiler = compiler(includes);
    compiler.include_imports(true).open_files(protos)?;
    let requested: Vec<String> =
        compiler.files().filter(|file| !file.is_import()).map(|file| file.name().to_owned()).collect();
    let (encoded, set) = (compiler.encode_file_descriptor_set(), compiler.file_descriptor_set());
    let is_own = |file: &str| requested.iter().any(|requested| requested == file);
    let place = |file: &str| protos.iter().position(|path| path.as_ref().ends_with(file));
    describe_set(&encoded, &set, is_own, place)
}

/// As [`describe_protos`], for an encoded `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out` and
/// `buf build` write it. The services of files that others in the set import are treated as imported.
///
/// # Errors
///
/// The bytes are no `FileDescriptorSet`, or a file uses editions.
///
/// # Examples
///
/// ```
/// let error = tonic_gax_build::describe_encoded_fds(b"message").unwrap_err();
/// assert!(error.to_string().contains("not a FileDescriptorSet"));
/// ```
pub fn describe_encoded_fds(encoded: &[u8]) -> Result<Protos, Error> {
    let set = decode_set("describe_encoded_fds", encoded)?;
    refuse_editions(&set)?;
    let imported: HashSet<&str> =
        set.file.iter().flat_map(|file| &file.dependency).map(String::as_str).collect();
    describe_set(encoded, &set, |file| !imported.contains(file), |_| None)
}

/// A set from its bytes; `option` is what they were given to.
pub(crate) fn decode_set(option: &str, encoded: &[u8]) -> Result<FileDescriptorSet, Error> {
    FileDescriptorSet::decode(encoded).map_err(|error| {
        let help = "give what protoc --descriptor_set_out or buf build writes";
        Error::option(option, format!("has bytes that are not a FileDescriptorSet ({error})"), help)
    })
}

/// prost knows `proto2` and `proto3` only, and panics at anything else.
pub(crate) fn refuse_editions(set: &FileDescriptorSet) -> Result<(), Error> {
    let with_editions = set.file.iter().find(|file| file.syntax() == "editions");
    with_editions.map_or(Ok(()), |file| Err(Error::editions(file.name())))
}

/// The services of a set, those of own files in the order of their places.
fn describe_set(
    encoded: &[u8],
    set: &FileDescriptorSet,
    is_own: impl Fn(&str) -> bool,
    place: impl Fn(&str) -> Option<usize>,
) -> Result<Protos, Error> {
    let options = MethodOptions::decode(encoded).map_err(|error| Error::generator(error.into()))?;
    let descriptors = Descriptors::new(set);
    let (mut own, imported): (Vec<&ProtoService>, Vec<&ProtoService>) =
        descriptors.services.iter().partition(|service| is_own(&service.file));
    // Descriptors come imports first, whatever the order of the files asked for.
    own.sort_by_key(|service| place(&service.file));
    let describe = |services: Vec<&ProtoService>| {
        services.into_iter().map(|service| describe(service, &options)).collect()
    };
    Ok(Protos {
        services: describe(own),
        imported: describe(imported),
        java_packages: java_packages(set),
        descriptor_set: encoded.to_vec(),
    })
}

/// Per service the Java package of its file.
fn java_packages(set: &FileDescriptorSet) -> HashMap<String, String> {
    let services = set.file.iter().flat_map(|file| file.service.iter().map(move |service| (file, service)));
    let packages = services.filter_map(|(file, service)| {
        let package = file.options.as_ref()?.java_package.clone()?;
        Some((full_name(file.package(), service.name()), package))
    });
    packages.collect()
}

/// A service in the words of retry tables.
pub(crate) fn describe(service: &ProtoService, options: &MethodOptions) -> ServiceDescription {
    service.methods.iter().fold(ServiceDescription::new(&service.full_name), |description, method| {
        let mut described = MethodDescription::new(&method.name, method.kind);
        if method.returns_operation {
            described = described.returning_operation();
        }
        if let Some(options) = options.of(&service.full_name, &method.name) {
            described = described.with_idempotency(options.idempotency());
            if options.is_long_running() {
                described = described.long_running();
            }
            if let Some((verb, _)) = options.http_pattern() {
                described = described.with_http_verb(verb);
            }
        }
        description.with_method(described)
    })
}
