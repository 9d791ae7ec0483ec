//! Runs the generator.

use super::options::{Builder, DEFAULT_RUNTIME};
use crate::describe::{Annotations, MethodOptions, RequestIds, RestDescriptors, decode_set, refuse_editions};
use crate::descriptors::Descriptors;
use crate::emit::Emitter;
use crate::generated::{Generated, GeneratedFile, write_if_changed};
use crate::generator::{Generator, OwnCode};
use crate::generator_config::{GeneratorConfig, GeneratorOptions, TonicCode};
use crate::include_file::{Include, include_file};
use crate::includes::compiler;
use crate::tables::Loaded;
use crate::{Error, cargo, limits, operation_types};
use gax_table::RetryThrottling;
use gax_table::descriptors::MessageTypes;
use proc_macro2::{Literal, TokenStream};
use prost::{DecodeError, Message};
use prost_build::Module;
use prost_types::FileDescriptorSet;
use std::any::Any;
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Protos after compilation.
struct Compiled {
    set: FileDescriptorSet,
    encoded: Vec<u8>,
    /// The files asked for; `None`: all.
    requested: Option<HashSet<String>>,
    paths: Vec<PathBuf>,
    /// `true` if the bytes have the options of Google's APIs, which `prost_types` has no place for.
    has_extensions: bool,
}

impl Builder {
    /// Compiles protos and writes the code, for a build script. Cargo gets the warnings and the files that
    /// were read.
    ///
    /// Imports are looked for below `includes`; no `protoc` is needed. Messages and tonic's own code are also
    /// generated for imported files, settings and clients only for the protos named here and for services that a
    /// retry table names.
    ///
    /// # Errors
    ///
    /// See [`generate`](Self::generate); or a file can't be written, or there is no directory to write to.
    pub fn compile_protos(
        self,
        protos: &[impl AsRef<Path>],
        includes: &[impl AsRef<Path>],
    ) -> Result<(), Error> {
        let loaded = self.sources.load(self.dialect)?;
        let compiled = compile(protos, includes)?;
        self.compile(&loaded, compiled)
    }

    /// Writes the code for compiled protos, which must include their imports, for a build script. The same as
    /// [`compile_protos`](Self::compile_protos) with every file named. Such descriptors lack the options for long-running
    /// operations, so there are no settings for these, and for the headers and ids that Google's servers expect.
    /// [`compile_encoded_fds`](Self::compile_encoded_fds) reads these options.
    ///
    /// # Errors
    ///
    /// See [`compile_protos`](Self::compile_protos).
    pub fn compile_fds(self, set: FileDescriptorSet) -> Result<(), Error> {
        let loaded = self.sources.load(self.dialect)?;
        self.compile(&loaded, precompiled(set))
    }

    /// Writes the code for an encoded `FileDescriptorSet`, as `protoc --include_imports --include_source_info
    /// --descriptor_set_out` and `buf build` write it, for a build script. As [`compile_fds`](Self::compile_fds), but the
    /// bytes still have the options of Google's APIs: which RPCs start long-running operations, and which are safe to
    /// retry.
    ///
    /// # Errors
    ///
    /// See [`compile_protos`](Self::compile_protos); or the bytes are no `FileDescriptorSet`.
    pub fn compile_encoded_fds(self, encoded: impl Into<Vec<u8>>) -> Result<(), Error> {
        let loaded = self.sources.load(self.dialect)?;
        self.compile(&loaded, encoded_set("compile_encoded_fds", encoded.into())?)
    }

