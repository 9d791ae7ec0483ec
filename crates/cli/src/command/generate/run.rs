//! From the flags to the exit status.

use super::args::GenerateArgs;
use super::directory::{self, File, State};
use super::report;
use crate::command::table::source::advised;
use crate::command::{Format, warn};
use crate::failure::{FINDINGS, Failure};
use crate::input::Input;
use gax_table::{Finding, Severity};
use std::process::ExitCode;
use tonic_gax_build::{Error, Generated, configure};

pub(crate) fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    let generated = generate(args)?;
    let files = directory::compare(&args.out, generated.files())?;
    if args.format == Format::Text {
        warn(generated.findings());
    }
    if !args.check {
        directory::bring_up_to_date(&args.out, &files)?;
    }
    let is_stale = args.check && files.iter().any(|file| file.state != State::Same);
    match args.format {
        Format::Json => {
            report::json(args, &files, generated.findings())?;
            Ok(if is_stale { ExitCode::from(FINDINGS) } else { ExitCode::SUCCESS })
        }
        Format::Text => {
            report::text(args, &files)?;
            if is_stale { Err(Failure::Run(stale(args, &files))) } else { Ok(ExitCode::SUCCESS) }
        }
    }
}

fn generate(args: &GenerateArgs) -> Result<Generated, Failure> {
    let mut builder = configure()
        .dialect(args.dialect)
        .deny_unknown_methods(args.deny_unknown_methods)
        .build_client(!args.no_client)
        .build_server(!args.no_server)
        .build_transport(!args.no_transport)
        .build_rest(args.rest)
        .build_batching(args.batching);
    for table in Input::tables(&args.table)? {
        builder = builder.retry_table_text(table.name, table.content);
    }
    for path in &args.gapic_yaml {
        let yaml = Input::gapic_yaml(path)?;
        builder = builder.gapic_yaml_text(yaml.name, yaml.content);
    }
    if let Some(path) = &args.service_yaml {
        let yaml = Input::service_yaml(path)?;
        builder = builder.service_yaml_text(yaml.name, yaml.content);
    }
    for (proto, rust) in &args.extern_path {
        builder = builder.extern_path(proto, rust);
    }
    if let Some(name) = &args.include_file {
        builder = builder.include_file(name);
    }
    let generated = match &args.descriptor_set {
        Some(path) => builder.generate_encoded_fds(Input::descriptor_set(path)?.content),
        None => builder.generate(&args.proto, &args.proto_path),
    };
    generated.map_err(|error| failure(&error))
}

/// Why no code is generated, with the place.
fn failure(error: &Error) -> Failure {
    let unknown = error.unknown_methods();
    if !unknown.is_empty() {
        let denied: Vec<Finding> =
            unknown.iter().map(|finding| finding.clone().with_severity(Severity::Error)).collect();
        warn(&denied);
        let sentence = "the retry table has names that no proto has; correct it, or leave \
                        --deny-unknown-methods out";
        return Failure::Run(sentence.to_owned());
    }
    if let Some(error) = error.table_error() {
        return Failure::Table(error.clone());
    }
    let sentence = error.to_string().replace("generate_encoded_fds: ", "--descriptor-set ");
    Failure::Usage(advised(sentence, error))
}

fn stale(args: &GenerateArgs, files: &[File]) -> String {
    let counts = report::counts(files);
    format!(
        "the code in {} is not up to date ({counts}); run gax generate without --check",
        args.out.display()
    )
}
