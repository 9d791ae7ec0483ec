//! The generator's options.

use crate::tables::{Sources, TableSource};
use gax_table::Dialect;
use std::collections::HashSet;
use std::path::PathBuf;

/// The crate that generated clients run on.
pub(super) const DEFAULT_RUNTIME: &str = "::gax_client";

/// Starts a generator with the default options.
///
/// # Examples
///
/// In a build script:
///
/// ```no_run
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     tonic_gax_build::configure()
///         .retry_table("proto/cloudasset_grpc_service_config.json")
///         .compile_protos(&["google/cloud/asset/v1/asset_service.proto"], &["proto"])?;
///     Ok(())
/// }
/// ```
pub fn configure() -> Builder {
    Builder::default()
}

/// Options of the generator. Made by [`configure`].
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | [`retry_table`](Self::retry_table) | none: no RPC is retried or has a deadline |
/// | [`gapic_yaml`](Self::gapic_yaml) | none: operations are polled as in Google's generators |
/// | [`service_yaml`](Self::service_yaml) | none: no methods are mixed in |
/// | [`dialect`](Self::dialect) | [`Dialect::AsWritten`] |
/// | [`deny_unknown_methods`](Self::deny_unknown_methods) | false: they are warnings |
/// | [`build_client`](Self::build_client), [`build_server`](Self::build_server) | true: tonic's own client and server are generated too |
/// | [`build_transport`](Self::build_transport) | true: clients have `connect` |
/// | [`build_rest`](Self::build_rest) | false: clients have no `rest` |
/// | [`build_batching`](Self::build_batching) | false: clients have no functions that batch requests |
/// | [`out_dir`](Self::out_dir) | cargo's `OUT_DIR` |
/// | [`include_file`](Self::include_file) | none |
/// | [`runtime_path`](Self::runtime_path) | `::gax_client` |
/// | [`emit_rerun_if_changed`](Self::emit_rerun_if_changed) | whether cargo runs us |
///
/// All other options are those of `tonic-prost-build`, with its defaults.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own, as in tonic's builder")]
#[must_use = "nothing is generated before compile_protos() or generate()"]
pub struct Builder {
    pub(super) prost: prost_build::Config,
    pub(super) tonic: tonic_prost_build::Builder,
    pub(super) sources: Sources,
    pub(super) dialect: Dialect,
    pub(super) deny_unknown_methods: bool,
    pub(super) extern_paths: Vec<(String, String)>,
    pub(super) build_client: bool,
    pub(super) build_server: bool,
    pub(super) build_transport: bool,
    pub(super) build_rest: bool,
    pub(super) build_batching: bool,
    pub(super) proto_path: String,
    pub(super) runtime_path: String,
    pub(super) disable_comments: HashSet<String>,
    pub(super) out_dir: Option<PathBuf>,
    pub(super) include_file: Option<String>,
    pub(super) file_descriptor_set_path: Option<PathBuf>,
    pub(super) emit_rerun_if_changed: bool,
}

/// Messages know their full names, with which they are read out of a `google.protobuf.Any`.
fn named(mut prost: prost_build::Config) -> prost_build::Config {
    prost.enable_type_names().type_name_domain(["."], "type.googleapis.com");
    prost
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            prost: named(prost_build::Config::new()),
            tonic: tonic_prost_build::configure(),
            sources: Sources::default(),
            dialect: Dialect::default(),
            deny_unknown_methods: false,
            extern_paths: Vec::new(),
            build_client: true,
            build_server: true,
            build_transport: true,
            build_rest: false,
            build_batching: false,
            proto_path: "super".to_owned(),
            runtime_path: DEFAULT_RUNTIME.to_owned(),
            disable_comments: HashSet::new(),
            out_dir: None,
            include_file: None,
            file_descriptor_set_path: None,
            emit_rerun_if_changed: std::env::var_os("CARGO").is_some(),
        }
    }
}

gax_text::short_debug! {
    self: Builder {
        sources: self.sources,
        dialect: self.dialect,
        deny_unknown_methods: self.deny_unknown_methods,
        prost: self.prost
    }
}