    /// Compiles protos and returns the code, without writing or printing anything.
    ///
    /// The output depends on the input alone, on every machine. The include file is written for a directory
    /// that has all files in it.
    ///
    /// # Errors
    ///
    /// A retry table can't be read or has no meaning, the protos don't compile, an option is not a Rust path, or a
    /// table names unknown methods and [`deny_unknown_methods`](Self::deny_unknown_methods) is on.
    pub fn generate(
        self,
        protos: &[impl AsRef<Path>],
        includes: &[impl AsRef<Path>],
    ) -> Result<Generated, Error> {
        // Tables first: they fail sooner than protos.
        let loaded = self.sources.load(self.dialect)?;
        let compiled = compile(protos, includes)?;
        self.generate_compiled(&loaded, compiled, Include::Beside)
    }

    /// Returns the code for compiled protos, which must include their imports. As
    /// [`generate`](Self::generate) with every file named.
    ///
    /// # Errors
    ///
    /// See [`generate`](Self::generate).
    pub fn generate_fds(self, set: FileDescriptorSet) -> Result<Generated, Error> {
        let loaded = self.sources.load(self.dialect)?;
        self.generate_compiled(&loaded, precompiled(set), Include::Beside)
    }

    /// Returns the code for an encoded `FileDescriptorSet`; see [`compile_encoded_fds`](Self::compile_encoded_fds).
    ///
    /// # Errors
    ///
    /// See [`generate`](Self::generate); or the bytes are no `FileDescriptorSet`.
    pub fn generate_encoded_fds(self, encoded: impl Into<Vec<u8>>) -> Result<Generated, Error> {
        let loaded = self.sources.load(self.dialect)?;
        self.generate_compiled(&loaded, encoded_set("generate_encoded_fds", encoded.into())?, Include::Beside)
    }

    fn compile(self, loaded: &Loaded, compiled: Compiled) -> Result<(), Error> {
        let (directory, include) = if let Some(directory) = &self.out_dir {
            (directory.clone(), Include::Beside)
        } else {
            let directory = std::env::var_os("OUT_DIR").ok_or_else(|| {
                let help = "run in a build script, or name a directory with out_dir()";
                Error::option("OUT_DIR", "is not set", help)
            })?;
            (PathBuf::from(directory), Include::OutDir)
        };
        let descriptor_set_path = self.file_descriptor_set_path.clone();
        let is_build_script = self.emit_rerun_if_changed;
        if is_build_script && self.out_dir.is_none() && self.runtime_path == DEFAULT_RUNTIME {
            cargo::warn_of_missing_runtime();
        }
        let generated = self.generate_compiled(loaded, compiled, include)?;
        if is_build_script {
            cargo::rerun_if_changed(generated.inputs());
        }
        cargo::warn(generated.findings());
        generated.write_to(directory)?;
        if let Some(path) = descriptor_set_path {
            write_if_changed(&path, generated.descriptor_set())
                .map_err(|error| Error::io("write", &path, error))?;
        }
        Ok(())
    }

