//! `gax table` on large tables: each table in a process of its own, which measures every command.

use crate::large_table::SHAPES;
use crate::measure::{Cost, Stopwatch};
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Names the file that a process writes its results to, if it is to run commands.
const RESULT: &str = "GAX_MEASURED_RUNS";

/// Separates commands.
const NEXT: &str = ";";

/// The commands that are run; the table follows, and the rest of what a command wants.
const COMMANDS: [&str; 14] = [
    "show",
    "show --format json",
    "explain",
    "lint",
    "lint --format json",
    "lint --format sarif",
    "diff",
    "diff --format json",
    "convert --to grpc",
    "convert --to gapic",
    "convert --to client-config",
    "convert --to toml",
    "convert --to envoy",
    "convert --to istio",
];

/// A command, and what it took.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a plain record")]
pub struct Measured {
    /// The thing that the table has a lot of.
    pub shape: &'static str,
    /// The form that the table is in.
    pub form: &'static str,
    /// The command, without its files.
    pub command: &'static str,
    /// How long it kept the processor busy.
    pub milliseconds: u64,
    /// The most bytes that it held at once.
    pub peak: u64,
    /// How long the text is that it read.
    pub text: u64,
}

/// In a process that [`measure`] has started: runs the commands that are its arguments, each in a function that returns the
/// most bytes that were held meanwhile. Returns whether this is such a process.
///
/// # Errors
///
/// A command fails, or the results can't be written.
pub fn run_if_asked(
    run: impl Fn(Vec<OsString>) -> ExitCode,
    peak_of: impl Fn(&mut dyn FnMut()) -> u64,
) -> std::io::Result<bool> {
    let Some(result) = std::env::var_os(RESULT) else { return Ok(false) };
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut lines = String::new();
    for command in arguments.split(|argument| argument == NEXT) {
        let mut arguments = vec!["gax".into(), "table".into()];
        arguments.extend_from_slice(command);
        let mut status = ExitCode::FAILURE;
        let stopwatch = Stopwatch::start(Cost::Processor);
        let peak = peak_of(&mut || status = run(std::mem::take(&mut arguments)));
        if status != ExitCode::SUCCESS {
            return Err(std::io::Error::other(format!("{command:?} fails")));
        }
        let _infallible = writeln!(lines, "{} {peak}", stopwatch.elapsed().as_millis());
    }
    std::fs::write(result, lines)?;
    Ok(true)
}

/// Runs every command on tables of every shape and form with so many rows. The process has to call [`run_if_asked`].
///
/// # Errors
///
/// A command fails, or a file can't be written or read.
pub fn measure(rows: usize) -> Result<Vec<Measured>, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("gax-large-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure_in(&folder, rows);
    std::fs::remove_dir_all(&folder)?;
    measured
}

fn measure_in(folder: &Path, rows: usize) -> Result<Vec<Measured>, Box<dyn Error>> {
    let (file, other, result) = (folder.join("table"), folder.join("other"), folder.join("result"));
    let mut all = Vec::new();
    for shape in SHAPES {
        for (form, text) in shape.texts(rows)? {
            std::fs::write(&file, &text)?;
            std::fs::write(&other, text.replace("60", "50"))?;
            let mut arguments: Vec<OsString> = Vec::new();
            for command in COMMANDS {
                arguments.extend((!arguments.is_empty()).then(|| NEXT.into()));
                arguments.extend(command.split(' ').map(OsString::from));
                arguments.push(file.clone().into());
                arguments.extend(command.starts_with("diff").then(|| other.clone().into()));
                arguments.extend(command.starts_with("explain").then(|| shape.method.into()));
            }
            let run = Command::new(std::env::current_exe()?)
                .args(arguments)
                .env(RESULT, &result)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .output()?;
            if !run.status.success() {
                return Err(
                    format!("{} in {form}: {}", shape.name, String::from_utf8_lossy(&run.stderr)).into()
                );
            }
            for (command, line) in COMMANDS.into_iter().zip(std::fs::read_to_string(&result)?.lines()) {
                let (milliseconds, peak) = line.split_once(' ').ok_or("a line without two numbers")?;
                let files = if command.starts_with("diff") { 2 } else { 1 };
                all.push(Measured {
                    shape: shape.name,
                    form,
                    command,
                    milliseconds: milliseconds.parse()?,
                    peak: peak.parse()?,
                    text: files * text.len() as u64,
                });
            }
        }
    }
    Ok(all)
}
