//! Responses: the requests that follow them, and those that are not of the wanted object.

use super::server::{Act, TEXT, download, read, requests, server};
use crate::checksum::Checksums;
use crate::tests::{Content, Folder, client_of};
use crate::{Download, TransferErrorKind, TransferProgress};
use gax_retry::Code;
use http::header::ETAG;
use http::{Request, Response, StatusCode};

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_requested_of_the_same_version() {
    let acts = [(0, Act::Cut(4)), (4, Act::Status(503)), (4, Act::Cut(3))];
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
        let (server, client) = server(acts.clone());
        let mut seen = Vec::new();
        let download = download().checksums(checksums);
        let download = download.on_progress(|progress: &TransferProgress| {
            seen.push((progress.bytes(), progress.total(), progress.resumptions()));
        });
        let (bytes, downloaded) = download.to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, downloaded.bytes(), downloaded.resumptions()), (TEXT, 10, 3));
        assert_eq!((downloaded.generation(), downloaded.response().status()), (Some(1), StatusCode::OK));
        assert_eq!(downloaded.is_verified(), checksums != Checksums::NONE);
        assert_eq!(downloaded.crc32c().is_some(), checksums != Checksums::MD5 && downloaded.is_verified());
        assert_eq!(
            requests(&server),
            [
                "- -",
                "&generation=1 bytes=4- \"1\"",
                "&generation=1 bytes=4- \"1\"",
                "&generation=1 bytes=7- \"1\""
            ]
        );
        assert_eq!(downloaded.report().method(), "GET /storage/v1/b/b/o/o");
        drop(downloaded);
        assert_eq!(seen.last(), Some(&(10, Some(10), 3)), "{seen:?}");
        assert!(seen.contains(&(4, Some(10), 0)) && seen.contains(&(7, Some(10), 2)), "{seen:?}");
    }
    let (_, client) = server([(0, Act::Cut(4)), (4, Act::Lost)]);
    assert_eq!(download().to_bytes(&client).await.unwrap().1.resumptions(), 2);
    // A failure before the first byte leaves nothing to resume.
    let (server, client) = server([(0, Act::Status(503))]);
    let (_, downloaded) = download().to_bytes(&client).await.unwrap();
    assert_eq!((downloaded.resumptions(), requests(&server).len()), (0, 2));
    assert_eq!(downloaded.report().attempts()[0].code(), Code::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_anew_with_each_byte() {
    let (one, client) = server((0..9).map(|place| (place, Act::Cut(1))).collect::<Vec<_>>());
    let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
    assert_eq!((&*bytes, downloaded.resumptions(), requests(&one).len()), (TEXT, 9, 10));
    let (one, client) =
        server([(0, Act::Cut(4)), (4, Act::Cut(0)), (4, Act::Status(503)), (4, Act::Status(503))]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.bytes(), requests(&one).len()), (4, 3));
    let (one, client) = server([(0, Act::Lost), (0, Act::Lost), (0, Act::Lost)]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.kind(), requests(&one).len()), (TransferErrorKind::Connection, 3));
}

#[tokio::test(start_paused = true)]
async fn bytes_that_come_again_are_skipped_if_they_are_the_same() {
    for (act, wanted) in [(Act::All, TEXT), (Act::Earlier(3), TEXT)] {
        let (server, client) = server([(0, Act::Cut(4)), (4, act)]);
        let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, downloaded.is_verified(), requests(&server).len()), (wanted, true, 2));
    }
    // Fewer bytes than were announced are not the end.
    for (acts, resumptions) in
        [(vec![(0, Act::Short(3))], 1), (vec![(0, Act::Cut(4)), (4, Act::Short(2))], 2)]
    {
        let (server, client) = server(acts);
        server.lock().unwrap().has_length = false;
        server.lock().unwrap().header = Some(("x-goog-stored-content-length", "10"));
        let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, downloaded.is_verified(), downloaded.resumptions()), (TEXT, true, resumptions));
    }
    // A range may be the last one without saying so.
    let (endless, client) = server([(0, Act::Cut(4)), (4, Act::Endless)]);
    endless.lock().unwrap().has_length = false;
    let (bytes, _) = download().to_bytes(&client).await.unwrap();
    assert_eq!((&*bytes, requests(&endless).len()), (TEXT, 3));
    // Without a version all of it is requested again, and its begin is compared.
    for checksums in [Checksums::CRC32C, Checksums::NONE] {
        for (act, wanted) in
            [(Act::All, TEXT), (Act::Short(8), TEXT), (Act::Replaced(b"another one"), b"another one")]
        {
            let (server, client) = server([(0, Act::Cut(4)), (0, act)]);
            {
                let mut server = server.lock().unwrap();
                (server.names, server.has_length) = ((false, false), false);
            }
            let (bytes, downloaded) = download().checksums(checksums).to_bytes(&client).await.unwrap();
            assert_eq!((&*bytes, downloaded.generation()), (wanted, None), "{checksums:?}");
            assert!(requests(&server).iter().all(|request| request == "- -"));
        }
    }
    // A range of a version that was asked for may leave its name out if a checksum is compared in the end.
    for (checksums, expected) in [(Checksums::CRC32C, 2), (Checksums::NONE, 3)] {
        let (server, client) = server([(0, Act::Cut(4)), (4, Act::Nameless)]);
        let (bytes, _) = download().checksums(checksums).to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, requests(&server).len()), (TEXT, expected));
    }
    let (nameless, client) = server([(2, Act::Nameless), (5, Act::Nameless)]);
    let folder = Folder::new();
    download().parallel(3, 2).to_file(&client, folder.file("a")).await.unwrap();
    assert_eq!((&*read(&folder.file("a")), requests(&nameless).len()), (TEXT, 4));
    // Nothing is taken back from a writer, so that the begin has to be known.
    for (checksums, is_known) in [(Checksums::CRC32C, true), (Checksums::NONE, false)] {
        let (server, client) = server([(0, Act::Cut(4))]);
        server.lock().unwrap().names = (false, false);
        let mut written = Vec::new();
        let result = download().checksums(checksums).to_writer(&client, &mut written).await;
        assert_eq!((result.is_ok(), written == TEXT), (is_known, is_known));
    }
    for act in [Act::More, Act::Status(204), Act::Status(206)] {
        let (_server, client) = server([(0, act)]);
        let error = download().to_bytes(&client).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.report().unwrap().attempts().len()),
            (TransferErrorKind::Malformed, 1)
        );
        assert_eq!(error.report().unwrap().attempts()[0].code(), Code::Internal);
    }
}

