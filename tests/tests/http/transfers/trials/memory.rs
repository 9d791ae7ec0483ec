//! How much memory a transfer takes, whatever its length.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::process::Task;
use super::trial::{Protocol, content, folder};
use gax_testing::StorageEmulator;
use std::io::Write as _;

const MIB: u64 = 1024 * 1024;

/// The length of a long transfer: `GAX_TRANSFER_MIB`, or 64 MiB.
fn long() -> u64 {
    std::env::var("GAX_TRANSFER_MIB").map_or(64, |mib| mib.parse().unwrap()) * MIB
}

/// The most memory, in KiB, that a process takes for a transfer of that length.
async fn peak(protocol: Option<Protocol>, uses_reqwest: bool, length: u64) -> u64 {
    let storage = StorageEmulator::start();
    let url = storage.listen().await.unwrap();
    let folder = folder(&format!("memory-{protocol:?}-{uses_reqwest}"));
    let (file, state) = (folder.join("file"), folder.join("state"));
    let piece = content(MIB);
    if protocol.is_some() {
        let mut source = std::fs::File::create(&file).unwrap();
        (0..length / MIB).for_each(|_| source.write_all(&piece).unwrap());
    } else {
        storage.put("b", "o", piece.repeat(usize::try_from(length / MIB).unwrap()));
    }
    let task = Task { url, protocol, uses_reqwest, file, state };
    let output = task.start().wait_with_output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("transferred ")).unwrap();
    let (bytes, peak) = line.split_once(" peak ").unwrap();
    assert_eq!(bytes.parse::<u64>().unwrap(), length);
    std::fs::remove_dir_all(folder).unwrap();
    peak.parse().unwrap()
}

#[tokio::test]
async fn memory_is_flat() {
    for protocol in [Some(Protocol::Resumable), Some(Protocol::Universal), None] {
        for uses_reqwest in [false, true] {
            let short = peak(protocol, uses_reqwest, 8 * MIB).await;
            let long = peak(protocol, uses_reqwest, long()).await;
            let seen = format!("{protocol:?}, reqwest {uses_reqwest}: {short} KiB, then {long} KiB");
            println!("{seen}");
            assert!(long < short + 8 * 1024, "{seen}");
        }
    }
}
