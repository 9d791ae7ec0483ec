//! No command holds more than twenty times a table's text. It has no harness, since each command runs in a process of its own,
//! which counts what it allocates.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![expect(clippy::print_stdout, reason = "it says that it passed, as a harness would")]

use allocation_counter::measure;
use std::process::{Command, Stdio};
use tonic_gax_benches::large_table::SHAPES;

/// Names the file that a process writes its result to, if it is to run the command.
const RESULT: &str = "GAX_TEST_RESULT";
/// Few enough for a build without optimization.
const ROWS: usize = 400;
/// The most memory that a command may hold at once, in lengths of the text.
const MOST: u64 = 20;
/// What the command itself holds: its flags, and room for output.
const OWN: u64 = 400_000;
const COMMANDS: [&str; 8] = [
    "show",
    "show --format json",
    "lint",
    "lint --format json",
    "lint --format sarif",
    "convert --to toml",
    "convert --to gapic",
    "convert --to envoy",
];

fn main() {
    if let Some(result) = std::env::var_os(RESULT) {
        let most = measure(|| {
            let _status = gax::run(std::env::args_os());
        });
        let most = most.bytes_max;
        return std::fs::write(result, most.to_string()).unwrap();
    }
    let folder = std::env::temp_dir().join(format!("gax-large-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, result) = (folder.join("table.json"), folder.join("result"));
    let mut wrong = Vec::new();
    for (name, text) in SHAPES {
        let text = text(ROWS);
        std::fs::write(&file, &text).unwrap();
        for command in COMMANDS {
            let status = Command::new(std::env::current_exe().unwrap())
                .arg("table")
                .args(command.split(' '))
                .arg(&file)
                .env(RESULT, &result)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(status.unwrap().success(), "gax table {command}");
            let most: u64 = std::fs::read_to_string(&result).unwrap().parse().unwrap();
            if most > MOST * text.len() as u64 + OWN {
                wrong.push(format!("{command} of {name}: {} lengths of the text", most / text.len() as u64));
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(wrong, [""; 0]);
    println!("{} commands on {} tables: ok", COMMANDS.len(), SHAPES.len());
}
