//! The program `examples/transfer.rs`: copies of a folder that break, are interrupted, or find something else.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

#[path = "../../../examples/transfer.rs"]
mod program;

use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use program::Copy;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that is empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transfer").join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A copy between a folder and objects, with its state in the folder `state` beside that folder.
fn copy(url: &str, arguments: [&str; 2], state: &Path) -> Copy {
    let state = state.to_str().unwrap();
    Copy::read(url, [arguments[0], arguments[1], "--state", state].map(str::to_owned)).unwrap()
}

fn tree(folder: &Path) {
    fs::create_dir_all(folder.join("a/b")).unwrap();
    for (name, length) in [("a/b/long", 2_000_000), ("a/short", 10), ("empty", 0), ("ü &?#%", 70_000)] {
        fs::write(
            folder.join(name),
            (0..length).map(|place| u8::try_from(place % 251).unwrap()).collect::<Vec<u8>>(),
        )
        .unwrap();
    }
}

#[test]
fn it_shows_itself() {
    program::main().unwrap();
}

#[tokio::test]
async fn a_tree_is_copied_there_and_back_through_faults() {
    let storage = StorageEmulator::start();
    let url = storage.listen().await.unwrap();
    let folder = folder("there_and_back");
    let (from, to, state) = (folder.join("from"), folder.join("to"), folder.join("state"));
    tree(&from);
    for fault in [
        StorageFault::reset().on(StorageCall::Upload).at(300_000),
        StorageFault::lost_reply().on(StorageCall::Insert),
        StorageFault::status(503).on(StorageCall::List),
        StorageFault::reset().on(StorageCall::Download).at(1_000_000),
    ] {
        storage.fault(fault);
    }
    let up = copy(&url, [from.to_str().unwrap(), "gs://bkt/x/"], &state);
    assert_eq!(up.run().await.unwrap(), 4);
    assert_eq!(storage.names("bkt"), ["x/a/b/long", "x/a/short", "x/empty", "x/ü &?#%"]);
    let down = copy(&url, ["gs://bkt/x", to.to_str().unwrap()], &state);
    assert_eq!(down.run().await.unwrap(), 4);
    for name in ["a/b/long", "a/short", "empty", "ü &?#%"] {
        assert!(fs::read(from.join(name)).unwrap() == fs::read(to.join(name)).unwrap(), "{name}");
    }
    assert_eq!(storage.faults_left(), 0);
    assert_eq!(fs::read_dir(state).unwrap().count(), 0, "no state is left");
    // One file has changed since.
    fs::write(from.join("a/short"), "other").unwrap();
    assert_eq!((up.run().await.unwrap(), down.run().await.unwrap()), (1, 1));
    assert_eq!(fs::read(to.join("a/short")).unwrap(), b"other");
}

/// The state of a copy to or from another generation doesn't stand in the way.
#[tokio::test]
async fn an_object_that_was_replaced_since_the_copy_was_killed_is_copied() {
    let storage = StorageEmulator::start();
    let url = storage.listen().await.unwrap();
    let folder = folder("replaced");
    let (from, to, state) = (folder.join("from"), folder.join("to"), folder.join("state"));
    tree(&from);
    let up = copy(&url, [from.to_str().unwrap(), "gs://bkt/x"], &state);
    let down = copy(&url, ["gs://bkt/x", to.to_str().unwrap()], &state);
    for (copy, call) in [(&up, StorageCall::Upload), (&down, StorageCall::Download)] {
        storage.fault(StorageFault::stall().on(call).object("x/a/b/long").at(1_000_000));
        tokio::select! {
            () = storage.stalled() => {}
            end = copy.run() => panic!("{end:?}"),
        }
        storage.put("bkt", "x/a/b/long", vec![7; 1_500_000]);
        copy.run().await.unwrap();
        assert_eq!(fs::read_dir(&state).unwrap().count(), 0, "no state is left");
    }
    assert_eq!(fs::read(to.join("a/b/long")).unwrap(), vec![7; 1_500_000]);
}

#[tokio::test]
async fn a_name_that_leads_out_of_the_folder_is_refused() {
    let storage = StorageEmulator::start();
    let url = storage.listen().await.unwrap();
    storage.put("bkt", "x/../../escaped", "!");
    let folder = folder("escape");
    let down = copy(&url, ["gs://bkt/x", folder.join("to").to_str().unwrap()], &folder);
    let error = down.run().await.unwrap_err().to_string();
    assert!(error.contains("../../escaped"), "{error}");
    assert!(!folder.parent().unwrap().join("escaped").exists());
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    for (arguments, error) in [
        (&[][..], "Copies a folder"),
        (&["a", "b"], "one of the two has to be gs://BUCKET"),
        (&["gs://a", "gs://b"], "one of the two has to be gs://BUCKET"),
        (&["--fast", "a", "gs://b"], "there is no --fast"),
        (&["a", "gs://b", "--state"], "--state needs a folder"),
    ] {
        let read = Copy::read("http://localhost", arguments.iter().map(|&argument| argument.to_owned()));
        let problem = read.map(drop).unwrap_err().to_string();
        assert!(problem.starts_with(error), "{problem}");
    }
}
