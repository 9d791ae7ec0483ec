//! Processes that are killed in the middle of a transfer, and started again.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::process::Task;
use super::trial::{CHUNK, Protocol, content, folder, names};
use bytes::Bytes;
use gax_testing::{StorageCall, StorageEmulator, StorageFault};

const SIZE: u64 = 5 * CHUNK + 4321;

/// How often: `GAX_TRANSFER_KILLS`, or once.
fn kills() -> u64 {
    std::env::var("GAX_TRANSFER_KILLS").map_or(1, |kills| kills.parse().unwrap())
}

/// Kills a process at places that are spread over the object.
async fn killed(protocol: Option<Protocol>, uses_reqwest: bool) {
    let kills = kills();
    let whole = Bytes::from(content(SIZE));
    for kill in 0..kills {
        let place = (SIZE * (2 * kill + 1) / (2 * kills)).max(1);
        let storage = StorageEmulator::start().granularity(if kill % 2 == 0 { 1 } else { CHUNK });
        let url = storage.listen().await.unwrap();
        let folder = folder(&format!("killed-{protocol:?}-{uses_reqwest}"));
        let (file, state) = (folder.join("file"), folder.join("state"));
        let call = if protocol.is_some() {
            std::fs::write(&file, &whole).unwrap();
            StorageCall::Upload
        } else {
            storage.put("b", "o", whole.clone());
            StorageCall::Download
        };
        let task = Task { url, protocol, uses_reqwest, file: file.clone(), state };
        storage.fault(StorageFault::stall().on(call).at(place));
        let mut process = task.start();
        storage.stalled().await;
        process.kill().await.unwrap();
        let output = task.start().wait_with_output().await.unwrap();
        assert!(output.status.success(), "at {place}");
        let written = match protocol {
            Some(_) => storage.object("b", "o").unwrap().content().clone(),
            None => std::fs::read(&file).unwrap().into(),
        };
        assert!(written == whole, "at {place}");
        assert_eq!(names(&folder), ["file"], "at {place}");
        let starts =
            storage.arrivals().into_iter().filter(|arrival| arrival.call == StorageCall::StartUpload);
        assert_eq!(starts.count(), usize::from(protocol.is_some()), "at {place}: it went on");
    }
}

#[tokio::test]
async fn an_upload_by_cloud_storage_s_protocol_survives() {
    killed(Some(Protocol::Resumable), false).await;
    killed(Some(Protocol::Resumable), true).await;
}

#[tokio::test]
async fn an_upload_by_the_universal_protocol_survives() {
    killed(Some(Protocol::Universal), false).await;
    killed(Some(Protocol::Universal), true).await;
}

#[tokio::test]
async fn a_download_survives() {
    killed(None, false).await;
    killed(None, true).await;
}
