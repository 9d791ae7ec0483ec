//! Downloads that go on with the file and the state of an earlier process.

use super::server::{Act, TEXT, download, read, requests, server};
use crate::checksum::{Checksums, Hasher};
use crate::tests::Folder;
use crate::{Download, TransferErrorKind, TransferService};
use bytes::Bytes;
use gax_http::HttpRetryService;
use std::path::Path;

#[tokio::test(start_paused = true)]
async fn an_earlier_process_leaves_what_it_has_received() {
    let names = ["a.gax-part", "a.gax-state"];
    for (parallel, acts, resumed) in [
        (0, vec![(0, Act::Cut(4)), (4, Act::Status(403))], vec!["4-"]),
        // Ranges that were whole are not requested again.
        (3, vec![(5, Act::Cut(1)), (6, Act::Status(403))], vec!["6-7"]),
    ] {
        for is_changed in [false, true] {
            let folder = Folder::new();
            let path = folder.file("a");
            let (server, client) = server(acts.clone());
            let request = || download().resumable().parallel(parallel, 2);
            let error = request().to_file(&client, &path).await.unwrap_err();
            assert_eq!((error.status(), &*folder.names()), (Some(403), &names.map(String::from)[..]));
            let other = Download::of_object("http://storage.test", "b", "o2").resumable();
            let error = other.to_file(&client, &path).await.unwrap_err();
            assert_eq!(
                (error.kind(), &*folder.names()),
                (TransferErrorKind::StateFile, &names.map(String::from)[..])
            );
            drop(requests(&server));
            // The state has the checksum that the server named.
            server.lock().unwrap().has_checksum = is_changed;
            if is_changed {
                let mut bytes = read(&folder.file("a.gax-part"));
                bytes[0] ^= 1;
                std::fs::write(folder.file("a.gax-part"), bytes).unwrap();
            }
            let downloaded = request().to_file(&client, &path).await.unwrap();
            assert_eq!((&*read(&path), downloaded.bytes(), downloaded.is_verified()), (TEXT, 10, true));
            assert_eq!(folder.names(), ["a"]);
            let requests = requests(&server);
            if is_changed {
                assert!(requests[0] == "- -" || requests[0] == "bytes=0-1 -", "{requests:?}");
            } else {
                let ranges: Vec<_> =
                    resumed.iter().map(|range| format!("&generation=1 bytes={range} \"1\"")).collect();
                assert_eq!(requests, ranges);
            }
        }
    }
    // The rest of one range may be divided, and that of several received by one process after the other.
    for (before, later, ranges) in [(0, 2, vec!["4-6", "7-9"]), (3, 0, vec!["6-7"])] {
        let folder = Folder::new();
        let acts = [(0, Act::Cut(4)), (4, Act::Status(403)), (5, Act::Cut(1)), (6, Act::Status(403))];
        let (one, client) = server(acts);
        let request = |parallel| download().resumable().parallel(parallel, 2);
        request(before).to_file(&client, folder.file("a")).await.unwrap_err();
        drop(requests(&one));
        one.lock().unwrap().acts.clear();
        request(later).to_file(&client, folder.file("a")).await.unwrap();
        let expected: Vec<_> =
            ranges.iter().map(|range| format!("&generation=1 bytes={range} \"1\"")).collect();
        let mut requests = requests(&one);
        requests.sort_unstable();
        assert_eq!((&*read(&folder.file("a")), requests), (TEXT, expected));
    }
    // The rest is not divided if nobody knows how long the object is.
    let folder = Folder::new();
    let (unknown, client) = server([(0, Act::Cut(4)), (4, Act::Status(403))]);
    unknown.lock().unwrap().has_length = false;
    download().resumable().to_file(&client, folder.file("a")).await.unwrap_err();
    drop(requests(&unknown));
    download().resumable().parallel(3, 2).to_file(&client, folder.file("a")).await.unwrap();
    assert_eq!((&*read(&folder.file("a")), requests(&unknown).len()), (TEXT, 1));
}

