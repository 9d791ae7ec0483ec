//! Settings that follow a file: real files, and whatever the operating system reports of them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_driver::observe::{OperationInfo, OperationObserver};
use gax_driver::{OperationOptions, Retryer};
use gax_retry::{Code, RetrySettings};
use gax_table::live::{SettingsHandle, watch};
use gax_table::{Dialect, RetryTable};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::Status;

/// As long as no machine takes; a test that works waits for none of it.
const AGES: Duration = Duration::from_secs(60);

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched").join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(attempts: u32) -> String {
    format!(
        r#"{{"methodConfig": [{{"name": [{{}}], "timeout": "60s", "retryPolicy": {{"maxAttempts": {attempts},
            "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1,
            "retryableStatusCodes": ["UNAVAILABLE"]}}}}]}}"#
    )
}

fn handle() -> SettingsHandle {
    let settings = RetrySettings::builder().max_attempts(9).build().unwrap();
    SettingsHandle::new(RetryTable::builder().every_service(settings, Code::Unavailable).build().unwrap())
}

/// The events of the handle, as they come.
fn events(handle: &SettingsHandle) -> Receiver<String> {
    let (sender, receiver) = channel();
    handle.on_event(move |event| drop(sender.send(event.to_string())));
    receiver
}

fn attempts(handle: &SettingsHandle) -> Option<u32> {
    handle.table().lookup("any.Service", "Any").unwrap().settings().max_attempts()
}

/// Waits until the handle has that number of attempts: some changes are seen in two steps.
fn wait_for(handle: &SettingsHandle, events: &Receiver<String>, expected: u32) {
    while attempts(handle) != Some(expected) {
        let event = events.recv_timeout(AGES).unwrap();
        let is_expected =
            ["retry settings are replaced", "the retry settings are read from the watched file"];
        assert!(is_expected.iter().any(|start| event.starts_with(start)), "{event}");
    }
}

#[test]
fn a_file_is_read_at_once_and_whenever_it_is_replaced() {
    let folder = folder("renamed");
    let path = folder.join("table.json");
    fs::write(&path, text(2)).unwrap();
    let handle = handle();
    let events = events(&handle);
    let watch = watch(&path, &handle).unwrap();
    assert_eq!((handle.version(), attempts(&handle)), (2, Some(2)));
    assert_eq!(events.recv_timeout(AGES).unwrap(), "retry settings are replaced by version 2");
    let watching =
        format!("the retry settings are read from the watched file {}, and have version 2", path.display());
    assert_eq!(events.recv_timeout(AGES).unwrap(), watching);

    let next = folder.join("table.json.new");
    for count in 3..6 {
        fs::write(&next, text(count)).unwrap();
        fs::rename(&next, &path).unwrap();
        wait_for(&handle, &events, count);
    }
    fs::write(&path, text(7)).unwrap();
    // Written in place, it may have been seen empty.
    while attempts(&handle) != Some(7) {
        events.recv_timeout(AGES).unwrap();
    }
    assert_eq!(handle.is_watched(), Some(true));
    let version = handle.version();
    drop(watch);
    let ended =
        format!("retry settings stay at version {version}: the file {} is no longer watched", path.display());
    while events.recv_timeout(AGES).unwrap() != ended {}
    assert_eq!(handle.is_watched(), Some(false));
}

#[test]
fn a_file_that_is_no_table_changes_nothing() {
    let folder = folder("refused");
    let path = folder.join("table.json");
    fs::write(&path, text(2)).unwrap();
    let handle = handle();
    let _watch = watch(&path, &handle).unwrap();
    let events = events(&handle);
    let next = folder.join("next");
    let name = path.display().to_string();
    for (content, problem) in [
        (
            "{\"methodConfig\": [{\"name\": [{}], \"timeout\": \"5x\"}]}",
            format!("{name}:1:45: \"5x\" is not a duration"),
        ),
        (" \n", format!("{name} is empty; write another file and rename it")),
    ] {
        fs::write(&next, content).unwrap();
        fs::rename(&next, &path).unwrap();
        let event = events.recv_timeout(AGES).unwrap();
        let start = "retry settings stay at version 2, because the new table is rejected: ";
        assert!(event.starts_with(&format!("{start}{problem}")), "{event}");
    }
    fs::remove_file(&path).unwrap();
    let event = events.recv_timeout(AGES).unwrap();
    assert!(event.contains("can't be read"), "{event}");
    assert_eq!((handle.version(), attempts(&handle)), (2, Some(2)));
    // Once it is back and can be read, it counts.
    fs::write(&next, text(4)).unwrap();
    fs::rename(&next, &path).unwrap();
    wait_for(&handle, &events, 4);
}

/// Kubernetes: `table.json` points into `..data`, which points to a folder. A new folder is made, and `..data` is renamed
/// over; then the old folder goes.
#[cfg(unix)]
#[test]
fn links_that_are_pointed_elsewhere_are_followed() {
    use std::os::unix::fs::symlink;

    let volume = folder("volume");
    let turn = |count: u32| {
        let data = format!("..2026_11_22_{count}");
        fs::create_dir(volume.join(&data)).unwrap();
        fs::write(volume.join(&data).join("table.json"), text(count)).unwrap();
        symlink(&data, volume.join("..data_tmp")).unwrap();
        let old = fs::read_link(volume.join("..data"));
        fs::rename(volume.join("..data_tmp"), volume.join("..data")).unwrap();
        if let Ok(old) = old {
            fs::remove_dir_all(volume.join(old)).unwrap();
        }
    };
    turn(2);
    symlink("..data/table.json", volume.join("table.json")).unwrap();
    // The program has a link of its own to it, in another folder.
    let program = folder("program");
    let path = program.join("retries.json");
    symlink(volume.join("table.json"), &path).unwrap();

    let handle = handle();
    let _watch = watch(&path, &handle).unwrap();
    let events = events(&handle);
    for count in 3..7 {
        turn(count);
        wait_for(&handle, &events, count);
    }
    // The link of its own is pointed elsewhere too.
    fs::write(program.join("other.json"), text(8)).unwrap();
    symlink("other.json", program.join("tmp")).unwrap();
    fs::rename(program.join("tmp"), &path).unwrap();
    wait_for(&handle, &events, 8);
}