impl Builder {
    gax_text::setters! { self:
        /// Reads a retry table from a file, in whatever format it is. May be called several times: a method
        /// that two tables name gets the policy of the later one. A table is a regular file of at most 16 MiB;
        /// so is a proto.
        pub retry_table(path: impl Into<PathBuf>) => self.sources.tables.push(TableSource::Path(path.into()));
        /// Reads a retry table from a text, which has to be UTF-8. The name is used in messages, docs and errors.
        pub retry_table_text(name: impl Into<String>, text: impl Into<Vec<u8>>) =>
            self.sources.tables.push(TableSource::Text { name: name.into(), text: text.into() });
        /// Reads an API's GAPIC YAML: how long-running operations are polled and requests are batched and, in schema 1,
        /// policies too. May be called several times; it is treated as a table that comes after all others.
        pub gapic_yaml(path: impl Into<PathBuf>) =>
            self.sources.gapic_yaml.push(TableSource::Path(path.into()));
        /// Reads an API's GAPIC YAML from a text, which has to be UTF-8. The name is used in messages, docs and errors.
        pub gapic_yaml_text(name: impl Into<String>, text: impl Into<Vec<u8>>) =>
            self.sources.gapic_yaml.push(TableSource::Text { name: name.into(), text: text.into() });
        /// Reads an API's service YAML (`asset_v1.yaml`), which says which methods of other services clients have as well,
        /// such as `GetLocation` of `google.cloud.location.Locations`, and which fields of requests they fill with a new UUID
        /// if they are empty (`publishing.method_settings[].auto_populated_fields`, AIP-4235).
        ///
        /// The protos of such a service have to be named, too, in [`compile_protos`](Self::compile_protos). No separate
        /// settings and client are generated for it then.
        pub service_yaml(path: impl Into<PathBuf>) =>
            self.sources.service_yaml = Some(TableSource::Path(path.into()));
        /// Reads an API's service YAML from a text, which has to be UTF-8. The name is used in messages and errors.
        pub service_yaml_text(name: impl Into<String>, text: impl Into<Vec<u8>>) =>
            self.sources.service_yaml = Some(TableSource::Text { name: name.into(), text: text.into() });
        /// Which client's interpretation of the tables is used.
        pub dialect(dialect: Dialect) => self.dialect = dialect;
        /// Sets whether a method or service in a table that no proto has is an error, if its name is close to one that a proto has
        /// and the table lacks, because it is probably misspelt. Every other such name is a warning, since published tables name
        /// methods that are in no proto. Default: all of them are warnings.
        pub deny_unknown_methods(deny: bool) => self.deny_unknown_methods = deny;
        /// Uses Rust types that exist elsewhere for a proto package or type, such as `.google.cloud.asset.v1`.
        ///
        /// For a service in such a package neither messages nor tonic's client and server are generated, only
        /// settings and client over the existing types.
        ///
        /// # Examples
        ///
        /// ```no_run
        /// # fn main() -> Result<(), tonic_gax_build::Error> {
        /// tonic_gax_build::configure()
        ///     .retry_table("proto/cloudasset_grpc_service_config.json")
        ///     .extern_path(".google", "::googleapis_tonic_google_cloud_asset_v1::google")
        ///     .compile_protos(&["google/cloud/asset/v1/asset_service.proto"], &["proto"])
        /// # }
        /// ```
        pub extern_path(proto_path: impl Into<String>, rust_path: impl Into<String>) =>
            self.extern_paths.push((proto_path.into(), rust_path.into()));
        /// Writes the files into this directory instead of cargo's `OUT_DIR`.
        pub out_dir(directory: impl Into<PathBuf>) => self.out_dir = Some(directory.into());
        /// Adds a file of this name that includes all others in a tree of modules, one for each part of a
        /// package's name.
        pub include_file(name: impl Into<String>) => self.include_file = Some(name.into());
        /// Writes the compiled protos to this file, as an encoded `FileDescriptorSet`.
        pub file_descriptor_set_path(path: impl Into<PathBuf>) =>
            self.file_descriptor_set_path = Some(path.into());
        /// Sets whether clients have `rest`, which makes one over HTTP and JSON by the protos' `google.api.http` rules and needs the
        /// crate `gax-rest` among your dependencies. The rules of a [`service_yaml`](Self::service_yaml) go over those of the protos:
        /// operations are polled by them.
        ///
        /// The descriptors of the service, and of all messages that it needs, become part of the program. They have to come with the
        /// options of Google's APIs: by [`compile_protos`](Self::compile_protos) or
        /// [`compile_encoded_fds`](Self::compile_encoded_fds). A rule that the messages of its RPC don't fit is an error.
        pub build_rest(enable: bool) => self.build_rest = enable;
        /// Sets whether clients have a function `.._batching` for each RPC for which GAPIC YAML has a `batch_descriptor`. The code
        /// needs the crate `gax-batching` among your dependencies.
        pub build_batching(enable: bool) => self.build_batching = enable;
        /// The path under which generated code finds the crate `tonic-gax`.
        pub runtime_path(path: impl Into<String>) => self.runtime_path = path.into();
        /// Sets whether cargo runs the build script again when a proto or table changes.
        pub emit_rerun_if_changed(enable: bool) => self.emit_rerun_if_changed = enable;
    }

    /// Sets whether tonic's own client is generated, in addition to the one that retries.
    pub fn build_client(mut self, enable: bool) -> Self {
        self.build_client = enable;
        self.tonic = self.tonic.build_client(enable);
        self
    }

    /// Sets whether tonic's server is generated.
    pub fn build_server(mut self, enable: bool) -> Self {
        self.build_server = enable;
        self.tonic = self.tonic.build_server(enable);
        self
    }

    /// Sets whether clients have `connect`, which needs tonic's feature `channel`.
    pub fn build_transport(mut self, enable: bool) -> Self {
        self.build_transport = enable;
        self.tonic = self.tonic.build_transport(enable);
        self
    }
}