#[tokio::test(start_paused = true)]
async fn a_state_has_the_version_and_what_is_whole() {
    // The version goes on as its server has named it.
    for (names, header, request) in [
        ((true, false), None, "bytes=4- \"1\""),
        ((false, true), None, "&generation=1 bytes=4- -"),
        ((true, true), Some(("content-encoding", "gzip")), "&generation=1 bytes=4- \"1\""),
    ] {
        let folder = Folder::new();
        let (one, client) = server([(0, Act::Cut(4)), (4, Act::Status(403))]);
        {
            let mut server = one.lock().unwrap();
            (server.names, server.header) = (names, header);
        }
        let download = || if header.is_some() { download().stored() } else { download() };
        download().resumable().to_file(&client, folder.file("a")).await.unwrap_err();
        drop(requests(&one));
        download().resumable().to_file(&client, folder.file("a")).await.unwrap();
        assert_eq!((&*read(&folder.file("a")), requests(&one)), (TEXT, vec![request.to_owned()]));
    }
    // An object that was replaced meanwhile starts over.
    for has_checksum in [true, false] {
        let folder = Folder::new();
        let acts = [(0, Act::Cut(4)), (4, Act::Status(403)), (4, Act::Replaced(b"another"))];
        let (replaced, client) = server(acts);
        replaced.lock().unwrap().has_checksum = has_checksum;
        download().resumable().to_file(&client, folder.file("a")).await.unwrap_err();
        download().resumable().to_file(&client, folder.file("a")).await.unwrap();
        assert_eq!((&*read(&folder.file("a")), &*folder.names()), (&b"another"[..], &["a".to_owned()][..]));
    }
}

