//! Tables and protos from files.

use crate::failure::{Failure, usage};
use crate::input::Input;
use crate::value;
use clap::Args;
use clap::builder::TypedValueParser;
use gax_table::{Dialect, RetryTable, ServiceDescription, ServiceYaml, TableError, TableFormat, TableReader};
use miette::Diagnostic as _;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tonic_gax_build::{Protos, describe_encoded_fds, describe_protos};

/// How tables are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tables")]
pub(super) struct Reading {
    /// Which client's interpretation of the table to use
    #[arg(long, value_parser = value::dialect(), default_value_t = Dialect::AsWritten)]
    dialect: Dialect,

    /// Format of the tables; by default it is detected from their content
    #[arg(long, value_parser = format(), value_name = "FORMAT")]
    from: Option<TableFormat>,
}

/// The protos that tables are for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Protos")]
pub(in crate::command) struct ProtoFlags {
    /// Directory to search for protos and their imports; may be repeated
    #[arg(long, value_name = "DIR")]
    proto_path: Vec<PathBuf>,

    /// A proto of the table's API, relative to --proto-path; may be repeated
    #[arg(long, value_name = "FILE", num_args = 1..)]
    proto: Vec<PathBuf>,

    /// Compiled protos instead of --proto: what `protoc --include_imports --descriptor_set_out` or `buf build` writes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["proto", "proto_path"])]
    descriptor_set: Option<PathBuf>,

    /// The API's service YAML: it says which methods of other services are mixed in
    #[arg(long, value_name = "FILE")]
    service_yaml: Option<PathBuf>,
}

/// The services that a table is for.
#[derive(Debug)]
pub(in crate::command) struct Api {
    /// With what is mixed in.
    pub(in crate::command) services: Vec<ServiceDescription>,
    pub(in crate::command) imported: Vec<ServiceDescription>,
    /// Per service the Java package of its proto.
    pub(super) java_packages: HashMap<String, String>,
    /// The compiled protos.
    pub(in crate::command) descriptor_set: Vec<u8>,
}

fn format() -> impl TypedValueParser<Value = TableFormat> {
    value::named([
        ("grpc", "A gRPC service config"),
        ("gapic", "GAPIC YAML"),
        ("client-config", "A client config of Google's Node generator"),
        ("toml", "This project's own format"),
        ("openapi", "An OpenAPI document"),
    ])
}

/// A table with its file.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) input: Input,
    pub(super) table: Result<RetryTable, TableError>,
}

impl Reading {
    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Reads what may turn out to be no table, and asks other readers of a service config too.
    pub(super) fn loaded(&self, input: Input) -> Loaded {
        let table = self.reader(&input, self.dialect()).other_readers(true).read(&input.content);
        Loaded { input, table }
    }

    /// The file's content as a table in that dialect.
    pub(super) fn read(&self, input: &Input, dialect: Dialect) -> Result<RetryTable, TableError> {
        self.reader(input, dialect).read(&input.content)
    }

    fn reader(&self, input: &Input, dialect: Dialect) -> TableReader {
        RetryTable::reader().dialect(dialect).format(self.from).file_name(&input.name)
    }

    /// Files that have to be tables, as one: the last one that names a method counts. GAPIC YAML that says how
    /// operations are polled comes last. No file at all is a table that says nothing. If the API is known the table
    /// has to say for its methods what it wants to.
    pub(super) fn merged(
        &self,
        tables: &[Input],
        gapic_yaml: Option<&Input>,
        api: Option<&Api>,
    ) -> Result<RetryTable, Failure> {
        let table = self.merged_in(self.dialect(), tables, gapic_yaml).map_err(Failure::Table)?;
        let mut unusable = api.map_or_else(Vec::new, |api| table.unusable_entries(&api.services)).into_iter();
        match unusable.next() {
            Some(first) => Err(Failure::Table(first.followed_by(unusable.collect()))),
            None => Ok(table),
        }
    }

    /// These files as one table in that dialect.
    pub(super) fn merged_in(
        &self,
        dialect: Dialect,
        tables: &[Input],
        gapic_yaml: Option<&Input>,
    ) -> Result<RetryTable, TableError> {
        let mut read: Vec<RetryTable> =
            tables.iter().map(|input| self.read(input, dialect)).collect::<Result<_, _>>()?;
        let reader = || RetryTable::reader().dialect(dialect);
        if let Some(Input { name, content }) = gapic_yaml {
            read.push(reader().format(TableFormat::GapicYaml).file_name(name).read(content)?);
        }
        if read.is_empty() {
            read.push(reader().read(b"{}")?);
        }
        RetryTable::merged(read)
    }
}

