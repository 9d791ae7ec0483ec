use super::{gax_with, session, stdout};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

fn numbers(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap()
}

fn texts<'a>(rows: &'a Value, name: &str) -> Vec<&'a str> {
    rows.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap()).collect()
}

#[test]
fn the_client_rides_the_outages_out() {
    let demo: Value = serde_json::from_str(&stdout("demo --seed 7 --format json")).unwrap();
    assert_eq!(demo["seed"], 7);
    let scenes = demo["scenes"].as_array().unwrap();
    let ends = [
        ("ListAssets", vec!["UNAVAILABLE", "UNAVAILABLE", "OK"], Value::Null, "OK"),
        ("ListAssets", vec!["DEADLINE_EXCEEDED", "UNAVAILABLE", "OK"], Value::Null, "OK"),
        ("ListAssets", vec!["CANCELLED", "OK", "CANCELLED"], Value::Null, "OK"),
        ("ExportAssets", vec!["DEADLINE_EXCEEDED"; 2], "TOTAL_TIMEOUT".into(), "DEADLINE_EXCEEDED"),
    ];
    assert_eq!(scenes.len(), ends.len());
    for (scene, (rpc, codes, stop_reason, code)) in scenes.iter().zip(ends) {
        assert_eq!(scene["method"], format!("/google.cloud.asset.v1.AssetService/{rpc}"));
        assert_eq!(texts(&scene["attempts"], "code"), codes);
        assert_eq!(scene["stop_reason"], stop_reason);
        assert_eq!(scene["code"], code);
        assert_eq!(scene["message"].is_null(), code == "OK");
        both_ends_saw_the_same(scene);
    }
    let waits = [0.0, 200.0];
    let last = scenes[3]["attempts"].as_array().unwrap();
    assert_eq!(last.iter().map(|row| numbers(row, "retry_delay_ms")).collect::<Vec<_>>(), waits);
    assert_eq!(scenes[3]["not_attempted"]["attempt"], 3);
    assert_eq!(scenes[3]["not_attempted"]["retry_delay_ms"], 400);
    let cancelled = |scene: &Value| -> Vec<bool> {
        scene["server"].as_array().unwrap().iter().map(|seen| !seen["cancelled_ms"].is_null()).collect()
    };
    let who = [vec![false; 3], vec![true, false, false], vec![true, false, true], vec![true; 2]];
    assert_eq!(scenes.iter().map(cancelled).collect::<Vec<_>>(), who);
    overlapping(&scenes[2]);
}

/// Attempts of a hedged call are in flight together, and those that lost are cancelled once one has its reply.
fn overlapping(scene: &Value) {
    let three = |side: &str| -> [Value; 3] { scene[side].as_array().unwrap().clone().try_into().unwrap() };
    let [first, second, third] = &three("attempts");
    let start = |row| numbers(row, "start_ms");
    let end = |row| numbers(row, "end_ms");
    assert!(start(second) >= 300.0 && start(third) >= start(second) + 300.0, "{scene}");
    assert!(start(third) < end(second) && end(first) >= end(second) && end(third) >= end(second), "{scene}");
    let [slow, won, late] = &three("server");
    let replied = numbers(won, "at_ms") + 1000.0;
    assert!([slow, late].iter().all(|lost| numbers(lost, "cancelled_ms") >= replied), "{scene}");
}

/// Every attempt of the report reached the server, with the deadline that the report has.
fn both_ends_saw_the_same(scene: &Value) {
    let [attempts, server] = ["attempts", "server"].map(|side| scene[side].as_array().unwrap());
    assert_eq!(attempts.len(), server.len());
    for (attempt, seen) in attempts.iter().zip(server) {
        assert_eq!(attempt["attempt"], seen["attempt"]);
        let header = seen["grpc_timeout"].as_str().unwrap();
        let micros: f64 = header.strip_suffix('u').unwrap().parse().unwrap();
        let timeout = numbers(attempt, "rpc_timeout_ms");
        assert!((timeout * 1000.0 - micros).abs() <= 1.0, "{timeout} ms, header {header}");
        assert!(numbers(seen, "at_ms") >= numbers(attempt, "start_ms"));
    }
}