/// A process that ended between the last byte and the file's name: the next one asks once whether the object is still that one.
#[tokio::test(start_paused = true)]
async fn a_file_that_was_whole_gets_its_name() {
    const ASKED: &str = "&generation=1 bytes=10- \"1\"";
    // What the server has said: a checksum, its length, versions. What has changed since.
    let [nothing, longer, other, replaced] = [0, 1, 2, 3];
    for ((has_checksum, has_length, has_version), changed, expected) in [
        ((true, true, true), nothing, &[ASKED][..]),
        ((false, true, true), nothing, &[ASKED]),
        ((true, false, true), nothing, &[ASKED]),
        ((false, false, true), nothing, &[ASKED]),
        ((true, true, true), longer, &[ASKED]),
        ((false, true, true), longer, &[ASKED]),
        // Nobody has said how long the object is.
        ((true, false, true), longer, &["&generation=1 bytes=16- \"1\"", "- -"]),
        ((true, true, true), other, &["- -"]),
        ((false, true, true), other, &["- -"]),
        ((true, true, true), replaced, &[ASKED, "- -"]),
        ((false, true, true), replaced, &[ASKED, "- -"]),
        // Nothing tells this object from another one.
        ((true, true, false), nothing, &["- -"]),
    ] {
        for parallel in [0, 3] {
            if parallel > 0 && !has_length && changed == longer {
                // A range says it.
                continue;
            }
            let folder = Folder::new();
            let (path, part) = (folder.file("a"), folder.file("a.gax-part"));
            let (whole, client) = server([]);
            {
                let mut server = whole.lock().unwrap();
                (server.has_checksum, server.has_length) = (has_checksum, has_length);
                server.names = (has_version, has_version);
            }
            let request = download().resumable().parallel(parallel, 2).on_progress(|progress| {
                if progress.bytes() == 10 {
                    drop(std::fs::create_dir(&path));
                }
            });
            let error = request.to_file(&client, &path).await.unwrap_err();
            assert_eq!((error.kind(), error.bytes()), (TransferErrorKind::Sink, 10));
            std::fs::remove_dir(&path).unwrap();
            drop(requests(&whole));
            let mut bytes = read(&part);
            if changed == longer {
                bytes.extend_from_slice(b"longer");
            } else if changed == other {
                bytes[0] ^= 1;
            } else if changed == replaced {
                whole.lock().unwrap().acts = vec![(10, Act::Replaced(b"another"))];
            }
            std::fs::write(&part, bytes).unwrap();
            let downloaded = download().resumable().to_file(&client, &path).await.unwrap();
            let content = if changed == replaced { b"another" } else { TEXT };
            assert_eq!((&*read(&path), &*folder.names()), (content, &["a".to_owned()][..]));
            assert_eq!(downloaded.is_verified(), has_checksum);
            assert_eq!(requests(&whole), expected, "{has_checksum} {has_length} {has_version} {changed}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_left_has_the_wanted_checksums() {
    for (parallel, cut, ranges) in [(0, 0, vec!["4-"]), (3, 5, vec!["6-7"])] {
        for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
            let folder = Folder::new();
            let path = folder.file("a");
            let acts = [(0, Act::Cut(4)), (4, Act::Status(403)), (5, Act::Cut(1)), (6, Act::Status(403))];
            let (left, client) = server(acts.into_iter().filter(|(at, _)| *at >= cut).collect::<Vec<_>>());
            let request = || download().resumable().checksums(checksums).parallel(parallel, 2);
            request().to_file(&client, &path).await.unwrap_err();
            drop(requests(&left));
            let downloaded = request().to_file(&client, &path).await.unwrap();
            let ranges: Vec<_> =
                ranges.iter().map(|range| format!("&generation=1 bytes={range} \"1\"")).collect();
            assert_eq!((&*read(&path), requests(&left)), (TEXT, ranges));
            let mut whole = Hasher::new(Checksums { crc32c: true, ..checksums });
            whole.update(TEXT);
            assert_eq!((downloaded.crc32c(), downloaded.md5()), (whole.sums().crc32c, whole.sums().md5));
            assert!(downloaded.is_verified());
        }
    }
    // The server names an MD5 alone.
    for (parallel, cut) in [(0, 0), (3, 5)] {
        let folder = Folder::new();
        let (left, client) = server([(cut, Act::Cut(1)), (cut + 1, Act::Status(403))]);
        {
            let mut server = left.lock().unwrap();
            (server.has_checksum, server.header) =
                (false, Some(("x-goog-hash", "md5=eB5eJF1ptWaXm4bijSPyxw==")));
        }
        let request = || download().resumable().checksums(Checksums::MD5).parallel(parallel, 2);
        request().to_file(&client, folder.file("a")).await.unwrap_err();
        assert!(request().to_file(&client, folder.file("a")).await.unwrap().is_verified());
    }
}

/// Ranges that don't fit together are those of nobody: the download starts over.
#[tokio::test(start_paused = true)]
async fn a_state_whose_ranges_leave_a_gap() {
    let mut longer = Hasher::new(Checksums::CRC32C);
    longer.update(&TEXT[..4]);
    let longer = serde_json::json!({"begin": 0, "end": 2, "bytes": 4, "crc32c": longer.sums().crc32c});
    for (field, value) in [
        ("/total", 11.into()),
        ("/ranges/2/begin", 6.into()),
        ("/ranges/1/end", 4.into()),
        ("/ranges/0", longer),
    ] {
        let folder = Folder::new();
        let path = folder.file("a");
        let (left, client) = server([(5, Act::Cut(0)), (5, Act::Status(403))]);
        let request = || download().resumable().parallel(3, 2);
        request().to_file(&client, &path).await.unwrap_err();
        drop(requests(&left));
        let mut state: serde_json::Value =
            serde_json::from_slice(&read(&folder.file("a.gax-state"))).unwrap();
        *state.pointer_mut(field).unwrap() = value;
        std::fs::write(folder.file("a.gax-state"), state.to_string()).unwrap();
        request().to_file(&client, &path).await.unwrap();
        assert_eq!((&*read(&path), &*requests(&left)[0]), (TEXT, "bytes=0-1 -"), "{field}");
    }
}

/// Begins a download, which ends before it is over, as if its process were killed.
async fn kill(download: Download<'_>, client: &HttpRetryService<impl TransferService>, path: &Path) {
    tokio::select! {
        biased;
        ended = download.to_file(client, path) => panic!("{ended:?}"),
        // The clock stands still until all that came is written.
        () = tokio::time::sleep(std::time::Duration::from_millis(1)) => {}
    }
}

/// A process that is killed loses what came since.
#[tokio::test(start_paused = true)]
async fn the_state_is_written_every_16_mib() {
    const MIB_16: usize = 16 * 1024 * 1024;
    let (long, client) = server([(0, Act::Stalled([MIB_16 - 1, MIB_16, MIB_16 + 10]))]);
    let content = Bytes::from(vec![7; MIB_16 + 20]);
    {
        let mut server = long.lock().unwrap();
        (server.content, server.has_checksum) = (content.clone(), false);
    }
    let folder = Folder::new();
    let request = || download().resumable();
    kill(request(), &client, &folder.file("a")).await;
    assert_eq!(read(&folder.file("a.gax-part")).len(), MIB_16 + 10);
    drop(requests(&long));
    request().to_file(&client, folder.file("a")).await.unwrap();
    assert!(read(&folder.file("a")) == content);
    assert_eq!(requests(&long), [format!("&generation=1 bytes={MIB_16}- \"1\"")]);
}

/// A process that is killed before that has received nothing, of no version.
#[tokio::test(start_paused = true)]
async fn a_state_without_bytes_is_none() {
    let (one, client) = server([(0, Act::Stalled([1, 2, 4])), (0, Act::Replaced(b"another"))]);
    one.lock().unwrap().has_checksum = false;
    let folder = Folder::new();
    let request = || download().resumable();
    kill(request(), &client, &folder.file("a")).await;
    assert_eq!(folder.names(), ["a.gax-part", "a.gax-state"]);
    request().to_file(&client, folder.file("a")).await.unwrap();
    assert_eq!((&*read(&folder.file("a")), requests(&one).len()), (&b"another"[..], 2));
}
