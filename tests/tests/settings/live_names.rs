//! Names in a replaced table that no client has.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, RetrySettings};
use gax_table::live::SettingsHandle;
use gax_table::{RetryTable, RetryTableBuilder};
use std::sync::{Arc, Mutex};
use tonic::transport::Channel;
use tonic_gax::{OperationError, RetryLayer};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings};
use tonic_gax_tests::{Reply, Script, VirtualServer, ms};

const TALK: &str = "test.talk.v1.Talk";

fn settings() -> RetrySettings {
    RetrySettings::builder().jittered(false).initial_retry_delay(ms(100)).max_attempts(3).build().unwrap()
}

/// A table that retries these methods.
fn table(names: &[&str]) -> RetryTable {
    let entry = |table: RetryTableBuilder, name: &&str| match name.split_once('/') {
        Some(_) => table.method(name, settings(), Code::Unavailable),
        None => table.service(name, settings(), Code::Unavailable),
    };
    names.iter().fold(RetryTable::builder(), entry).build().unwrap()
}

fn of_talk(methods: &[&str]) -> RetryTable {
    let names: Vec<_> = methods.iter().map(|method| format!("{TALK}/{method}")).collect();
    table(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The events of a handle.
fn events(handle: &SettingsHandle) -> Arc<Mutex<Vec<String>>> {
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    handle.on_event(move |event| log.lock().unwrap().push(event.to_string()));
    events
}

/// A generated client by that handle's table.
fn client(handle: &SettingsHandle, channel: Channel) -> TalkClient<Channel> {
    TalkClient::with_settings(channel, TalkSettings::default().live(handle))
}

async fn attempts(client: &TalkClient<Channel>) -> u32 {
    let status = client.ask(Line::default()).await.unwrap_err();
    OperationError::of(&status).unwrap().report().attempt_count()
}

#[tokio::test(start_paused = true)]
async fn a_table_with_a_misspelt_method_of_a_generated_client_is_refused() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(of_talk(&["Ask"]));
    let client = client(&handle, server.channel());
    let events = events(&handle);
    let no_method = |name: &str, help: &str| {
        format!("warning[unknown-method]: the service {TALK} has no method {name:?}; {help}")
    };
    let close = "the table has a new name that no client knows and that is close to one that a client has; correct the \
                 name, or list both";
    let lost = format!(
        "{TALK}/Ask would lose its retries, while the table has a new name that no client knows; correct the name, or \
         remove the retries in a separate table"
    );
    for (methods, expected) in [
        // It takes the place of a method that had retries, or of one that has none.
        (&["Asks"][..], format!("{lost}\n{}", no_method("Asks", "did you mean \"Ask\"?"))),
        (&["Ask", "Lissen"], format!("{close}\n{}", no_method("Lissen", "did you mean \"Listen\"?"))),
        // It is close to nothing.
        (
            &["Question"],
            format!("{lost}\n{}", no_method("Question", "remove the name, or correct it: it has no effect")),
        ),
    ] {
        assert_eq!(handle.replace(of_talk(methods)).unwrap_err().to_string(), expected, "{methods:?}");
        assert_eq!((handle.version(), attempts(&client).await), (1, 3));
    }
    // A service that is misspelt, or another one.
    for service in ["test.talk.v1.Talks", "other.Service"] {
        let error = handle.replace(table(&[service])).unwrap_err().to_string();
        assert!(error.starts_with(&lost), "{error}");
    }
    let events = events.lock().unwrap();
    assert_eq!(events.len(), 5);
    assert!(events.iter().all(|event| event.starts_with("retry settings stay at version 1, because")));
}

#[tokio::test(start_paused = true)]
async fn a_table_that_is_newer_than_its_client_is_taken_with_a_warning() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let handle = SettingsHandle::new(of_talk(&["Ask"]));
    let client = client(&handle, server.channel());
    let events = events(&handle);
    handle.replace(of_talk(&["Ask", "Whisper"])).unwrap();
    // A name close to one that the table has as well is no mistake.
    handle.replace(of_talk(&["Ask", "Whisper", "Asks"])).unwrap();
    // A name that was there before is no reason to refuse a table which takes retries away.
    handle.replace(of_talk(&["Guess", "Whisper"])).unwrap();
    assert_eq!(attempts(&client).await, 1);
    let unknown = |version: u64, method: &str, more: &str| {
        format!(
            "retry settings of version {version}: the table names what no client knows: warning[unknown-method]: the \
             service {TALK} has no method {method:?}; {more}"
        )
    };
    let no_effect = "remove the name, or correct it: it has no effect";
    assert_eq!(
        *events.lock().unwrap(),
        [
            "retry settings are replaced by version 2".to_owned(),
            unknown(2, "Whisper", no_effect),
            "retry settings are replaced by version 3".to_owned(),
            unknown(3, "Whisper", &format!("{no_effect}; and 1 more")),
            "retry settings are replaced by version 4".to_owned(),
            unknown(4, "Whisper", no_effect),
        ]
    );
}

