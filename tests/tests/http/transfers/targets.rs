//! Places that downloads are written to: what is there already, links, and names that are as long as they may be.
#![cfg(unix)]

use super::object::{download, storage_of, to_object};
use super::setup::{KIB_256, Scratch, client, content};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::TransferErrorKind;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::PathBuf;

const SIZE: usize = 2 * KIB_256 + 1000;

fn fifo(path: &std::path::Path) -> bool {
    std::process::Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success())
}

#[tokio::test(start_paused = true)]
async fn what_is_no_regular_file_is_never_replaced() {
    let file = Scratch::new("target");
    let (pipe, socket, link) = (file.beside("-pipe"), file.beside("-socket"), file.beside("-link"));
    if !fifo(&pipe) {
        return eprintln!("skipped: there is no mkfifo");
    }
    let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    symlink(&pipe, &link).unwrap();
    let storage = storage_of(SIZE);
    for path in [&pipe, &socket, &link, &PathBuf::from("/dev/null"), &PathBuf::from("/dev/full")] {
        for is_resumable in [false, true] {
            let download = if is_resumable { download().resumable() } else { download().parallel(2, 1000) };
            let error = download.to_file(&client(&storage), path).await.unwrap_err();
            assert_eq!(error.kind(), TransferErrorKind::Sink, "{path:?}");
            assert!(error.to_string().ends_with("can't be written: it is not a regular file"), "{error}");
        }
        // Nor do state files, and those that are written meanwhile.
        let upload = to_object(content(SIZE)).single_request_below(0).state_file(path);
        let error = upload.send(&client(&storage)).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::StateFile, "{path:?}");
        for end in [".gax-part", ".gax-state"] {
            let beside = file.beside(end);
            symlink(path, &beside).unwrap();
            download().resumable().to_file(&client(&storage), file.path()).await.unwrap_err();
            assert!(fs::symlink_metadata(&beside).unwrap().is_symlink(), "{path:?} {end}");
            fs::remove_file(beside).unwrap();
        }
    }
    let kind = |path: &PathBuf| fs::symlink_metadata(path).unwrap().file_type();
    assert!(kind(&pipe).is_fifo() && kind(&socket).is_socket() && kind(&link).is_symlink());
    assert!(kind(&PathBuf::from("/dev/null")).is_char_device());
    assert!(storage.arrivals().is_empty(), "it is known before anything is sent");
    let mut names: Vec<_> = fs::read_dir(file.path().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["target-link", "target-pipe", "target-socket"]);
}

/// Something else gets the name while the download is running.
#[tokio::test(start_paused = true)]
async fn a_pipe_that_takes_the_name_meanwhile_stays() {
    let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
    storage.fault(StorageFault::stall().on(StorageCall::Download).at(1000));
    let running = tokio::spawn(download().to_file(&client(&storage), file.path()));
    storage.stalled().await;
    if !fifo(&file.path()) {
        return eprintln!("skipped: there is no mkfifo");
    }
    storage.disconnect();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Sink);
    let text = error.to_string();
    assert!(text.contains(" failed after ") && !text.contains("succeeded"), "{text}");
    assert!(text.ends_with("it is not a regular file any longer"), "{text}");
    assert!(error.report().unwrap().to_string().contains("failed after"), "{}", error.report().unwrap());
    assert!(fs::symlink_metadata(file.path()).unwrap().file_type().is_fifo());
}

#[tokio::test(start_paused = true)]
async fn links_to_nothing_and_to_links_are_followed() {
    let storage = storage_of(SIZE);
    for is_resumable in [false, true] {
        let file = Scratch::new("target");
        let (link, other) = (file.beside("-link"), file.beside("-other"));
        symlink("target-other", &link).unwrap();
        symlink(file.path(), &other).unwrap();
        let start = || if is_resumable { download().resumable() } else { download() };
        start().to_file(&client(&storage), &link).await.unwrap();
        assert_eq!(fs::read(file.path()).unwrap(), content(SIZE));
        for link in [&link, &other] {
            assert!(fs::symlink_metadata(link).unwrap().is_symlink());
        }
        // A folder that isn't there is not made.
        let lost = file.beside("-lost");
        symlink("nowhere/o", &lost).unwrap();
        let error = start().to_file(&client(&storage), &lost).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::Sink, "{error}");
        // State files are written where their links lead, too.
        let (state, session) = (file.beside("-state"), file.beside("-session"));
        symlink(&session, &state).unwrap();
        let uploads = StorageEmulator::start();
        uploads.fault(StorageFault::status(403).on(StorageCall::Upload));
        let upload = || to_object(content(SIZE)).single_request_below(0).state_file(&state);
        upload().send(&client(&uploads)).await.unwrap_err();
        assert!(fs::symlink_metadata(&state).unwrap().is_symlink() && session.is_file());
        upload().send(&client(&uploads)).await.unwrap();
        assert!(!session.exists());
    }
}

#[tokio::test(start_paused = true)]
async fn names_may_be_as_long_as_the_file_system_takes() {
    for length in [237, 238, 246, 247, 255, 256] {
        for letter in ["a", "\u{fc}"] {
            let name = letter.repeat(length / letter.len());
            let file = Scratch::new(&name);
            for is_cut in [false, true] {
                let storage = storage_of(SIZE);
                if is_cut {
                    storage.fault(StorageFault::status(403).on(StorageCall::Download).at(300_000));
                    storage.fault(StorageFault::reset().on(StorageCall::Download).at(300_000));
                }
                let first = download().resumable().to_file(&client(&storage), file.path()).await;
                if name.len() > 255 {
                    let error = first.unwrap_err();
                    assert_eq!((error.kind(), storage.arrivals().len()), (TransferErrorKind::Sink, 0));
                    continue;
                }
                if first.is_err() {
                    download().resumable().to_file(&client(&storage), file.path()).await.unwrap();
                }
                assert_eq!(fs::read(file.path()).unwrap(), content(SIZE), "{length}");
                assert_eq!(fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 1, "{length}");
            }
            if name.len() <= 255 {
                let uploads = StorageEmulator::start();
                fs::remove_file(file.path()).unwrap();
                uploads.fault(StorageFault::reset().on(StorageCall::Upload).at(KIB_256 as u64));
                let upload = to_object(content(SIZE)).single_request_below(0).state_file(file.path());
                upload.send(&client(&uploads)).await.unwrap();
            }
        }
    }
}

/// A cleaner has removed the part of one download, and another one has made its own.
#[tokio::test(start_paused = true)]
async fn a_download_that_fails_leaves_the_part_of_another_one() {
    for is_resumable in [false, true] {
        let (one, other, file) = (storage_of(SIZE), storage_of(SIZE), Scratch::new("target"));
        let part = file.beside(".gax-part");
        let start = |storage: &StorageEmulator| {
            storage.fault(StorageFault::stall().on(StorageCall::Download).at(1000));
            let download = if is_resumable { download().resumable() } else { download() };
            tokio::spawn(download.to_file(&client(storage), file.path()))
        };
        let first = start(&one);
        one.stalled().await;
        fs::remove_file(&part).unwrap();
        let second = start(&other);
        other.stalled().await;
        one.fault(StorageFault::status(404).on(StorageCall::Download));
        one.disconnect();
        first.await.unwrap().unwrap_err();
        assert!(part.exists(), "resumable: {is_resumable}");
        other.disconnect();
        second.await.unwrap().unwrap();
        assert_eq!(fs::read(file.path()).unwrap(), content(SIZE));
    }
}
