//! A generated client's call over REST beside one that is written by hand with reqwest, over loopback HTTP/1.1.
//!
//! ```text
//! cargo bench -p tonic-gax-benches --features rest --bench rest
//! ```
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use gax_client::__private as gax;
use gax_http::ReqwestService;
use gax_rest::{HttpRule, RestOptions, RestTransport};
use serde::Deserialize;
use std::error::Error;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use tonic_gax::RetrySettings;
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::asset::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_benches::measure::{Cost, Lane, Stopwatch, Turns, runtime, stay_on_one_core};

const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// A page of ten assets.
fn reply() -> String {
    let asset = r#"{"name":"//storage.googleapis.com/b","assetType":"storage.googleapis.com/Bucket"}"#;
    format!(r#"{{"assets":[{}],"nextPageToken":"next"}}"#, [asset; 10].join(","))
}

/// Replies to each request on a connection, in threads of its own; the URL.
fn serve() -> Result<String, Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let url = format!("http://{}", listener.local_addr()?);
    let body = reply();
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let reply = reply.clone();
            thread::spawn(move || respond(connection, reply.as_bytes()));
        }
    });
    Ok(url)
}

fn respond(mut connection: TcpStream, reply: &[u8]) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let (mut buffer, mut head) = ([0; 4096], Vec::new());
    loop {
        let length = connection.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        head.extend_from_slice(buffer.get(..length).unwrap_or_default());
        if head.ends_with(b"\r\n\r\n") {
            connection.write_all(reply)?;
            head.clear();
        }
    }
}

/// The reply, as a program has it that reads JSON by serde.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    assets: Vec<Asset>,
    next_page_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asset {
    name: String,
    asset_type: String,
}

static PARAMS: (&str, RetrySettings) =
    ("no_retry_params", gax::ConstSettings::new().total_timeout(Duration::from_secs(60)).build());
static METHODS: [gax_client::MethodInfo; 1] = [gax::method_info(gax::MethodParts {
    params: &PARAMS,
    ..gax::MethodParts::of(
        "google.cloud.asset.v1.AssetService",
        "ListAssets",
        "/google.cloud.asset.v1.AssetService/ListAssets",
    )
})];

fn main() -> Result<(), Box<dyn Error>> {
    stay_on_one_core();
    let runtime = runtime();
    let url = serve()?;
    let http = reqwest::Client::new();
    let list = format!("{url}/v1/projects/p/assets");

    let rule = HttpRule::get("/v1/{parent=*/*}/assets");
    let options =
        RestOptions::new().origin(url.parse()?).rule("google.cloud.asset.v1.AssetService.ListAssets", rule);
    let service = ReqwestService::without_redirects(reqwest::Client::builder())?;
    let transport = RestTransport::new(service, DESCRIPTORS, options)?;
    let settings = gax_client::ClientSettings::create(gax::StubSettings::new(&METHODS));
    let client = gax::Client::new(transport, settings);
    let request = ListAssetsRequest {
        parent: "projects/p".to_owned(),
        page_size: 10,
        page_token: "token".to_owned(),
        ..ListAssetsRequest::default()
    };

    let by_hand = Lane::new("reqwest by hand", |calls| {
        let watch = Stopwatch::start(Cost::Processor);
        runtime.block_on(async {
            for _ in 0..calls {
                let request = http.get(&list).query(&[("pageSize", "10"), ("pageToken", "token")]);
                let request = request.timeout(Duration::from_secs(60));
                let page: Page = request
                    .send()
                    .await
                    .and_then(reqwest::Response::error_for_status)
                    .expect("the server replies")
                    .json()
                    .await
                    .expect("it is JSON");
                let names = page.assets.iter().map(|asset| asset.name.len() + asset.asset_type.len());
                black_box((names.sum::<usize>(), page.next_page_token));
            }
        });
        watch.elapsed()
    });
    let generated = Lane::new("generated client over REST", |calls| {
        let watch = Stopwatch::start(Cost::Processor);
        runtime.block_on(async {
            for _ in 0..calls {
                let call = client.unary(0, tonic::Request::new(request.clone()));
                let response: tonic::Response<ListAssetsResponse> = call.await.expect("the server replies");
                black_box(response);
            }
        });
        watch.elapsed()
    });
    println!("\nREST, loopback, one at a time");
    let turns = Turns { rounds: 60, calls: 200 };
    for (name, summary) in Arguments::read().by_turns(vec![by_hand, generated], turns) {
        let (micros, ratio) = (summary.nanos / 1e3, summary.ratio);
        println!("  {name:<28} {micros:>8.1} us of processor time a call, {ratio:.2} x by hand");
    }
    Ok(())
}
