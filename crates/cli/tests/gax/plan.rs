use super::{GROWING, folder, gax, session, stdout};
use insta::assert_snapshot;
use std::process::{Command, Stdio};

/// The four tables of the documentation: the flags of each.
fn documented() -> [String; 5] {
    [
        "--max-attempts 1 --total-timeout 5s".to_owned(),
        "--logical-timeout 5s".to_owned(),
        format!("{GROWING} --initial-rpc-timeout 1500ms --max-rpc-timeout 3s --total-timeout 5s"),
        format!("{GROWING} --initial-rpc-timeout 1500ms --max-rpc-timeout 3s --total-timeout 10s"),
        format!("{GROWING} --initial-rpc-timeout 500ms --max-rpc-timeout 2s --total-timeout 4s"),
    ]
}

fn sessions(end: &str) -> String {
    documented().map(|flags| session(&format!("plan {flags}{end}"))).join("\n")
}

#[test]
fn the_documented_tables() {
    assert_snapshot!(sessions(""));
}

#[test]
fn the_documented_tables_as_json() {
    assert_snapshot!(sessions(" --format json"));
}

#[test]
fn the_documented_tables_as_gax_java_runs_them() {
    assert_snapshot!(sessions(" --compat gax-java"));
}

/// A request that no server has looked at is sent again at once; each time takes an outcome.
#[test]
fn transparent_retries() {
    let flags = "--max-attempts 3 --initial-retry-delay 100ms --initial-rpc-timeout 1s";
    let sessions = [
        "--outcome 30ms:lost --outcome 20ms:OK",
        "--outcome lost --outcome lost --outcome lost --outcome lost --outcome 10ms:lost --outcome ok",
        "--outcome 5ms:refused --outcome 5ms:refused --outcome ok --format json",
    ];
    assert_snapshot!(sessions.map(|more| session(&format!("plan {flags} {more}"))).join("\n"));
}

/// A stream that has delivered messages is resumed behind them, with back-off and a number of attempts that begin anew.
#[test]
fn streams_that_break_off() {
    let flags = "--max-attempts 2 --initial-retry-delay 100ms --initial-rpc-timeout 1s";
    let sessions = [
        "--outcome stream:5s:UNAVAILABLE --outcome 10ms:UNAVAILABLE --outcome 10ms:UNAVAILABLE",
        "--outcome stream:5s:UNAVAILABLE --outcome stream:UNAVAILABLE --outcome 2s:OK",
        "--outcome stream:5s:INTERNAL",
        "--outcome stream:hang --outcome OK --compat gax-java",
        "--outcome stream:5ms:lost",
    ];
    assert_snapshot!(sessions.map(|more| session(&format!("plan {flags} {more}"))).join("\n"));
}

#[test]
fn grpcs_own_rules() {
    let flags =
        "--initial-retry-delay 100ms --retry-delay-multiplier 2 --max-retry-delay 1s --max-attempts 9";
    let busy = " --outcome UNAVAILABLE".repeat(9);
    let json = |more: &str| stdout(&format!("plan --compat grpc {flags}{busy} {more} --format json"));
    assert!(json("").ends_with("\"not_attempted\":null,\"stop_reason\":\"MAX_ATTEMPTS\",\"end_ms\":1500}\n"));
    assert!(json("--total-timeout 250ms").ends_with(
        "\"start_ms\":100,\"end_ms\":100,\"code\":\"UNAVAILABLE\"}],\"not_attempted\":null,\"stop_reason\":\"TOTAL_TIMEOUT\",\"end_ms\":250}\n"
    ));
}

#[test]
fn the_json_of_the_contract() {
    let flags = &documented()[2];
    assert_eq!(
        stdout(&format!("plan {flags} --format json")),
        concat!(
            r#"{"attempts":[{"attempt":1,"rpc_timeout_ms":1500,"retry_delay_ms":0,"start_ms":0,"end_ms":1500,"#,
            r#""code":"DEADLINE_EXCEEDED"},{"attempt":2,"rpc_timeout_ms":3000,"retry_delay_ms":200,"#,
            r#""start_ms":1700,"end_ms":4700,"code":"DEADLINE_EXCEEDED"}],"#,
            r#""not_attempted":{"attempt":3,"retry_delay_ms":400},"stop_reason":"TOTAL_TIMEOUT","end_ms":4700}"#,
            "\n"
        )
    );
}

#[test]
fn every_way_to_end_is_explained() {
    let lines = [
        "plan --total-timeout 5s --initial-retry-delay 100ms --outcome 300ms:UNAVAILABLE --outcome 20ms:OK",
        "plan --total-timeout 5s --outcome 10ms:INTERNAL",
        "plan --total-timeout 5s --retryable-codes internal,14 --outcome 10ms:13 --outcome ok",
        "plan --total-timeout 5s --initial-rpc-timeout 1ms --max-attempts 3",
        "plan --outcome unavailable",
        "plan",
        "plan --max-attempts 3 --initial-retry-delay 1.25ms --outcome 5ms:UNAVAILABLE --outcome hang",
        "plan --max-attempts 20000 --initial-rpc-timeout 1ns --initial-retry-delay 0s --format json --retryable-codes 4",
    ];
    let mut text = lines.map(session).join("\n");
    // Ten thousand attempts are not for people to look through.
    if let (Some(start), Some(end)) = (text.rfind("{\"attempts\""), text.rfind("{\"attempt\":10000")) {
        text.replace_range(start..end, "..");
    }
    assert_snapshot!(text);
}

