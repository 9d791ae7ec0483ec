use super::{folder, session, transcript};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

/// A server that is running, which ends with this.
struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    client: Grpc<Channel>,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gax"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.split_whitespace().find(|word| word.starts_with("127.")).unwrap();
        let url = format!("http://{}", address.trim_end_matches('.'));
        Self { child, stdout, client: Grpc::new(Endpoint::from_shared(url).unwrap().connect_lazy()) }
    }

    /// An attempt with so many before it.
    async fn attempt(&mut self, path: &'static str, previous: u32) -> Code {
        self.client.ready().await.unwrap();
        let mut request = Request::new(());
        request.set_timeout(Duration::from_secs(9));
        if previous > 0 {
            request.metadata_mut().insert("grpc-previous-rpc-attempts", previous.into());
        }
        let codec = ProstCodec::<(), ()>::default();
        let reply = self.client.unary(request, PathAndQuery::from_static(path), codec).await;
        reply.err().map_or(Code::Ok, |status| status.code())
    }

    /// All that it prints until it ends.
    fn end(mut self) -> Output {
        let mut stdout = Vec::new();
        self.stdout.read_to_end(&mut stdout).unwrap();
        let mut stderr = Vec::new();
        self.child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
        Output { status: self.child.wait().unwrap(), stdout, stderr }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// A file in a folder of its own.
fn file(name: &str, text: &str) -> PathBuf {
    let path = folder(name).join("file");
    std::fs::write(&path, text).unwrap();
    path
}

const CHECK: &str = "/grpc.health.v1.Health/Check";
const TABLE: &str = r#"{"methodConfig": [{"name": [{"service": "grpc.health.v1.Health"}], "timeout": "10s", "retryPolicy":
    {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
     "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;

#[tokio::test]
async fn two_attempts_of_each_call_fail_and_are_printed() {
    let mut server = Server::start(&["--calls", "2", "--pushback", "600"]);
    for (previous, code) in [(0, Code::Unavailable), (1, Code::Unavailable), (2, Code::Ok)].repeat(2) {
        assert_eq!(server.attempt("/any.Service/Method", previous).await, code);
    }
    let output = server.end();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for part in [
        "call 1, attempt 1 of any.Service/Method: grpc-timeout 9000000u, previous attempts none; gets UNAVAILABLE, pushback 600",
        "grpc-timeout 9000000u, previous attempts 2; gets OK",
        "\nCall 1 of any.Service/Method\n",
        "\nCall 2 of any.Service/Method\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn a_client_that_does_what_the_table_says_passes() {
    let table = file("serve_passes", TABLE);
    let mut server = Server::start(&["--calls", "1", "--slack", "1m", "--compare", table.to_str().unwrap()]);
    for previous in 0..3 {
        tokio::time::sleep(Duration::from_millis(if previous == 2 { 170 } else { 90 })).await;
        server.attempt(CHECK, previous).await;
    }
    let output = server.end();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("by the table 160 ms to 240 ms"), "{text}");
    assert!(text.ends_with("\nCalls: 1. Calls that differ from the table: 0.\n"), "{text}");
}

#[tokio::test]
async fn a_client_that_differs_is_reported() {
    let table = file("serve_differs", TABLE);
    let mut server = Server::start(&["--time", "3s", "--compare", table.to_str().unwrap()]);
    assert_eq!(server.attempt(CHECK, 0).await, Code::Unavailable);
    let output = server.end();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let difference = "differs: attempt 2 was not made; by the table it follows after 80 ms to 120 ms\n";
    assert!(text.contains(difference), "{text}");
}

#[tokio::test]
async fn a_script_plays_streams_resets_and_goodbyes() {
    let script = file(
        "serve_script",
        r#"
        [[method.Check]]
        reset = "REFUSED_STREAM"
        [[method.Check]]
        http = 503
        content_type = "text/html"
        [[method.Check]]
        headers = true
        code = "ABORTED"
        [[method.Check]]
        goaway = "NO_ERROR"
        last_stream = "this"
        [[method.Chek]]
        close = true
        "#,
    );
    let mut server = Server::start(&["--time", "4s", "--script", script.to_str().unwrap()]);
    assert_eq!(server.attempt(CHECK, 0).await, Code::Unavailable);
    assert_eq!(server.attempt(CHECK, 0).await, Code::Unavailable);
    assert_eq!(server.attempt(CHECK, 1).await, Code::Aborted);
    let last = tokio::time::timeout(Duration::from_millis(200), server.attempt(CHECK, 2)).await;
    assert!(last.is_err(), "{last:?}");
    let output = server.end();
    let (text, warnings) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for gets in [
        "RST_STREAM REFUSED_STREAM",
        "HTTP 503",
        "headers, ABORTED",
        "GOAWAY NO_ERROR with this stream as the last",
    ] {
        assert!(text.contains(&format!("; gets {gets}\n")), "{text}");
    }
    assert!(!text.contains("call 2"), "{text}");
    assert!(warnings.contains("no attempt came for \"Chek\", which the script names\n"), "{warnings}");
}

#[tokio::test]
async fn connections_are_refused_for_a_while() {
    let script =
        file("serve_refuse", "[[attempt]]\nrefuse = \"2s\"\n[[attempt]]\nmessages = 1\nclose = true");
    let mut server = Server::start(&["--time", "10s", "--script", script.to_str().unwrap(), "--calls", "1"]);
    assert_ne!(server.attempt(CHECK, 0).await, Code::Ok);
    assert_ne!(server.attempt(CHECK, 1).await, Code::Ok);
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_ne!(server.attempt(CHECK, 2).await, Code::Ok);
    // The channel may not have seen yet that its connection is closed.
    let mut code = server.attempt(CHECK, 3).await;
    for _ in 0..50 {
        if code != Code::Ok {
            code = server.attempt(CHECK, 3).await;
        }
    }
    assert_eq!(code, Code::Ok);
    let text = String::from_utf8(server.end().stdout).unwrap();
    assert!(text.contains("connections are refused for 2 s"), "{text}");
    assert!(text.contains("call 1, attempt 3 of"), "{text}");
}

#[test]
fn what_can_t_be_served_is_refused_in_one_sentence() {
    let scripts = [
        "[[atempt]]\ncode = \"ABORTED\"",
        "[[attempt]]\ncode = \"ABORTD\"",
        "[[attempt]]\ndelay = \"3\"",
        "[[attempt]]\n\n[[method.Get]]\nclose = true\nreset = \"CANCEL\"",
        "[[attempt]]\nhttp = 503\npushback = 3",
        "[[attempt]]\nmessages = 100001",
        "[[attempt]]\nreset = \"REFUSED_STREM\"",
        "[[method.GetBok]]",
    ];
    let mut lines = vec![
        session("serve --listen localhost"),
        session("serve --fail x --script y"),
        session("serve --slack 3s"),
    ];
    for (index, text) in scripts.iter().enumerate() {
        let path = file(&format!("serve_refused_{index}"), text);
        let protos = ["--proto-path", "../../../../../proto", "--proto", "library/v1/library.proto"];
        let output = Command::new(env!("CARGO_BIN_EXE_gax"))
            .args(["serve", "--script", path.to_str().unwrap()])
            .args(protos)
            .current_dir(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures"))
            .output();
        let printed = transcript("serve --script FILE", output.unwrap());
        lines.push(printed.replace(path.to_str().unwrap(), "FILE"));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_address_in_use_is_refused_with_advice() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let printed = session(&format!("serve --listen {address}")).replace(&address, "ADDRESS");
    let reason = printed.split_once(" (").and_then(|(_, rest)| rest.split_once("); ")).unwrap().0;
    assert_eq!(
        printed.replace(reason, "Address in use"),
        "$ gax serve --listen ADDRESS\n--- stderr\nerror: the server can't listen on ADDRESS (Address in use); name another \
         port, or 0 for one that is free\n--- exit status 1\n"
    );
}