#[test]
fn what_can_not_be_read_is_not_watched() {
    let folder = folder("missing");
    let handle = handle();
    let path = folder.join("table.json");
    let error = watch(&path, &handle).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{:?} can't be read: ", path.display().to_string())), "{error}");
    fs::write(&path, "{").unwrap();
    let error = watch(&path, &handle).unwrap_err();
    assert_eq!(error.table_error().unwrap().origin().unwrap().line(), 1);
    assert_eq!((handle.version(), attempts(&handle)), (1, Some(9)));
}

#[test]
fn the_dialect_is_that_of_the_handle() {
    let path = folder("dialect").join("table.json");
    // gRPC caps the attempts at five, and so does its dialect when it is run; it refuses a policy without a number.
    fs::write(&path, text(3).replace("\"maxAttempts\": 3,", "")).unwrap();
    let first = RetryTable::reader().dialect(Dialect::Grpc).read(br#"{"methodConfig": []}"#).unwrap();
    let handle = SettingsHandle::new(first);
    assert!(watch(&path, &handle).is_err());
    fs::write(&path, text(3)).unwrap();
    watch(&path, &handle).unwrap().detach();
    assert_eq!((handle.table().dialect(), attempts(&handle)), (Dialect::Grpc, Some(3)));
}

#[test]
fn a_listener_that_panics_does_not_end_the_watch() {
    let folder = folder("panicking");
    let path = folder.join("table.json");
    fs::write(&path, text(2)).unwrap();
    let handle = handle();
    handle.on_event(|event| assert!(event.to_string().is_empty(), "it panics"));
    let events = events(&handle);
    let _watch = watch(&path, &handle).unwrap();
    let next = folder.join("next");
    for count in 3..6 {
        fs::write(&next, text(count)).unwrap();
        fs::rename(&next, &path).unwrap();
        wait_for(&handle, &events, count);
    }
}

/// Says of each operation whether the file of its settings was watched.
#[derive(Default)]
struct Watched(Mutex<Vec<Option<bool>>>);

impl OperationObserver for Watched {
    fn operation_started(&self, operation: &OperationInfo) {
        self.0.lock().unwrap().push(operation.settings_are_watched());
    }
}

#[test]
fn a_watch_outlives_its_folders_being_away_and_says_whether_it_works() {
    let root = folder("away");
    let inner = root.join("outer").join("inner");
    let path = inner.join("table.json");
    let write = |count| {
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("next"), text(count)).unwrap();
        fs::rename(inner.join("next"), &path).unwrap();
    };
    let handle = handle();
    let watched = Arc::new(Watched::default());
    let retryer = Retryer::live(&handle, "any", [Code::Unavailable])
        .options(OperationOptions::new().observer(watched.clone()));
    let call = || retryer.run_blocking(|_| Ok::<_, Status>(())).map(drop).unwrap();
    call();
    write(2);
    let _watch = watch(&path, &handle).unwrap();
    call();
    let events = events(&handle);
    // Each time another folder goes, by being renamed or removed.
    let gone = root.join("gone");
    let removals: [&dyn Fn(); 3] =
        [&|| fs::rename(&inner, &gone).unwrap(), &|| fs::remove_dir_all(&inner).unwrap(), &|| {
            fs::remove_dir_all(root.join("outer")).unwrap();
        }];
    for (count, remove) in (3..).zip(removals) {
        remove();
        // Listeners are notified of the version before a moment after the handle has it.
        let mut coming = std::iter::repeat_with(|| events.recv_timeout(AGES).unwrap());
        let event = coming.find(|event| !event.contains("are replaced by")).unwrap();
        assert!(event.contains("can't be read"), "{event}");
        assert_eq!(handle.is_watched(), Some(false));
        call();
        let version = handle.version();
        write(count);
        let back = format!(
            "the retry settings are read from the watched file {}, and have version {version}",
            path.display()
        );
        assert_eq!(events.recv_timeout(AGES).unwrap(), back);
        wait_for(&handle, &events, count);
        while events.try_recv().is_ok() {}
        call();
        // The folder that was renamed goes at last, which is of no consequence.
        fs::remove_dir_all(&gone).ok();
    }
    let seen = watched.0.lock().unwrap();
    assert_eq!(
        *seen,
        [None, Some(true), Some(false), Some(true), Some(false), Some(true), Some(false), Some(true)]
    );
}

/// The system reports no change of a file that only an open handle leads to, as some network file systems report none.
#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_changes_nobody_reports_is_looked_at_now_and_then() {
    use std::io::{Seek as _, Write as _};
    use std::os::fd::AsRawFd as _;

    let folder = folder("unreported");
    let path = folder.join("table.json");
    fs::write(&path, text(2)).unwrap();
    let mut file = fs::File::options().write(true).open(&path).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let handle = handle();
    let _watch = watch(format!("/proc/self/fd/{}", file.as_raw_fd()), &handle).unwrap();
    let events = events(&handle);
    file.rewind().unwrap();
    file.write_all(text(7).as_bytes()).unwrap();
    wait_for(&handle, &events, 7);
}