    fn generate_compiled(
        self,
        loaded: &Loaded,
        mut compiled: Compiled,
        include: Include,
    ) -> Result<Generated, Error> {
        refuse_editions(&compiled.set)?;
        let extern_paths: Vec<String> = self.extern_paths.iter().map(|(proto, _)| proto.clone()).collect();
        limits::check(&compiled.set, &extern_paths)?;
        let nameless = limits::leave_out(&mut compiled.set);
        let runtime = rust_path("runtime_path", &self.runtime_path)?;
        rust_path("proto_path", &self.proto_path)?;
        for (proto, rust) in &self.extern_paths {
            rust_path(&format!("extern_path({proto:?}, ..)"), rust)?;
        }
        let options = GeneratorOptions {
            requested: compiled.requested.as_ref(),
            extern_paths: &extern_paths,
            tonic: TonicCode { client: self.build_client, server: self.build_server },
            transport: self.build_transport,
            batching: self.build_batching,
            service_yaml: loaded.service_yaml.as_ref(),
        };
        let table = &loaded.table;
        let unreadable = |error: DecodeError| Error::generator(error.into());
        let methods = MethodOptions::decode(&compiled.encoded).map_err(unreadable)?;
        let types = MessageTypes::decode(&compiled.encoded).map_err(unreadable)?;
        let config =
            Rc::new(GeneratorConfig::new(&Descriptors::new(&compiled.set), &methods, table, &options));
        if let Some((first, others)) = config.unusable.split_first() {
            return Err(Error::table(first.clone().followed_by(others.to_vec()), "", None));
        }
        let misspelt: Vec<_> = config.unknown.iter().filter(|name| name.has_suggestion()).cloned().collect();
        if self.deny_unknown_methods && !misspelt.is_empty() {
            return Err(Error::unknown_names(misspelt));
        }
        let is_called = |service: &str, method: &str| config.calls(service, method);
        let (annotations, mut unusable) = Annotations::read(&compiled.set, &methods, &types, is_called);
        let yaml = loaded.service_yaml.as_ref();
        let with_extensions = yaml.filter(|_| compiled.has_extensions);
        let ids = RequestIds::read(with_extensions, &compiled.set, &types, is_called)?;
        let rest = self
            .build_rest
            .then(|| RestDescriptors::new(&compiled.set, methods.clone(), &types, yaml, is_called));
        // Several builds may write to one folder. No package's file has such a name.
        let rest = rest.zip(config.first_client_package()).map(|((rest, left_out), package)| {
            unusable.extend(left_out);
            let package = if package.is_empty() { "_" } else { package };
            let literal = Literal::byte_string(&rest.encode(config.clients()));
            let content = format!("// This file is @generated by tonic-gax-build.\n{literal}\n");
            GeneratedFile { name: format!("{package}-rest.rs"), content }
        });
        let mut set = compiled.set;
        let without_types = operation_types::add(&mut set, |service, method| {
            let is_called = config.service(service).is_some_and(|code| code.gax.is_some());
            methods
                .operation_types(service, method)
                .filter(|_| is_called || config.mixed_in.contains(service))
        });
        let findings = table.findings().iter().chain(&config.unknown).chain(&config.clashes);
        let findings = findings.chain(&without_types).chain(&nameless).chain(&unusable).cloned().collect();
        let inputs = self.sources.paths().chain(compiled.paths).collect();
        let include = self.include_file.clone().map(|name| (name, include));
        let files =
            self.files((runtime, annotations, ids, rest), &config, table.throttling(), set, include)?;
        Ok(Generated { files, findings, descriptor_set: compiled.encoded, inputs })
    }

