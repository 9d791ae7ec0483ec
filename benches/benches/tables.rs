//! Large tables: how long `gax table` takes to show, lint and convert them, and the most memory that it takes, beside the
//! text. Each command runs as people run it, in a process of its own.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use allocation_counter::measure;
use gax_table::ConversionTarget;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use tonic_gax_benches::large_table::SHAPES;
use tonic_gax_benches::measure::{Cost, Stopwatch};
use tonic_gax_benches::table::Table;

/// As many methods or definitions.
const ROWS: usize = 20_000;
/// Names the file that a process writes its result to, if it is to run the command.
const RESULT: &str = "GAX_BENCH_RESULT";

fn main() -> io::Result<()> {
    match std::env::var_os(RESULT) {
        Some(result) => run(Path::new(&result)),
        None => compare(),
    }
}

/// Runs the command with the arguments of this process, and writes down how long it took, and how many bytes it held.
fn run(result: &Path) -> io::Result<()> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let stopwatch = Stopwatch::start(Cost::Wall);
    let most = measure(|| {
        let _status = gax::run(arguments);
    });
    let most = most.bytes_max;
    std::fs::write(result, format!("{} {most}", stopwatch.elapsed().as_millis()))
}

fn compare() -> io::Result<()> {
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--quick");
    let rows = if quick { 200 } else { ROWS };
    let folder = std::env::temp_dir().join(format!("gax-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (file, result) = (folder.join("table.json"), folder.join("result"));
    let mut commands = vec!["show".to_owned(), "show --format json".to_owned(), "lint".to_owned()];
    commands.extend(ConversionTarget::ALL.iter().map(|target| format!("convert --to {target}")));
    let mut printed = Table::new(&["table", "gax table", "ms", "peak, times the text"]);
    for (name, text) in SHAPES {
        let text = text(rows);
        std::fs::write(&file, &text)?;
        for command in &commands {
            let status = Command::new(std::env::current_exe()?)
                .arg("table")
                .args(command.split(' '))
                .arg(&file)
                .env(RESULT, &result)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()?;
            let measured = std::fs::read_to_string(&result)?;
            let (time, most) = measured.split_once(' ').unwrap_or_default();
            let most = most.parse::<u64>().unwrap_or_default() * 10 / text.len() as u64;
            let most = format!("{}.{}", most / 10, most % 10);
            assert!(status.success(), "gax table {command}");
            printed.row([name.to_owned(), command.clone(), time.to_owned(), most]);
        }
    }
    println!("{}", printed.text());
    std::fs::remove_dir_all(&folder)
}