#[test]
fn a_seed_draws_the_same_waits() {
    let waits = |seed: u32| {
        let demo: Value =
            serde_json::from_str(&stdout(&format!("demo --format json --seed {seed}"))).unwrap();
        let scenes = demo["scenes"].as_array().unwrap().clone();
        let rows = scenes.iter().flat_map(|scene| scene["attempts"].as_array().unwrap());
        rows.map(|row| row["retry_delay_ms"].to_string()).collect::<Vec<_>>()
    };
    let [first, again, other] = [7, 7, 8].map(|seed| std::thread::spawn(move || waits(seed)));
    let [first, again, other] = [first, again, other].map(|run| run.join().unwrap());
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn people_see_each_attempt_when_it_comes() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(["demo", "--seed", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut before = Vec::new();
    let arrival = loop {
        let line = lines.next().unwrap();
        if line.contains("attempt 1 arrives, grpc-timeout 1500000u") {
            break line;
        }
        before.push(line);
    };
    assert!(arrival.ends_with(": no reply"), "{arrival}");
    assert!(child.try_wait().unwrap().is_none(), "it is shown while the attempt is still running");
    let rest: Vec<String> = lines.collect();
    assert!(child.wait().unwrap().success());
    assert!(rest.iter().any(|line| line == "      3 | not attempted |      400 ms"), "{rest:#?}");
    // The hedged scene: who is cancelled, and the attempts side by side.
    for end in ["s  attempt 1 is cancelled", "s  attempt 3 is cancelled"] {
        assert!(before.iter().any(|line| line.ends_with(end)), "{before:#?}");
    }
    let bars: Vec<&str> = before
        .iter()
        .filter(|line| line.contains("|---") && !line.contains("-+-"))
        .map(|line| line.trim_start())
        .collect();
    let ends: Vec<_> = bars
        .iter()
        .map(|bar| (bar.split_once(' ').unwrap().0, bar.rsplit_once("--").unwrap().1.replace(' ', "")))
        .collect();
    assert_eq!(
        ends,
        [("1", "xCANCELLED".to_owned()), ("2", ">OK".to_owned()), ("3", "xCANCELLED".to_owned())]
    );
    assert!(
        rest.iter().any(|line| line.starts_with("TOTAL_TIMEOUT: attempt 3 could only have started at 5"))
    );
    assert!(rest.iter().any(|line| line.starts_with("The caller gets DEADLINE_EXCEEDED: ")));
}

#[test]
fn people_learn_what_was_to_be_seen_on_a_narrow_terminal() {
    let output = gax_with([("COLUMNS", "60")], ["demo", "--seed", "7"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let [opening, ..] = text.split("\n\n").collect::<Vec<_>>()[..] else { unreachable!("it has an opening") };
    let opening = opening.split_once('\n').unwrap().1;
    assert_eq!(
        opening.lines().collect::<Vec<_>>(),
        [
            "Each wait is random, from 1 ms up to its delay, except in",
            "scene 4; --seed 7 draws the same waits again."
        ]
    );
    let (_, end) = text.split_once("\nWhat happened\n").unwrap();
    assert_eq!(end.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count(), 4, "{end}");
    // But for tables of attempts, whose columns are as narrow as their heads.
    let is_prose = |line: &&str| !line.contains(" | ") && !line.contains("-+-");
    let wide: Vec<_> = text.lines().filter(is_prose).filter(|line| line.chars().count() > 60).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn misuse_is_reported_in_one_sentence() {
    let lines = [
        "demo --seed x",
        "demo --format xml",
        "demo extra",
        "demo --listen localhost",
        "demo --listen [::1]:0 --seed 7",
    ]
    .map(session)
    .join("\n");
    insta::assert_snapshot!(lines);
}

/// A running command, which ends with this.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

#[tokio::test]
async fn a_client_of_ones_own_is_refused_twice_and_then_served() {
    let command = Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(["demo", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn();
    let mut service = Service(command.unwrap());
    let mut lines = BufReader::new(service.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut line = || lines.next().unwrap();
    let first = line();
    let address = first.strip_prefix("An AssetService listens on ").unwrap();
    let url = format!("http://{}", address.strip_suffix(" until Ctrl-C.").unwrap());
    assert_eq!(
        [line(), line()],
        ["Calls get these replies in turn: UNAVAILABLE at once, UNAVAILABLE at once, OK after 400 ms.", ""]
    );

    let channel = tonic_gax::client::connect(url).await.unwrap();
    let mut client = Grpc::new(channel);
    // Twice: what is refused comes again.
    for (number, code) in [(1, Code::Unavailable), (2, Code::Unavailable), (3, Code::Ok)].repeat(2) {
        client.ready().await.unwrap();
        let path = PathAndQuery::from_static("/google.cloud.asset.v1.AssetService/ListAssets");
        let mut request = Request::new(());
        request.set_timeout(Duration::from_secs(9));
        if number > 1 {
            request.metadata_mut().insert("grpc-previous-rpc-attempts", (number - 1).into());
        }
        let reply = client.unary(request, path, ProstCodec::<(), ()>::default()).await;
        assert_eq!(reply.err().map_or(Code::Ok, |status| status.code()), code);
        let line = line();
        let arrives = format!("  attempt {number} of ListAssets arrives, grpc-timeout 9000000u: ");
        let reply = if code == Code::Ok { "OK after 400 ms" } else { "UNAVAILABLE at once" };
        assert!(line.ends_with(&format!("{arrives}{reply}")), "{line}");
    }
    assert!(service.0.try_wait().unwrap().is_none(), "it listens until it is stopped");
}

#[test]
fn an_address_in_use_is_refused_with_advice() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let printed = session(&format!("demo --listen {address}")).replace(&address, "ADDRESS");
    // How the system puts it.
    let reason = printed.split_once(" (").and_then(|(_, rest)| rest.split_once("); ")).unwrap().0;
    let printed = printed.replace(reason, "Address in use");
    assert_eq!(
        printed,
        "$ gax demo --listen ADDRESS\n--- stderr\nerror: the server can't listen on ADDRESS (Address in use); name another port, or 0 for one that is free\n--- exit status 1\n"
    );
}