    fn files(
        self,
        (runtime, annotations, request_ids, rest): (
            TokenStream,
            Annotations,
            RequestIds,
            Option<GeneratedFile>,
        ),
        config: &Rc<GeneratorConfig>,
        throttling: Option<RetryThrottling>,
        set: FileDescriptorSet,
        include: Option<(String, Include)>,
    ) -> Result<Vec<GeneratedFile>, Error> {
        let mut prost = self.prost;
        prost.type_attribute(".", QUIET);
        for (proto, rust) in &self.extern_paths {
            prost.extern_path(proto, rust);
        }
        let path = runtime.to_string().replace(' ', "");
        // A macro of the runtime's, whose contents are formatted as those of a module.
        let long_running = format!("{path}::__long_running! {{");
        let emitter = Emitter {
            compatibility: self.dialect.default_compatibility(),
            throttling,
            runtime,
            proto_path: self.proto_path,
            build_transport: self.build_transport,
            annotations,
            request_ids,
            rest: rest.as_ref().map(|file| file.name.clone()),
            disable_comments: self.disable_comments,
        };
        let tonic = self.tonic.client_mod_attribute(".", QUIET).server_mod_attribute(".", QUIET);
        let tonic = tonic.client_attribute(".", OTHER_CLIENT);
        let own = OwnCode::default();
        prost.service_generator(Box::new(Generator::new(tonic, emitter, Rc::clone(config), Rc::clone(&own))));
        let requests = set.file.into_iter().map(|mut file| {
            if !config.files.contains(file.name()) {
                // prost can't handle a package whose services generate no code.
                file.service.clear();
            }
            (Module::from_protobuf_package_name(file.package()), file)
        });
        let requests = requests.chain(config.pages.files());
        let requests = requests.collect();
        // What prost can't express has been refused: this is for what nobody has thought of.
        let modules = std::panic::catch_unwind(AssertUnwindSafe(|| prost.generate(requests)))
            .map_err(|panic| Error::generator(std::io::Error::other(message(&*panic))))?
            .map_err(Error::generator)?;
        let is_blank_or_comment = |line: &str| line.trim().is_empty() || line.starts_with("//");
        let is_code = |(_, content): &(Module, String)| !content.lines().all(is_blank_or_comment);
        let own = own.take();
        let with_own = modules.into_iter().map(|(module, mut content)| {
            content.push_str(own.get(&module).map_or("", String::as_str));
            (module, content)
        });
        let mut modules: Vec<(Module, String)> = with_own.filter(is_code).collect();
        modules.sort();
        let names: Vec<(Module, String)> =
            modules.iter().map(|(module, _)| (module.clone(), module.to_file_name_or("_"))).collect();
        let mut files: Vec<GeneratedFile> = names
            .iter()
            .zip(modules)
            .map(|((_, name), (_, content))| GeneratedFile {
                name: name.clone(),
                content: content.replace("mod __long_running {", &long_running),
            })
            .collect();
        if let Some((name, include)) = include {
            if files.iter().any(|file| file.name == name) {
                let problem = format!("{name:?} is the name of a package's file");
                return Err(Error::option("include_file", problem, "choose another name, such as mod.rs"));
            }
            files.push(GeneratedFile { name, content: include_file(&names, include) });
        }
        files.extend(rest);
        files.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(files)
    }
}

/// For prost's and tonic's own code, whose comments are those of the protos.
const QUIET: &str = r#"#[allow(clippy::all, rustdoc::all, non_snake_case, reason = "generated")]"#;
/// For tonic's own client.
const OTHER_CLIENT: &str = r#"#[doc = " (This is tonic's own client: it makes each call once. A client of the same name next to this module retries.)"]"#;

/// Returns what a panic says.
fn message(panic: &dyn Any) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "it panicked".to_owned())
}

fn compile(protos: &[impl AsRef<Path>], includes: &[impl AsRef<Path>]) -> Result<Compiled, Error> {
    let mut compiler = compiler(includes);
    compiler.include_source_info(true).include_imports(true).open_files(protos)?;
    let requested = compiler.files().filter(|file| !file.is_import()).map(|file| file.name().to_owned());
    let paths = compiler.files().filter_map(|file| file.path().map(Path::to_path_buf));
    Ok(Compiled {
        requested: Some(requested.collect()),
        paths: paths.collect(),
        has_extensions: true,
        encoded: compiler.encode_file_descriptor_set(),
        set: compiler.file_descriptor_set(),
    })
}

fn precompiled(set: FileDescriptorSet) -> Compiled {
    Compiled { encoded: set.encode_to_vec(), set, requested: None, paths: Vec::new(), has_extensions: false }
}

fn encoded_set(option: &str, encoded: Vec<u8>) -> Result<Compiled, Error> {
    let set = decode_set(option, &encoded)?;
    Ok(Compiled { set, encoded, requested: None, paths: Vec::new(), has_extensions: true })
}

/// An option's value as a Rust path.
fn rust_path(option: &str, value: &str) -> Result<TokenStream, Error> {
    match syn::parse_str::<syn::Path>(value) {
        Ok(path) => Ok(quote::ToTokens::into_token_stream(path)),
        Err(_) => Err(Error::option(
            option,
            format!("{value:?} is not a Rust path"),
            "write a path such as ::my_crate::google::cloud::asset::v1",
        )),
    }
}
