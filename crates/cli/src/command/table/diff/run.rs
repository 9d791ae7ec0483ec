//! From the flags to the exit status.

use super::args::{DiffArgs, DiffFormat};
use super::compare::Difference;
use super::rename::Renames;
use super::side::Side;
use super::{json, notices, text};
use crate::command::{print, print_json, print_pretty_json, stream};
use crate::failure::{FINDINGS, Failure};
use crate::render::{github, sarif};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let api = args.protos.describe()?;
    let side = |path, gapic_yaml: Option<&PathBuf>| {
        Side::read(path, gapic_yaml.map(PathBuf::as_path), &args.reading, api.as_ref())
    };
    let old = side(&args.old, args.gapic_yaml.first())?;
    let new = side(&args.new, args.gapic_yaml.last())?;
    let difference = Difference::new(&old, &new, api.as_ref(), Renames(&args.rename), &args.deny);
    match args.format {
        DiffFormat::Text => print(&text::render(&difference))?,
        DiffFormat::Json => print_json(&json::document(&difference))?,
        DiffFormat::Sarif => {
            let notices = notices::notices(&difference, &old, &new);
            print_pretty_json(&sarif("gax table diff", &notices::rules(), notices.into_iter()))?;
        }
        DiffFormat::Github => {
            stream(|out| Ok(github(notices::notices(&difference, &old, &new), out)?))?;
        }
    }
    Ok(if difference.has_denied() { ExitCode::from(FINDINGS) } else { ExitCode::SUCCESS })
}
