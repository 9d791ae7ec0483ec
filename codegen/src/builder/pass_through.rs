//! Options that are tonic's and prost's own.

use super::options::Builder;

impl Builder {
    /// Starts from this configuration of prost, for options that have no method here.
    ///
    /// Its `extern_path`s are used for messages; give those of services to [`extern_path`](Builder::extern_path) instead. Its
    /// service generator, output directory and include file are not used. Messages know their names (`prost::Name`) only if it has
    /// `enable_type_names`, which is on without it.
    pub fn prost_config(mut self, config: prost_build::Config) -> Self {
        self.prost = config;
        self
    }

    /// Adds an attribute to messages, enums and one-ofs.
    pub fn type_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.prost.type_attribute(path, attribute);
        self
    }

    /// Adds an attribute to messages.
    pub fn message_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.prost.message_attribute(path, attribute);
        self
    }

    /// Adds an attribute to enums and one-ofs.
    pub fn enum_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.prost.enum_attribute(path, attribute);
        self
    }

    /// Adds an attribute to fields.
    pub fn field_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.prost.field_attribute(path, attribute);
        self
    }

    /// Adds an attribute to modules of tonic's clients.
    pub fn client_mod_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.tonic = self.tonic.client_mod_attribute(path, attribute);
        self
    }

    /// Adds an attribute to tonic's clients.
    pub fn client_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.tonic = self.tonic.client_attribute(path, attribute);
        self
    }

    /// Adds an attribute to modules of tonic's servers.
    pub fn server_mod_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.tonic = self.tonic.server_mod_attribute(path, attribute);
        self
    }

    /// Adds an attribute to tonic's servers.
    pub fn server_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.tonic = self.tonic.server_attribute(path, attribute);
        self
    }

    /// Adds an attribute to the traits of tonic's servers.
    pub fn trait_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.tonic = self.tonic.trait_attribute(path, attribute);
        self
    }

    /// Boxes a field.
    pub fn boxed(mut self, path: impl AsRef<str>) -> Self {
        self.prost.boxed(path);
        self
    }

    /// Makes map fields `BTreeMap`s.
    pub fn btree_map<I>(mut self, paths: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.prost.btree_map(paths);
        self
    }

    /// Makes `bytes` fields `Bytes`.
    pub fn bytes<I>(mut self, paths: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.prost.bytes(paths);
        self
    }

    /// Leaves `Debug` out of messages.
    pub fn skip_debug<I>(mut self, paths: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.prost.skip_debug(paths);
        self
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

    /// The codec of tonic's own clients and servers; the client that retries speaks prost.
    pub fn codec_path(mut self, path: impl AsRef<str>) -> Self {
        self.tonic = self.tonic.codec_path(path);
        self
    }

    /// Gives the methods of tonic's servers an `Arc` of the service.
    pub fn use_arc_self(mut self, enable: bool) -> Self {
        self.tonic = self.tonic.use_arc_self(enable);
        self
    }

    /// Lets tonic's servers reply `UNIMPLEMENTED` for methods that are not written.
    pub fn generate_default_stubs(mut self, enable: bool) -> Self {
        self.tonic = self.tonic.generate_default_stubs(enable);
        self
    }
}
