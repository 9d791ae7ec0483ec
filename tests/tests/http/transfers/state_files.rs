//! State files, by which transfers go on in another process: those that fit, and all others.

use super::object::{download, layer_of, stored, to_object, universal, upload_by};
use super::setup::{ENDPOINT, KIB_256, Scratch, client, content, crc32c, with_layer};
use bytes::Bytes;
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{STATE_FILE_IGNORED, TransferErrorKind, Upload, UploadSource};

const SIZE: usize = 3 * KIB_256 + 1000;

/// How many uploads were started.
fn starts(storage: &StorageEmulator) -> usize {
    storage.arrivals().iter().filter(|arrival| arrival.call == StorageCall::StartUpload).count()
}

/// Begins an upload with that state file, and drops it when the server has received so much.
async fn begin(storage: &StorageEmulator, upload: Upload<'static>, state: &Scratch, place: usize) {
    storage.fault(StorageFault::stall().on(StorageCall::Upload).at(place as u64));
    let upload = upload.single_request_below(0).state_file(state.path());
    let running = tokio::spawn(upload.send(&client(storage)));
    storage.stalled().await;
    running.abort();
    drop(running.await);
    assert!(state.path().exists());
}

#[tokio::test(start_paused = true)]
async fn an_upload_goes_on_in_another_process_by_its_state_file() {
    for is_universal in [false, true] {
        let (file, state) = (Scratch::new("source"), Scratch::new("state"));
        std::fs::write(file.path(), content(SIZE)).unwrap();
        let storage = StorageEmulator::start();
        let upload = || {
            let upload = upload_by(is_universal, UploadSource::file(file.path()));
            upload.single_request_below(0).state_file(state.path())
        };
        begin(&storage, upload(), &state, 2 * KIB_256).await;
        storage.disconnect();
        let text = std::fs::read_to_string(state.path()).unwrap();
        assert!(text.contains("\"session\":\"http://storage.test/"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(state.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
        // Another upload must not take it.
        let other = Upload::to_object(ENDPOINT, "b", "other", "x").state_file(state.path());
        let error = other.send(&client(&storage)).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::StateFile);

        let uploaded = upload().send(&client(&storage)).await.unwrap();
        assert_eq!(stored(&storage), content(SIZE));
        assert_eq!(uploaded.resumptions(), 1);
        assert_eq!(uploaded.crc32c(), Some(crc32c(&content(SIZE))));
        assert!(!state.path().exists());
        assert_eq!(starts(&storage), 1);
    }
}

/// A URI that is signed again names the same object if the program says so.
#[tokio::test(start_paused = true)]
async fn a_transfer_by_a_signed_uri_goes_on_by_another_one() {
    let (file, state) = (Scratch::new("target"), Scratch::new("state"));
    for is_named in [true, false] {
        let storage = StorageEmulator::start();
        storage.put("b", "folder/o", content(SIZE));
        storage.fault(StorageFault::status(403).on(StorageCall::Download).skip(1));
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(2 * KIB_256 as u64));
        let receive = |signature: &str| {
            let download = download().query("signature", signature).resumable();
            let download = if is_named { download.state_name("b/folder/o") } else { download };
            download.to_file(&client(&storage), file.path())
        };
        assert_eq!(receive("s3cret1").await.unwrap_err().status(), Some(403));
        let text = std::fs::read_to_string(file.beside(".gax-state")).unwrap();
        assert_eq!(text.contains("s3cret"), !is_named, "{text}");
        let before = storage.arrivals().len();
        match receive("s3cret2").await {
            Ok(downloaded) => {
                assert!(is_named && downloaded.is_verified());
                assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
                let arrivals = storage.arrivals();
                assert!(arrivals[before].header("range").is_some_and(|range| range != "bytes=0-"));
                std::fs::remove_file(file.path()).unwrap();
            }
            Err(error) => assert_eq!((is_named, error.kind()), (false, TransferErrorKind::StateFile)),
        }
        for is_universal in [false, true] {
            let storage = StorageEmulator::start();
            storage.fault(StorageFault::status(403).on(StorageCall::Upload).at(2 * KIB_256 as u64));
            let client = with_layer(&storage, &layer_of(1));
            let send = |signature: &str| {
                let upload = upload_by(is_universal, content(SIZE)).query("signature", signature);
                let upload = upload.single_request_below(0).state_file(state.path());
                let upload = if is_named { upload.state_name("b/folder/o") } else { upload };
                upload.send(&client)
            };
            send("s3cret1").await.unwrap_err();
            match send("s3cret2").await {
                Ok(_) => assert_eq!((is_named, starts(&storage)), (true, 1)),
                Err(error) => assert_eq!((is_named, error.kind()), (false, TransferErrorKind::StateFile)),
            }
            drop(std::fs::remove_file(state.path()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_file_that_does_not_fit_is_no_use_or_an_error() {
    let (file, state) = (Scratch::new("source"), Scratch::new("state"));
    std::fs::write(file.path(), content(SIZE)).unwrap();
    let storage = StorageEmulator::start();
    let upload =
        || to_object(UploadSource::file(file.path())).single_request_below(0).state_file(state.path());
    begin(&storage, upload(), &state, KIB_256).await;
    // The source is another one: the upload begins anew.
    std::fs::write(file.path(), content(SIZE + 1)).unwrap();
    upload().send(&client(&storage)).await.unwrap();
    assert_eq!(stored(&storage), content(SIZE + 1));

    std::fs::write(state.path(), "{\"session\":\"s3cret\"").unwrap();
    let error = upload().send(&client(&storage)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::StateFile);
    let text = format!("{error} {error:?}");
    assert!(!text.contains("s3cret") && text.contains("line 1"), "{text}");
}

/// Bytes in memory are known by their checksum, those of other sources by their size.
#[tokio::test(start_paused = true)]
async fn other_bytes_of_the_same_length_begin_anew() {
    for is_universal in [false, true] {
        let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
        begin(&storage, upload_by(is_universal, content(SIZE)), &state, 2 * KIB_256).await;
        let other = Bytes::from(vec![7; SIZE]);
        let again = upload_by(is_universal, other.clone()).single_request_below(0).state_file(state.path());
        again.send(&client(&storage)).await.unwrap();
        assert_eq!((stored(&storage) == other, starts(&storage)), (true, 2));
        assert!(!state.path().exists());
    }
}

/// A session of which nothing will ever come isn't asked again.
#[tokio::test(start_paused = true)]
async fn the_state_of_a_session_that_is_spent_is_removed() {
    for (fault, kind) in [
        // The server has noticed, or says so afterwards.
        (StorageFault::corrupt(1234).times(2), TransferErrorKind::ChecksumMismatch),
        (StorageFault::status(412), TransferErrorKind::Status),
        (StorageFault::status(400), TransferErrorKind::Status),
    ] {
        let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
        storage.fault(fault.on(StorageCall::Upload));
        let upload = || to_object(content(SIZE)).single_request_below(0).state_file(state.path());
        let error = upload().send(&client(&storage)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!state.path().exists() && error.session().is_none(), "{error}");
        upload().send(&client(&storage)).await.unwrap();
        assert_eq!(stored(&storage), content(SIZE));
    }
    let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
    storage.fault(StorageFault::corrupt(1234).on(StorageCall::Upload));
    let upload = || universal(content(SIZE)).state_file(state.path());
    let error = upload().send(&client(&storage)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ChecksumMismatch, "{error}");
    assert!(!state.path().exists());
    upload().send(&client(&storage)).await.unwrap();
    assert_eq!(stored(&storage), content(SIZE));
    // Credentials can be renewed, and servers repaired: the upload goes on then.
    for status in [401, 403, 501] {
        let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
        storage.fault(StorageFault::status(status).on(StorageCall::Upload).at(2 * KIB_256 as u64));
        let upload = || to_object(content(SIZE)).single_request_below(0).state_file(state.path());
        let error = upload().send(&client(&storage)).await.unwrap_err();
        assert_eq!((error.status(), error.session().is_some()), (Some(status), true), "{error}");
        let uploaded = upload().send(&client(&storage)).await.unwrap();
        assert_eq!((uploaded.resumptions(), starts(&storage)), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_file_that_can_not_be_read_or_written_is_an_error() {
    let storage = StorageEmulator::start();
    let state = Scratch::new("state");
    let send = async |state: std::path::PathBuf| {
        let upload = to_object(content(SIZE)).single_request_below(0).state_file(state);
        upload.send(&client(&storage)).await.unwrap_err()
    };
    let folder = state.path().parent().unwrap().to_owned();
    let error = send(folder.clone()).await;
    assert!(error.to_string().ends_with("can't be read: it is not a regular file"), "{error}");
    for (text, problem) in [
        ("", "line 1, column 0"),
        ("{}", "line 1, column 2"),
        ("[", "line 1, column 1"),
        (
            r#"{"request":"a","generation":null,"etag":null,"encoding":null,"total":1,"hash":null}"#,
            "line 1, column 83",
        ),
        (&" ".repeat(1024 * 1024 + 1), "it is too long"),
    ] {
        std::fs::write(state.path(), text).unwrap();
        let error = send(state.path()).await;
        assert_eq!(error.kind(), TransferErrorKind::StateFile);
        let text = error.to_string();
        let expected = format!("is not the state of a transfer: remove it, or name another file: {problem}");
        assert!(text.ends_with(&expected), "{text}");
        assert!(state.path().exists());
    }
    assert_eq!(storage.arrivals().len(), 0);
    // Nothing of the source goes to a session that nobody could find again.
    let error = send(folder.join("none/state")).await;
    assert_eq!(error.kind(), TransferErrorKind::StateFile);
    assert!(error.to_string().contains("none/state can't be written"), "{error}");
    assert!(storage.arrivals().iter().all(|arrival| arrival.call == StorageCall::StartUpload));
    // The program can cancel it, or go on with it.
    error.session().unwrap().cancel(&client(&storage)).await.unwrap();
    assert_eq!(storage.open_uploads(), 0);

    // Those of downloads have their place beside the file.
    storage.put("b", "folder/o", content(SIZE));
    std::fs::write(state.beside(".gax-state"), "{").unwrap();
    let error = download().resumable().to_file(&client(&storage), state.path()).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::StateFile);
    assert!(!state.beside(".gax-part").exists());
    std::fs::remove_file(state.beside(".gax-state")).unwrap();
    download().resumable().to_file(&client(&storage), state.path()).await.unwrap();
}

/// Both have found the same session, or each has started one.
#[tokio::test(start_paused = true)]
async fn two_uploads_with_one_state_file_make_the_object() {
    for (is_universal, is_found) in [(false, true), (false, false), (true, true), (true, false)] {
        let (file, state) = (Scratch::new("source"), Scratch::new("state"));
        std::fs::write(file.path(), content(SIZE)).unwrap();
        let storage = StorageEmulator::start();
        let upload = || {
            let upload = upload_by(is_universal, UploadSource::file(file.path()));
            upload.single_request_below(0).state_file(state.path())
        };
        if is_found {
            begin(&storage, upload(), &state, KIB_256).await;
        }
        let (one, other) = (client(&storage), client(&storage));
        let (one, other) = tokio::join!(upload().send(&one), upload().send(&other));
        let mut whole = 0;
        for result in [one, other] {
            match result {
                Ok(uploaded) => whole += u32::from(uploaded.bytes() == SIZE as u64),
                // Nothing more is taken by a session that is final.
                Err(error) => assert_eq!((is_universal, error.status()), (true, Some(400)), "{error}"),
            }
        }
        assert!(whole == 2 || whole == 1 && is_universal && is_found, "{whole} {is_universal} {is_found}");
        assert_eq!(stored(&storage), content(SIZE));
        assert_eq!(std::fs::read_dir(state.path().parent().unwrap()).unwrap().count(), 0);
    }
}

/// Neither what a process has left that was killed, nor a link that somebody has put there, gets the session. A file beside it that has
/// another name stays.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn the_session_goes_into_a_file_of_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    for (end, stays) in [(".gax-new", false), (".new", true)] {
        for is_link in [false, true] {
            let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
            let (new, other) = (state.beside(end), state.beside("-other"));
            std::fs::write(&other, "other").unwrap();
            if is_link {
                std::os::unix::fs::symlink(&other, &new).unwrap();
            } else {
                std::fs::write(&new, "other").unwrap();
            }
            let upload = || to_object(content(SIZE));
            begin(&storage, upload(), &state, KIB_256).await;
            assert_eq!(std::fs::metadata(state.path()).unwrap().permissions().mode() & 0o777, 0o600);
            upload().state_file(state.path()).send(&client(&storage)).await.unwrap();
            assert_eq!(std::fs::read_to_string(&other).unwrap(), "other");
            assert_eq!(std::fs::read_to_string(&new).ok().as_deref(), stays.then_some("other"));
            assert!(!state.path().exists());
        }
    }
}

/// The session of another type, other metadata or another condition would make another object.
#[tokio::test(start_paused = true)]
async fn what_the_start_says_of_the_object_is_compared() {
    let upload = || to_object(content(SIZE)).content_type("text/plain").header("authorization", "Bearer one");
    for (change, started) in [
        (upload().header("x-goog-api-client", "later"), 1),
        (to_object(content(SIZE)).content_type("text/plain").header("authorization", "Bearer two"), 1),
        (upload().content_type("image/jpeg"), 2),
        (upload().metadata(r#"{"contentLanguage":"de"}"#), 2),
        (upload().header("x-goog-if-generation-match", "7"), 2),
        (upload().header("x-goog-meta-a", "b"), 2),
    ] {
        let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
        begin(&storage, upload(), &state, KIB_256).await;
        let what = format!("{change:?}");
        change.single_request_below(0).state_file(state.path()).send(&client(&storage)).await.unwrap();
        assert_eq!((starts(&storage), stored(&storage)), (started, content(SIZE)), "{what}");
    }
}

/// Whoever can write it could send the bytes anywhere.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_state_file_that_somebody_else_can_write_is_ignored() {
    use std::os::unix::fs::PermissionsExt as _;
    for mode in [0o620, 0o602, 0o644] {
        let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
        begin(&storage, to_object(content(SIZE)), &state, KIB_256).await;
        std::fs::set_permissions(state.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        let upload = to_object(content(SIZE)).single_request_below(0).state_file(state.path());
        let uploaded = upload.send(&client(&storage)).await.unwrap();
        let is_ignored = mode != 0o644;
        let notes = if is_ignored { vec![STATE_FILE_IGNORED] } else { Vec::new() };
        assert_eq!((starts(&storage), uploaded.report().notes()), (1 + usize::from(is_ignored), &*notes));
        assert!(!state.path().exists());
    }
}

/// The server has named another one than that.
#[tokio::test(start_paused = true)]
async fn a_session_of_another_origin_is_not_gone_on_with() {
    let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
    begin(&storage, to_object(content(SIZE)), &state, KIB_256).await;
    let text = std::fs::read_to_string(state.path()).unwrap();
    let text = text.replace(r#""session":"http://storage.test/"#, r#""session":"http://elsewhere.test/"#);
    std::fs::write(state.path(), text).unwrap();
    let upload = to_object(content(SIZE)).single_request_below(0).state_file(state.path());
    upload.send(&client(&storage)).await.unwrap();
    assert_eq!((starts(&storage), stored(&storage)), (2, content(SIZE)));
    assert!(storage.arrivals().iter().all(|arrival| arrival.header("host") == Some("storage.test")));
}

/// The slower of two uploads with one session goes on behind what the other one has sent.
#[tokio::test(start_paused = true)]
async fn another_upload_with_the_same_state_file_may_be_faster() {
    for is_universal in [false, true] {
        let (file, state) = (Scratch::new("source"), Scratch::new("state"));
        std::fs::write(file.path(), content(SIZE)).unwrap();
        let storage = StorageEmulator::start();
        let upload = || {
            let upload = upload_by(is_universal, UploadSource::file(file.path())).chunk_size(KIB_256 as u64);
            upload.single_request_below(0).state_file(state.path())
        };
        storage.fault(StorageFault::delay(std::time::Duration::from_secs(5)).on(StorageCall::Upload));
        storage.fault(StorageFault::stall().on(StorageCall::Upload).at(2 * KIB_256 as u64 + 1));
        let slow = tokio::spawn(upload().send(&client(&storage)));
        while starts(&storage) + usize::from(state.path().exists()) < 2 || storage.arrivals().len() < 2 {
            tokio::task::yield_now().await;
        }
        let fast = tokio::spawn(upload().send(&client(&storage)));
        storage.stalled().await;
        fast.abort();
        assert!(fast.await.unwrap_err().is_cancelled());
        let uploaded = slow.await.unwrap().unwrap();
        assert_eq!((uploaded.is_verified(), starts(&storage)), (true, 1));
        assert_eq!(stored(&storage), content(SIZE));
    }
}

/// An upload that ends leaves the state of another one alone.
#[tokio::test(start_paused = true)]
async fn only_its_own_state_is_removed() {
    let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
    storage.fault(StorageFault::delay(std::time::Duration::from_secs(5)).on(StorageCall::Upload));
    let upload = to_object(content(SIZE)).single_request_below(0).state_file(state.path());
    let running = tokio::spawn(upload.send(&client(&storage)));
    while !state.path().exists() {
        tokio::task::yield_now().await;
    }
    std::fs::write(state.path(), "another one's").unwrap();
    running.await.unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(state.path()).unwrap(), "another one's");
}
