//! What generating costs, next to tonic-prost-build alone on the same proto.
#![cfg(target_os = "linux")]
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "what fails here fails a test"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The services of the proto, of 20 methods each.
const SERVICES: usize = 50;
const WHO: &str = "GAX_GENERATOR_COST";

/// Processor seconds and peak memory in KiB of this process, as the system has counted them.
fn used() -> (f64, f64) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<f64> =
        stat.rsplit_once(')').unwrap().1.split_whitespace().map(|n| n.parse().unwrap_or(0.0)).collect();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    // The clock's ticks are hundredths of a second.
    ((fields[11] + fields[12]) / 100.0, peak.trim().trim_end_matches(" kB").parse().unwrap())
}

fn proto() -> String {
    let mut text = "syntax = \"proto3\";\npackage big.v1;\n".to_owned();
    for service in 0..SERVICES {
        write!(text, "message Req{service} {{ string name = 1; }}\nmessage Res{service} {{ repeated string names = 1; }}\n").unwrap();
        writeln!(text, "service S{service} {{").unwrap();
        for method in 0..20 {
            write!(text, "  // Does the {method}th thing.\n  rpc Do{method}Thing(Req{service}) returns (Res{service});\n").unwrap();
        }
        text.push_str("}\n");
    }
    text
}

/// This program again, as the one or the other.
fn measure(who: &str) -> (f64, f64) {
    let program = env::current_exe().unwrap();
    let output =
        Command::new(program).env(WHO, who).args(["--exact", "costs", "--nocapture"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.split_once("cost: ")).unwrap_or_else(|| panic!("{text}")).1;
    let (seconds, peak) = line.split_once(' ').unwrap();
    (seconds.parse().unwrap(), peak.parse().unwrap())
}

#[test]
fn costs() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost");
    let (ours, theirs) = (folder.join("ours"), folder.join("theirs"));
    let protos = [folder.join("big.proto")];
    match env::var(WHO).as_deref() {
        Ok("ours") => {
            let builder =
                tonic_gax_build::configure().retry_table_text("table.json", r#"{"methodConfig": []}"#);
            builder.out_dir(ours).emit_rerun_if_changed(false).compile_protos(&protos, &[&folder]).unwrap();
        }
        Ok(_) => {
            let set = protox::Compiler::new([&folder])
                .unwrap()
                .include_source_info(true)
                .include_imports(true)
                .open_file("big.proto")
                .unwrap()
                .file_descriptor_set();
            tonic_prost_build::configure().out_dir(theirs).compile_fds(set).unwrap();
        }
        Err(_) => {
            fs::create_dir_all(&ours).unwrap();
            fs::create_dir_all(&theirs).unwrap();
            fs::write(&protos[0], proto()).unwrap();
            let (ours, theirs) = (measure("ours"), measure("theirs"));
            let (time, memory) = (ours.0 / theirs.0, ours.1 / theirs.1);
            println!(
                "{} methods: ours {ours:?}, tonic-prost-build alone {theirs:?}; time x {time:.2}, memory x {memory:.2}",
                SERVICES * 20
            );
            assert!(memory < 1.5, "{memory}");
            return;
        }
    }
    let (seconds, peak) = used();
    println!("cost: {seconds} {peak}");
}