#[test]
fn no_code_may_be_retryable() {
    let output = gax(["plan", "--total-timeout", "5s", "--retryable-codes", "", "--outcome", "UNAVAILABLE"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.ends_with(
            "NON_RETRYABLE: no code is retryable; the operation ended at 0 ms with UNAVAILABLE.\n"
        )
    );
}

/// Attempts overlap, the first good reply wins, and the others are cancelled.
#[test]
fn hedged_attempts_overlap() {
    let hedged = "plan --hedging-max-attempts 3 --hedging-delay 300ms --non-fatal-codes UNAVAILABLE --total-timeout 5s \
                  --initial-rpc-timeout 2s";
    let lines = [
        format!("{hedged} --outcome hang --outcome 400ms:OK"),
        format!("{hedged} --outcome 100ms:UNAVAILABLE --outcome 900ms:INTERNAL"),
        format!("{hedged} --outcome hang --outcome hang --outcome hang"),
        "plan --hedging-delay 1s".to_owned(),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
    assert_snapshot!(
        "hedged_picture",
        stdout(&format!("{hedged} --outcome hang --outcome 400ms:OK --svg -"))
    );
}

/// Each of them is in flight for good.
#[test]
fn hedged_attempts_without_a_deadline_never_end() {
    let plan = "plan --hedging-max-attempts 2 --hedging-delay 300ms";
    assert_eq!(
        stdout(plan),
        "attempt | RPC timeout | retry delay | invoked | ended | code\n\
         --------+-------------+-------------+---------+-------+---------\n\
        \x20     1 |        none |        0 ms |    0 ms | never | no reply\n\
        \x20     2 |        none |      300 ms |  300 ms | never | no reply\n\n\
         2 attempts have no deadline and get no reply, so the operation never ends.\n"
    );
    let picture = stdout(&format!("{plan} --svg -"));
    assert_eq!(picture.matches("no reply: it never ends").count(), 2);
}

/// A hedged call is not retried: what matters are its non-fatal codes.
#[test]
fn a_fatal_code_ends_a_hedged_call() {
    let hedged = "plan --hedging-max-attempts 3 --hedging-delay 300ms --outcome INTERNAL";
    let ends = "the operation ended at 0 ms with INTERNAL.\n";
    let fatal = stdout(&format!("{hedged} --non-fatal-codes UNAVAILABLE"));
    let why = "NON_RETRYABLE: INTERNAL is not among the non-fatal codes (UNAVAILABLE)";
    assert!(fatal.ends_with(&format!("\n{why}; {ends}")), "{fatal}");
    let none = stdout(hedged);
    assert!(none.ends_with(&format!("\nNON_RETRYABLE: no code is non-fatal; {ends}")), "{none}");
}

#[test]
fn a_seed_draws_the_same_waits() {
    let line = format!("plan {} --jitter --seed 7", documented()[3]);
    assert_snapshot!(session(&line));
    assert_eq!(stdout(&line), stdout(&line));
    assert_ne!(stdout(&line), stdout(&line.replace("--seed 7", "--seed 8")));
}

#[test]
fn without_a_seed_one_is_made_up_and_reported() {
    let flags = &documented()[3];
    let text = stdout(&format!("plan {flags} --jitter"));
    let (table, message) = text.split_once("Waits are drawn at random; --seed ").unwrap();
    let seed = message.split(' ').next().unwrap();
    assert_eq!(stdout(&format!("plan {flags} --jitter --seed {seed}")), table);
}

#[test]
fn samples_give_ranges() {
    let line = format!("plan {} --jitter --seed 1 --samples 1000", documented()[2]);
    assert_snapshot!([session(&line), session(&format!("{line} --format json"))].join("\n"));
}

#[test]
fn pictures_are_the_same_bytes_every_time() {
    let folder = folder("pictures");
    let draw = |name: &str, flags: &str| {
        let file = folder.join(name);
        let text = stdout(&format!("plan {flags} --svg {}", file.display()));
        let drawn = std::fs::read_to_string(file).unwrap();
        assert_eq!(stdout(&format!("plan {flags} --svg -")), drawn);
        (text, drawn)
    };
    let flags = &documented()[2];
    let (text, drawn) = draw("refused.svg", flags);
    assert_eq!(text, stdout(&format!("plan {flags}")), "the table is printed all the same");
    assert_snapshot!("refused", drawn);
    let mixed = "--total-timeout 5s --initial-retry-delay 200ms --retry-delay-multiplier 1 --initial-rpc-timeout 1500ms \
                 --outcome 30ms:UNAVAILABLE --outcome 900ms:UNAVAILABLE --outcome 2s:INTERNAL --outcome hang";
    assert_snapshot!("mixed", draw("mixed.svg", mixed).1);
    let endless = "--max-attempts 2 --initial-retry-delay 10ms --outcome 5ms:UNAVAILABLE";
    assert_snapshot!("endless", draw("endless.svg", endless).1);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(["plan", "--max-attempts", "9000", "--initial-rpc-timeout", "1ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

#[test]
fn colours_are_for_terminals_only() {
    let args = ["plan", "--max-attempts", "1", "--outcome", "5ms:OK"];
    assert!(!gax(args).stdout.contains(&0x1b));
    let forced =
        Command::new(env!("CARGO_BIN_EXE_gax")).args(args).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(String::from_utf8(forced.stdout).unwrap().contains("\u{1b}[32mOK\u{1b}[0m"));
}
