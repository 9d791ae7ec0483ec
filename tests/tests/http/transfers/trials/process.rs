//! Transfers in a process of their own: this executable, started again with a task.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::trial::{Protocol, download, over_sockets, reqwest, upload};
use gax_http::HttpRetryService;
use gax_transfer::{TransferService, UploadSource};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::{Child, Command};

/// The variable that has a task.
const TASK: &str = "GAX_TRANSFER_TASK";

/// A transfer for another process.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) url: String,
    /// `None`: a download.
    pub(super) protocol: Option<Protocol>,
    pub(super) uses_reqwest: bool,
    /// The source of an upload, the target of a download.
    pub(super) file: PathBuf,
    /// The state file of an upload.
    pub(super) state: PathBuf,
}

impl Task {
    /// Starts a process that carries it out.
    pub(super) fn start(&self) -> Child {
        let protocol = match self.protocol {
            None => "download",
            Some(Protocol::Resumable) => "resumable",
            Some(Protocol::Universal) => "universal",
        };
        let client = if self.uses_reqwest { "reqwest" } else { "hyper" };
        let task = [&self.url, protocol, client, self.file.to_str().unwrap(), self.state.to_str().unwrap()];
        // Without the name of the crate.
        let (_, module) = module_path!().split_once("::").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = format!("{module}::a_task_of_another_process");
        command.args(["--exact", &name, "--ignored", "--nocapture"]);
        command.env(TASK, task.join("\n")).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command.kill_on_drop(true).spawn().unwrap()
    }

    fn read(text: &str) -> Self {
        let mut lines = text.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap();
        Self {
            url: next(),
            protocol: match &*next() {
                "resumable" => Some(Protocol::Resumable),
                "universal" => Some(Protocol::Universal),
                _ => None,
            },
            uses_reqwest: next() == "reqwest",
            file: next().into(),
            state: next().into(),
        }
    }

    async fn carry_out<S: TransferService>(&self, client: HttpRetryService<S>) -> u64 {
        match self.protocol {
            None => download(&client, &self.url, &self.file).await.unwrap().bytes(),
            Some(protocol) => {
                let source = UploadSource::file(&self.file);
                upload(&client, &self.url, protocol, None, source, &self.state).await.unwrap().bytes()
            }
        }
    }
}

/// The most memory that this process had, in KiB; 0 where the system doesn't say.
fn peak() -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Carries out a task, and says how long the object was and how much memory that took.
#[tokio::test]
#[ignore = "it is a process that other tests start"]
async fn a_task_of_another_process() {
    let task = Task::read(&std::env::var(TASK).unwrap());
    let bytes = if task.uses_reqwest {
        task.carry_out(reqwest(&task.url)).await
    } else {
        task.carry_out(over_sockets(&task.url)).await
    };
    println!("\ntransferred {bytes} peak {}", peak());
}