#[tokio::test(start_paused = true)]
async fn responses_that_are_not_of_the_wanted_object() {
    let page = client_of(|_| Ok(Response::builder().header(ETAG, "\"1\"").body(Content::whole("Log in"))?));
    assert_eq!(download().to_bytes(&page).await.unwrap_err().kind(), TransferErrorKind::Malformed);
    let any = Download::new(Request::get("http://storage.test/o").body(()).unwrap());
    assert_eq!(&*any.to_bytes(&page).await.unwrap().0, b"Log in");
    let (one, client) = server([]);
    assert_eq!(download().generation(2).to_bytes(&client).await.unwrap_err().status(), Some(404));
    one.lock().unwrap().acts.push((0, Act::Cut(4)));
    download().generation(1).to_bytes(&client).await.unwrap();
    assert_eq!(requests(&one)[1..], ["&generation=1 - -", "&generation=1 bytes=4- \"1\""]);
    one.lock().unwrap().names = (false, false);
    assert_eq!(
        download().generation(1).to_bytes(&client).await.unwrap_err().kind(),
        TransferErrorKind::Malformed
    );
    // A checksum is that of the bytes as they are stored.
    for (header, is_stored, is_verified) in [
        (("x-goog-stored-content-encoding", "gzip"), false, Some(false)),
        (("x-goog-stored-content-encoding", "gzip"), true, None),
        (("x-goog-stored-content-encoding", "identity"), true, Some(true)),
        (("content-encoding", "gzip"), true, Some(true)),
        (("content-encoding", "gzip"), false, None),
    ] {
        let (server, client) = server([]);
        server.lock().unwrap().header = Some(header);
        let download = if is_stored { download().stored() } else { download() };
        let result = download.to_bytes(&client).await;
        assert_eq!(result.ok().map(|(_, downloaded)| downloaded.is_verified()), is_verified, "{header:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_replaced_is_received_anew_unless_its_bytes_are_written() {
    let acts = [(0, Act::Cut(4)), (4, Act::Replaced(b"another"))];
    let (one, client) = server(acts.clone());
    let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
    assert_eq!(
        (&*bytes, downloaded.generation(), downloaded.is_verified()),
        (&b"another"[..], Some(2), true)
    );
    assert_eq!(downloaded.response().headers()[ETAG], "\"2\"");
    assert_eq!(requests(&one), ["- -", "&generation=1 bytes=4- \"1\"", "- -"]);
    let folder = Folder::new();
    for parallel in [0, 2] {
        let (_server, client) = server(acts.clone());
        let download = download().parallel(parallel, 20);
        let downloaded = download.to_file(&client, folder.file("a")).await.unwrap();
        assert_eq!((&*read(&folder.file("a")), downloaded.bytes()), (&b"another"[..], 7));
    }
    assert_eq!(folder.names(), ["a"]);
    // Only of a generation that we asked for ourselves there may be another one.
    for (names, generation) in [((true, false), None), ((true, true), Some(1))] {
        let (gone, client) = server([(0, Act::Cut(4)), (4, Act::Status(404))]);
        gone.lock().unwrap().names = names;
        let download = generation.into_iter().fold(download(), Download::generation);
        let error = download.to_bytes(&client).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::ObjectChanged, Some(404)));
    }
    let (_, client) = server([(0, Act::Cut(0)), (0, Act::Status(404))]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(404)));
    // Nothing is taken back from a writer, and ranges at once are of one object.
    let (_server, client) = server(acts.clone());
    let mut written = Vec::new();
    let error = download().to_writer(&client, &mut written).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.status(), &*written),
        (TransferErrorKind::ObjectChanged, Some(404), &b"0123"[..])
    );
    let (_server, client) = server([(6, Act::Replaced(b"another one"))]);
    let error = download().parallel(2, 2).to_file(&client, folder.file("b")).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ObjectChanged);
    // All of an object that may be another one: the range has no bytes to compare its begin with.
    let (renamed, client) = server([(5, Act::Renamed(b"abcdefghij"))]);
    {
        let mut server = renamed.lock().unwrap();
        (server.names, server.has_checksum) = ((true, false), false);
        server.header = Some(("x-goog-stored-content-length", "10"));
    }
    let error = download().parallel(3, 2).to_file(&client, folder.file("b")).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ObjectChanged);
    assert_eq!(folder.names(), ["a"]);
}