#[test]
fn services_that_nobody_has_are_a_warning_unless_somebody_takes_what_comes() {
    let handle = SettingsHandle::new(table(&[TALK]));
    let server = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = server.enter();
    let channel = tonic::transport::Endpoint::from_static("http://[::1]:1").connect_lazy();
    let _client = client(&handle, channel.clone());
    let events = events(&handle);
    let with_another = || table(&[TALK, "other.Service"]);
    handle.replace(with_another()).unwrap();
    assert!(events.lock().unwrap()[1].contains("there is no service \"other.Service\""));
    // A layer without descriptors has any method.
    let _service = RetryLayer::live(&handle).layer(channel);
    handle.replace(with_another()).unwrap();
    assert_eq!(events.lock().unwrap().len(), 3);
}

#[test]
fn a_table_that_takes_all_retries_away_is_a_warning() {
    let once = || {
        let once = RetrySettings::builder().max_attempts(1).build().unwrap();
        RetryTable::builder().service(TALK, once, Code::Unavailable).build().unwrap()
    };
    let nothing = || RetryTable::builder().build().unwrap();
    for none in [once, nothing] {
        let handle = SettingsHandle::new(table(&[TALK]));
        let events = events(&handle);
        handle.replace(none()).unwrap();
        // Once is enough.
        handle.replace(none()).unwrap();
        let warning = "retry settings of version 2: nothing is retried any more";
        let replaced = |version: u64| format!("retry settings are replaced by version {version}");
        assert_eq!(*events.lock().unwrap(), [replaced(2), warning.to_owned(), replaced(3)]);
    }
    // Others keep theirs.
    let handle = SettingsHandle::new(table(&[TALK, "other.Service"]));
    let _settings = TalkSettings::default().live(&handle);
    let events = events(&handle);
    handle.replace(table(&["other.Service"])).unwrap();
    let warning = format!("retry settings of version 2: no method of {TALK} is retried any more");
    assert!(events.lock().unwrap().contains(&warning), "{events:?}");
}

#[test]
fn unknown_methods_are_denied_from_the_moment_on_in_which_that_is_asked_for() {
    let whisper = || of_talk(&["Ask", "Whisper"]);
    let denied = |error: String| {
        let expected = "the table names methods or services that are not known\nwarning[unknown-method]";
        assert!(error.starts_with(expected), "{error}");
    };
    // By descriptors.
    let handle = SettingsHandle::new(of_talk(&["Ask"]));
    handle.replace(whisper()).unwrap();
    let error = handle.deny_unknown_methods(tonic_gax_tests::generated::facts().paths()).unwrap_err();
    assert_eq!(error.findings().len(), 1);
    handle.replace(of_talk(&["Ask"])).unwrap();
    handle.deny_unknown_methods(tonic_gax_tests::generated::facts().paths()).unwrap();
    denied(handle.replace(whisper()).unwrap_err().to_string());

    // By a generated client.
    let handle = SettingsHandle::new(of_talk(&["Ask"]));
    let settings = TalkSettings::default().live(&handle);
    handle.deny_unknown_methods(settings.methods()).unwrap();
    denied(handle.replace(whisper()).unwrap_err().to_string());
    handle.replace(of_talk(&["Ask"])).unwrap();
}

/// A layer without descriptors knows no methods: names are compared with those of the table before.
#[test]
fn a_misspelt_name_is_refused_where_no_methods_are_known() {
    let handle = SettingsHandle::new(of_talk(&["Ask", "Listen"]));
    let _layer = RetryLayer::live(&handle);
    for misspelt in [of_talk(&["Ask", "Lisen"]), table(&["test.talk.v1.Talks"])] {
        let error = handle.replace(misspelt).unwrap_err().to_string();
        assert!(error.contains("close to one that the old table has and this one lacks"), "{error}");
    }
    // Names may come and go.
    for good in [of_talk(&["Ask", "Listen", "Lisen"]), of_talk(&["Ask", "Chat"]), table(&[TALK, "a.B"])] {
        handle.replace(good).unwrap();
    }
}
