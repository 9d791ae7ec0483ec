//! Sessions, and who goes on with them.

use super::server::{
    Act, PIECE, SIZE, Shared, by_universal, content, is_made, requests, server, sources, to_object, universal,
};
use crate::checksum::Checksums;
use crate::tests::{Content, Folder, client_of};
use crate::{TransferErrorKind, Upload, UploadSession, UploadSource};
use gax_driver::CallOptions;
use http::Response;
use std::io::Cursor;
use std::time::Duration;

type Change = fn(Upload<'static>) -> Upload<'static>;

#[tokio::test(start_paused = true)]
async fn another_process_goes_on_with_the_session() {
    let folder = Folder::new();
    let state = folder.file("state");
    let acts = [Act::Pass, Act::Lost(PIECE), Act::Status(403)];
    for (source, _) in sources(&folder).into_iter().take(3) {
        let (server, client) = server(&acts);
        let upload = |source| to_object(source).single_request_below(0).state_file(&state);
        let error = upload(source).send(&client).await.unwrap_err();
        assert_eq!((error.status(), state.exists()), (Some(403), true));
        // A file was changed at a time that memory knows nothing of.
        let (source, _) = sources(&folder).into_iter().next().unwrap();
        upload(source).send(&client).await.unwrap();
        assert_eq!((is_made(&server), state.exists()), (true, false));
    }
    // Another object begins anew, and the same one goes on.
    let changes: [(Change, &str, bool); 9] = [
        (|upload| upload, "", true),
        (|upload| upload.header("authorization", "Bearer later"), "", true),
        (|upload| upload.content_type("image/jpeg"), "", false),
        (|upload| upload, r#""session":"http://elsewhere.test/session""#, false),
        (|upload| upload, r#""size":7"#, false),
        (|upload| upload, r#""hash":"crc32c=AAAAAA==""#, false),
        (|upload| upload, r#""modified":7"#, false),
        (|upload| upload, r#""origins":[]"#, false),
        (|upload| upload, r#""control":"http://elsewhere.test/session""#, false),
    ];
    for (change, edit, is_resumed) in changes {
        let (server, client) = server(&acts);
        let upload = || to_object(content()).single_request_below(0).state_file(&state);
        upload().send(&client).await.unwrap_err();
        let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&state).unwrap()).unwrap();
        if !edit.is_empty() {
            let edit: serde_json::Value = serde_json::from_str(&format!("{{{edit}}}")).unwrap();
            for (name, value) in edit.as_object().unwrap() {
                text[name] = value.clone();
            }
            std::fs::write(&state, text.to_string()).unwrap();
        }
        drop(requests(&server));
        let other = upload().query("a", "b").send(&client).await.unwrap_err();
        assert_eq!((other.kind(), requests(&server).len()), (TransferErrorKind::StateFile, 0));
        change(upload()).send(&client).await.unwrap();
        let first =
            if is_resumed { format!("PUT bytes */{SIZE}") } else { "POST uploadType=resumable".to_owned() };
        assert_eq!((&requests(&server)[0], is_made(&server)), (&first, true), "{edit}");
    }
    // A session of the universal protocol has two URIs, and its own granularity.
    let (two, client) = universal(&[Act::Pass, Act::Lost(PIECE), Act::Status(503)]);
    let upload = || by_universal(content()).chunk_size(PIECE as u64).state_file(&state);
    upload().send(&client).await.unwrap_err();
    drop(requests(&two));
    upload().send(&client).await.unwrap();
    let (query, rest) = ("POST query", ["POST upload 262000", "POST upload, finalize 524000"]);
    assert_eq!(requests(&two), [query, rest[0], rest[1]]);
    assert!(is_made(&two) && !state.exists());
    // A program that keeps the session itself.
    let (server, client) = server(&acts);
    let mut session = None;
    let upload = to_object(content()).single_request_below(0).on_session(|new| session = Some(new.clone()));
    let error = upload.send(&client).await.unwrap_err();
    assert_eq!(
        error.session().map(UploadSession::expose_uri),
        session.as_ref().map(UploadSession::expose_uri)
    );
    drop(requests(&server));
    let uploaded = Upload::resume(session.unwrap(), content()).send(&client).await.unwrap();
    assert_eq!((is_made(&server), uploaded.bytes(), uploaded.resumptions()), (true, SIZE as u64, 1));
    assert_eq!(uploaded.report().method(), "resume an upload");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_is_shorter_than_it_was_makes_no_object() {
    for source in [
        UploadSource::seekable(Cursor::new(content())).with_size(SIZE as u64 + 1),
        UploadSource::seekable(Cursor::new(content())).with_size(SIZE as u64 - 1),
        UploadSource::reader(Cursor::new(content())).with_size(SIZE as u64 + 1),
    ] {
        let (server, client) = server(&[]);
        let error = to_object(source).single_request_below(0).send(&client).await.unwrap_err();
        assert_eq!((error.kind(), is_made(&server)), (TransferErrorKind::SourceChanged, false));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_of_no_use_is_not_kept() {
    let folder = Folder::new();
    let state = folder.file("state");
    let storage = || to_object(content()).single_request_below(0).checksums(Checksums::NONE);
    let shorter = UploadSource::seekable(Cursor::new(content())).with_size(SIZE as u64 + 1);
    let last = |status| [Act::Pass, Act::Status(status)];
    for (upload, acts, is_kept, has_file) in [
        (storage(), &last(403)[..], true, true),
        (storage(), &last(400), false, false),
        (storage(), &last(412), false, false),
        (storage(), &last(499), false, false),
        (to_object(shorter).single_request_below(0), &[], true, false),
        (by_universal(content()), &last(400), false, false),
        (
            by_universal(content()),
            &[Act::Pass, Act::Active(400), Act::Active(400), Act::Active(400)],
            true,
            true,
        ),
    ] {
        let (server, client) = server(acts);
        server.lock().unwrap().is_universal = format!("{upload:?}").contains("/upload/o");
        let error = upload.state_file(&state).send(&client).await.unwrap_err();
        assert_eq!((error.session().is_some(), state.exists()), (is_kept, has_file), "{error:?}");
        drop(std::fs::remove_file(&state));
    }
    // By the session alone no other one can be started.
    let (_server, client) = server(&[Act::Status(404)]);
    let session = UploadSession::from_uri("http://storage.test/session").unwrap();
    let error = Upload::resume(session, content()).send(&client).await.unwrap_err();
    assert_eq!((error.status(), error.session().is_none()), (Some(404), true));
}

/// Also not with a program that goes on with what a server has named.
#[tokio::test(start_paused = true)]
async fn a_session_elsewhere_gets_no_credentials() {
    let (server, client) = server(&[Act::Pass, Act::Status(403)]);
    server.lock().unwrap().is_elsewhere = true;
    let upload = to_object(content()).single_request_below(0).header("authorization", "t");
    let error = upload.send(&client).await.unwrap_err();
    let session = error.session().unwrap().clone();
    Upload::resume(session, content()).header("authorization", "t").send(&client).await.unwrap();
    assert_eq!(server.lock().unwrap().credentials, [true, false, false, false]);
}

#[tokio::test(start_paused = true)]
async fn an_upload_has_settings_of_its_own() {
    let short = || CallOptions::new().timeout(Duration::from_secs(30));
    let upload = || to_object(content()).single_request_below(0).options(short());
    for (act, upload, is_sent_again) in [
        (Act::Status(503), upload(), true),
        (Act::Status(503), upload().options(short().without_retries()), false),
        // Unless said, nothing may come for longer than the whole upload may take.
        (Act::Stalled, upload().idle_timeout(Duration::from_secs(1)), true),
        (Act::Stalled, upload(), false),
    ] {
        let (server, client) = server(&[Act::Pass, act]);
        assert_eq!(upload.send(&client).await.is_ok(), is_sent_again);
        assert_eq!(is_made(&server), is_sent_again);
    }
}

/// The wait for the end of a reply is never why an upload fails whose object the reply proves.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_proof_is_awaited_within_the_time_that_is_left() {
    let folder = Folder::new();
    for timeout in [10, 400, 2000].map(Duration::from_millis) {
        let options = || CallOptions::new().timeout(timeout);
        for ((source, _), before) in sources(&folder).into_iter().zip([1, 2, 2, 1]) {
            let acts = [vec![Act::Pass; before], vec![Act::Endless]].concat();
            let (server, client) = server(&acts);
            let upload = to_object(source).single_request_below(0).options(options());
            assert!(upload.send(&client).await.unwrap().is_verified(), "{timeout:?}");
            assert_eq!((is_made(&server), requests(&server).len()), (true, before + 1));
        }
        let (server, client) = universal(&[Act::Pass, Act::Endless]);
        assert!(by_universal(content()).options(options()).send(&client).await.unwrap().is_verified());
        assert!(is_made(&server));
    }
    // Without a checksum to compare, the state is asked for, and not only when the server has been silent for a minute.
    let (server, client) = server(&[Act::Pass, Act::Endless]);
    let options = CallOptions::new().timeout(Duration::from_secs(10));
    let upload = to_object(content()).single_request_below(0).checksums(Checksums::NONE).options(options);
    assert!(!upload.send(&client).await.unwrap().is_verified());
    assert_eq!((is_made(&server), requests(&server).last()), (true, Some(&format!("PUT bytes */{SIZE}"))));
}

/// What the source has is read for that.
#[tokio::test(start_paused = true)]
async fn the_proof_of_a_session_that_was_finished_before_needs_no_end() {
    let folder = Folder::new();
    let (_server, client) = server(&[Act::Pass, Act::Pass, Act::Pass, Act::Endless]);
    let [_, (file, _), ..] = sources(&folder);
    let mut session = None;
    let upload =
        to_object(file).single_request_below(0).on_session(|started| session = Some(started.clone()));
    upload.send(&client).await.unwrap();
    let resumed = Upload::resume(session.unwrap(), UploadSource::file(folder.file("source")));
    let resumed = resumed.options(CallOptions::new().timeout(Duration::from_secs(10)));
    assert!(resumed.send(&client).await.unwrap().is_verified());
}

#[tokio::test(start_paused = true)]
async fn sessions_are_cancelled() {
    for (status, kind) in [(499, None), (204, Some(None)), (404, None), (410, None), (403, Some(Some(403)))] {
        let client = client_of(move |request| {
            assert_eq!(request.method(), "DELETE");
            Ok(Response::builder().status(status).body(Content::whole(""))?)
        });
        let session = UploadSession::from_uri("http://storage.test/session").unwrap();
        let result = session.cancel(&client).await;
        let expected = kind.and_then(|kind| kind);
        assert_eq!(result.err().and_then(|error| error.status()), expected, "{status}");
    }
    // The object is there already.
    let client = client_of(|_| Ok(Response::new(Content::whole("{}"))));
    let session = UploadSession::from_uri("http://storage.test/session").unwrap();
    let error = session.cancel(&client).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(200)));
    assert_eq!(error.report().unwrap().method(), "cancel an upload");
    let (server, client) = universal(&[]);
    UploadSession::universal_from_uri("http://storage.test/session").unwrap().cancel(&client).await.unwrap();
    assert_eq!(requests(&server), ["POST cancel"]);
}

/// The server need not keep what nobody goes on with.
#[tokio::test(start_paused = true)]
async fn an_upload_that_is_dropped_is_cancelled_unless_it_goes_on() {
    let folder = Folder::new();
    let session = UploadSession::from_uri("http://storage.test/session").unwrap();
    for keeps in ["nobody", "the program", "a file", "whoever began it"] {
        let (server, client) = server(&[]);
        let (reader, mut writer) = tokio::io::duplex(SIZE);
        tokio::io::AsyncWriteExt::write_all(&mut writer, &content()).await.unwrap();
        let source = UploadSource::reader(reader);
        let upload = match keeps {
            "the program" => to_object(source).on_session(|_| ()),
            "a file" => to_object(source).state_file(folder.file("state")),
            "whoever began it" => Upload::resume(session.clone(), source),
            _ => to_object(source),
        };
        let upload = upload.chunk_size(PIECE as u64).header("authorization", "t");
        let running = tokio::spawn(upload.send(&client));
        while requests(&server).iter().all(|request| !request.starts_with("PUT bytes 262144")) {
            tokio::task::yield_now().await;
        }
        running.abort();
        drop(running.await);
        assert_eq!(
            later(&server).await.iter().any(|request| request.starts_with("DELETE")),
            keeps == "nobody"
        );
        assert!(server.lock().unwrap().credentials.iter().all(|has| *has));
        drop(writer);
    }
    // An upload that has ended is not cancelled.
    let (server, client) = server(&[]);
    to_object(content()).single_request_below(0).send(&client).await.unwrap();
    assert_eq!(later(&server).await.len(), 2);
}

/// The requests, with those of tasks that nobody waits for.
async fn later(server: &Shared) -> Vec<String> {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    requests(server)
}
