//! An operation that outlives the process that started it, and its server too, over real sockets.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::replies::{at, created, running};
use gax_retry::RetrySettings;
use instances::instances_gax::{InstancesClient, InstancesSettings, InstancesStubSettings};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};
use tonic_gax_tests::SocketServer;
use tonic_gax_tests::generated::google::longrunning as wire;
use tonic_gax_tests::generated::test::instances::v1 as instances;

/// Fails every third request for an operation, and is done with the twelfth.
#[derive(Debug, Clone, Default)]
struct Backend {
    requests: Arc<AtomicU32>,
}

/// Our messages as those of the server.
fn as_wire(operation: &gax_client::longrunning::Operation) -> Response<wire::Operation> {
    let encoded = prost::Message::encode_to_vec(operation);
    Response::new(prost::Message::decode(encoded.as_slice()).unwrap())
}

#[tonic::async_trait]
impl instances::instances_server::Instances for Backend {
    async fn create_instance(
        &self,
        _: Request<instances::CreateInstanceRequest>,
    ) -> Result<Response<wire::Operation>, Status> {
        Ok(as_wire(&at(0, running())))
    }
}

#[tonic::async_trait]
impl wire::operations_server::Operations for Backend {
    async fn get_operation(
        &self,
        request: Request<wire::GetOperationRequest>,
    ) -> Result<Response<wire::Operation>, Status> {
        assert_eq!(request.into_inner().name, super::replies::NAME);
        match self.requests.fetch_add(1, Ordering::Relaxed) + 1 {
            12.. => Ok(as_wire(&at(100, created()))),
            number if number % 3 == 0 => Err(Status::unavailable("one in three")),
            number => Ok(as_wire(&at(i32::try_from(number).unwrap(), running()))),
        }
    }
}

fn start(address: std::net::SocketAddr, backend: &Backend) -> SocketServer {
    let router = Server::builder()
        .add_service(instances::instances_server::InstancesServer::new(backend.clone()))
        .add_service(wire::operations_server::OperationsServer::new(backend.clone()));
    SocketServer::grpc(address, router)
}

fn settings() -> InstancesSettings {
    let mut stub = InstancesStubSettings::builder();
    let quick = RetrySettings::builder().initial_retry_delay(Duration::from_millis(5));
    let quick = quick.total_timeout(Duration::from_secs(60)).build().unwrap();
    stub.create_instance_operation().set_polling_settings(quick);
    InstancesSettings::create(stub.build().unwrap())
}

async fn client(server: &SocketServer) -> InstancesClient<Channel> {
    InstancesClient::connect_with_settings(format!("http://{}", server.address()), settings()).await.unwrap()
}

#[tokio::test]
async fn an_operation_outlives_the_process_that_started_it_and_a_restart_of_its_server() {
    let backend = Backend::default();
    let server = start(SocketServer::ANY_PORT, &backend);
    let first = client(&server).await;
    let mut create = first.create_instance_operation(instances::CreateInstanceRequest::default());
    let name = create.started().await.unwrap().to_owned();
    let mut progress = create.progress();
    while progress.next().await.unwrap().percent < 4 {}
    drop((create, first));
    let address = server.address();
    server.kill();
    let server = start(address, &backend);
    let second = client(&server).await;
    let mut resumed = second.resume_create_instance_operation(name);
    assert_eq!((&mut resumed).await.unwrap().memory_size_gb, 4);
    assert_eq!(resumed.metadata().unwrap().percent, 100);
    assert_eq!(backend.requests.load(Ordering::Relaxed), 12);
}

/// The address of the server for [`a_process_that_is_killed`].
const SERVER: &str = "GAX_TEST_LONG_RUNNING_SERVER";

/// Starts an operation, says its name, and polls until somebody kills it.
#[tokio::test]
#[ignore = "it is a process that another test starts and kills"]
async fn a_process_that_is_killed() {
    let url = std::env::var(SERVER).unwrap();
    let client = InstancesClient::connect_with_settings(url, settings()).await.unwrap();
    let mut create = client.create_instance_operation(instances::CreateInstanceRequest::default());
    println!("started: {}", create.started().await.unwrap());
    create.await.unwrap();
}

#[tokio::test]
async fn an_operation_that_a_killed_process_has_started_is_finished_by_name_in_another() {
    let backend = Backend::default();
    let server = start(SocketServer::ANY_PORT, &backend);
    let mut process = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "calls::long_running::restarts::a_process_that_is_killed",
            "--ignored",
            "--nocapture",
        ])
        .env(SERVER, format!("http://{}", server.address()))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let name = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        // The harness may have begun the line.
        if let Some((_, name)) = line.split_once("started: ") {
            break name.to_owned();
        }
    };
    while backend.requests.load(Ordering::Relaxed) < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    process.kill().await.unwrap();
    let other = client(&server).await;
    let resumed = other.resume_create_instance_operation(name);
    assert_eq!(resumed.await.unwrap().memory_size_gb, 4);
}