/// Further tables that count together with those that a command is about.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tables")]
pub(super) struct WithFlag {
    /// Another table, read together with TABLE as the generator reads several tables; may be repeated
    #[arg(long, value_name = "TABLE")]
    pub(super) with: Vec<PathBuf>,
}

/// The file of an API's GAPIC YAML, which says more than retries.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tables")]
pub(super) struct GapicFlag {
    /// The API's GAPIC YAML: how long-running operations are polled and requests are batched
    #[arg(long, value_name = "FILE")]
    gapic_yaml: Option<PathBuf>,
}

impl GapicFlag {
    pub(super) fn is_given(&self) -> bool {
        self.gapic_yaml.is_some()
    }

    pub(super) fn read(&self) -> Result<Option<Input>, Failure> {
        self.gapic_yaml.as_deref().map(Input::gapic_yaml).transpose()
    }
}

impl ProtoFlags {
    /// The tables: those given as such, and what follows the protos without being one.
    pub(super) fn tables(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let tables = self.tables_if_any(given);
        if tables.is_empty() {
            return Err(usage!("no table is given; name the file of a retry table"));
        }
        Ok(tables)
    }

    /// The tables, if there are any.
    pub(super) fn tables_if_any(&self, given: &[PathBuf]) -> Vec<PathBuf> {
        let following = self.proto.iter().filter(|path| !is_proto(path));
        given.iter().chain(following).cloned().collect()
    }

    /// The services of the protos; `None`: none are given.
    pub(in crate::command) fn describe(&self) -> Result<Option<Api>, Failure> {
        if let Some(path) = &self.descriptor_set {
            let input = Input::descriptor_set(path)?;
            let protos = describe_encoded_fds(&input.content).map_err(|error| {
                let sentence = error.to_string().replace("describe_encoded_fds: ", "");
                usage!("--descriptor-set {}", advised(sentence, &error))
            })?;
            return self.api(&protos).map(Some);
        }
        let protos: Vec<&PathBuf> = self.proto.iter().filter(|path| is_proto(path)).collect();
        if protos.is_empty() {
            for (flag, given) in [
                ("--proto-path", !self.proto_path.is_empty()),
                ("--service-yaml", self.service_yaml.is_some()),
            ] {
                if given {
                    return Err(usage!(
                        "{flag} has no effect without --proto; name the protos that the table is for"
                    ));
                }
            }
            return Ok(None);
        }
        let here = [PathBuf::from(".")];
        let paths = if self.proto_path.is_empty() { here.as_slice() } else { self.proto_path.as_slice() };
        let protos = describe_protos(&protos, paths)
            .map_err(|error| usage!("--proto: {}", advised(error.to_string(), &error)))?;
        self.api(&protos).map(Some)
    }

    /// The services of protos, with what the service YAML mixes in.
    fn api(&self, protos: &Protos) -> Result<Api, Failure> {
        let yaml = match &self.service_yaml {
            Some(path) => {
                let input = Input::service_yaml(path)?;
                ServiceYaml::parse_file(&input.name, &input.content)
                    .map_err(|error| usage!("--service-yaml: {error}"))?
            }
            None => ServiceYaml::default(),
        };
        Ok(Api {
            services: yaml.mix_in(protos.services().to_vec()),
            imported: protos.imported().to_vec(),
            java_packages: java_packages(protos),
            descriptor_set: protos.descriptor_set().to_vec(),
        })
    }
}

/// A sentence about protos with what there is to do, if that is known.
pub(in crate::command) fn advised(sentence: String, error: &tonic_gax_build::Error) -> String {
    match error.help() {
        Some(help) => {
            let help = help.to_string().replace("an include path", "an include path (--proto-path)");
            format!("{sentence}; {help}")
        }
        None => sentence,
    }
}

fn java_packages(protos: &Protos) -> HashMap<String, String> {
    let packages = protos.services().iter().filter_map(|service| {
        Some((service.name().to_owned(), protos.java_package(service.name())?.to_owned()))
    });
    packages.collect()
}

/// The package that a GAPIC YAML gives the Java client.
pub(super) fn java_package_of_gapic(input: &Input) -> Option<String> {
    let text = input.text();
    let java = text.split_once("\n  java:").map_or("", |(_, java)| java);
    let mut line = java.lines().skip(1).take_while(|line| line.starts_with("    "));
    let package = line.find_map(|line| line.trim().strip_prefix("package_name:"));
    package.map(|name| name.trim().trim_matches(['"', '\'']).to_owned())
}

fn is_proto(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "proto")
}
