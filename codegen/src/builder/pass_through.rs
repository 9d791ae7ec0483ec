//! Options that are tonic's and prost's own.

use super::options::Builder;

impl Builder {
    gax_text::setters! { self:
        /// Starts from this configuration of prost, for options that have no method here.
        ///
        /// Its `extern_path`s are used for messages; give those of services to [`extern_path`](Builder::extern_path) instead. Its
        /// service generator, output directory and include file are not used. Messages know their names (`prost::Name`) only if it has
        /// `enable_type_names`, which is on without it.
        pub prost_config(config: prost_build::Config) => self.prost = config;
        /// Adds an attribute to messages, enums and one-ofs.
        pub type_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.prost.type_attribute(path, attribute);
        /// Adds an attribute to messages.
        pub message_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.prost.message_attribute(path, attribute);
        /// Adds an attribute to enums and one-ofs.
        pub enum_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.prost.enum_attribute(path, attribute);
        /// Adds an attribute to fields.
        pub field_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.prost.field_attribute(path, attribute);
        /// Adds an attribute to modules of tonic's clients.
        pub client_mod_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.tonic = self.tonic.client_mod_attribute(path, attribute);
        /// Adds an attribute to tonic's clients.
        pub client_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.tonic = self.tonic.client_attribute(path, attribute);
        /// Adds an attribute to modules of tonic's servers.
        pub server_mod_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.tonic = self.tonic.server_mod_attribute(path, attribute);
        /// Adds an attribute to tonic's servers.
        pub server_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.tonic = self.tonic.server_attribute(path, attribute);
        /// Adds an attribute to the traits of tonic's servers.
        pub trait_attribute(path: impl AsRef<str>, attribute: impl AsRef<str>) =>
            self.tonic = self.tonic.trait_attribute(path, attribute);
        /// Boxes a field.
        pub boxed(path: impl AsRef<str>) => self.prost.boxed(path);
        /// The codec of tonic's own clients and servers; the client that retries speaks prost.
        pub codec_path(path: impl AsRef<str>) => self.tonic = self.tonic.codec_path(path);
        /// Gives the methods of tonic's servers an `Arc` of the service.
        pub use_arc_self(enable: bool) => self.tonic = self.tonic.use_arc_self(enable);
        /// Lets tonic's servers reply `UNIMPLEMENTED` for methods that are not written.
        pub generate_default_stubs(enable: bool) => self.tonic = self.tonic.generate_default_stubs(enable);
        /// Makes map fields `BTreeMap`s.
        pub btree_map(paths: impl IntoIterator<Item = impl AsRef<str>>) => self.prost.btree_map(paths);
        /// Makes `bytes` fields `Bytes`.
        pub bytes(paths: impl IntoIterator<Item = impl AsRef<str>>) => self.prost.bytes(paths);
        /// Leaves `Debug` out of messages.
        pub skip_debug(paths: impl IntoIterator<Item = impl AsRef<str>>) => self.prost.skip_debug(paths);
    }

    /// Generates `google.protobuf` messages instead of using those of `prost-types`.
    pub fn compile_well_known_types(mut self, enable: bool) -> Self {
        if enable {
            self.prost.compile_well_known_types();
        }
        self.tonic = self.tonic.compile_well_known_types(enable);
        self
    }

    /// Leaves the comments of services and methods out, which are named as in
    /// `google.cloud.asset.v1.AssetService.ListAssets`.
    pub fn disable_comments<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        self.disable_comments.extend(names.iter().cloned());
        self.tonic = self.tonic.disable_comments(names);
        self
    }

    /// Where messages are, from inside a module next to them. Default: `super`.
    pub fn proto_path(mut self, path: impl Into<String>) -> Self {
        self.proto_path = path.into();
        self.tonic = self.tonic.proto_path(&self.proto_path);
        self
    }
}
