//! A registry of crates on this machine, in place of crates.io: it takes what `cargo publish` sends, and has everything else from
//! the registry behind it.

use crate::Failure;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The limit of crates.io for a package.
const MAX_BYTES: usize = 10 * 1024 * 1024;

/// The registry that has the crates of others.
pub(crate) struct Upstream {
    /// Where its index is, without a slash at the end.
    pub(crate) index: String,
    /// Where it has the packages: `dl` of its index.
    pub(crate) downloads: String,
}

/// A package as it was published.
#[derive(Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Its line in the index.
    line: Value,
    /// The `.crate` file.
    pub(crate) archive: Vec<u8>,
}

pub(crate) struct Registry {
    upstream: Upstream,
    /// The names that are published here and nowhere else.
    names: BTreeSet<String>,
    address: String,
    packages: Mutex<Vec<Package>>,
}

impl Registry {
    /// Listens on a free port, as long as the program runs.
    pub(crate) fn start(upstream: Upstream, names: BTreeSet<String>) -> Result<Arc<Self>, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}", listener.local_addr()?);
        let registry = Arc::new(Self { upstream, names, address, packages: Mutex::default() });
        let served = Arc::clone(&registry);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = Arc::clone(&served);
                thread::spawn(move || served.serve(&stream));
            }
        });
        Ok(registry)
    }

    /// The lines of a `config.toml` by which cargo takes this registry for crates.io.
    pub(crate) fn config(&self) -> String {
        let registry = format!("[registries.rehearsal]\nindex = \"sparse+{}/\"\n", self.address);
        format!("[source.crates-io]\nreplace-with = \"rehearsal\"\n{registry}")
    }

    /// The published packages, in the order of publishing.
    pub(crate) fn packages(&self) -> Vec<Package> {
        self.packages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serve(&self, stream: &TcpStream) {
        let sent = self.reply(stream).and_then(|reply| {
            let mut stream = stream;
            Ok(stream.write_all(&reply)?)
        });
        if let Err(failure) = sent {
            eprintln!("the registry could not serve a request: {failure}");
        }
    }

    fn reply(&self, stream: &TcpStream) -> Result<Vec<u8>, Failure> {
        let mut reader = BufReader::new(stream);
        let (mut head, mut length, mut line) = (String::new(), 0, String::new());
        while reader.read_line(&mut line)? > 2 {
            if head.is_empty() {
                head.clone_from(&line);
            }
            if let Some(("content-length", value)) = line.to_lowercase().split_once(": ") {
                length = value.trim().parse()?;
            }
            if line.to_lowercase().starts_with("expect:") {
                let mut stream = stream;
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let segments: Vec<_> = path.split('/').skip(1).collect();
        Ok(match segments.as_slice() {
            ["config.json"] => {
                let downloads = format!("{}/packages/{{crate}}/{{version}}", self.address);
                ok(json!({ "dl": downloads, "api": self.address }).to_string().as_bytes())
            }
            ["api", "v1", "crates", "new"] => match self.publish(&body) {
                Ok(()) => ok(b"{}"),
                Err(failure) => {
                    ok(json!({ "errors": [{ "detail": failure.to_string() }] }).to_string().as_bytes())
                }
            },
            ["packages", name, version] if self.names.contains(*name) => {
                let packages = self.packages();
                let package =
                    packages.iter().find(|package| package.name == *name && package.version == *version);
                package.map_or_else(not_found, |package| ok(&package.archive))
            }
            ["packages", name, version] => found(&self.download(name, version)),
            [.., name] if self.names.contains(*name) => {
                let packages = self.packages();
                let lines = packages.iter().filter(|package| package.name == *name);
                let lines: Vec<_> = lines.map(|package| package.line.to_string()).collect();
                if lines.is_empty() { not_found() } else { ok(lines.join("\n").as_bytes()) }
            }
            _ => found(&format!("{}{path}", self.upstream.index)),
        })
    }

    /// Where the package of somebody else is.
    fn download(&self, name: &str, version: &str) -> String {
        let downloads = &self.upstream.downloads;
        if !downloads.contains('{') {
            return format!("{downloads}/{name}/{version}/download");
        }
        downloads.replace("{crate}", name).replace("{version}", version)
    }

    /// Takes a package as crates.io does, if it passes the same checks.
    fn publish(&self, body: &[u8]) -> Result<(), Failure> {
        let (description, rest) = piece(body)?;
        let (archive, _) = piece(rest)?;
        let description: Value = serde_json::from_slice(description)?;
        let text = |name: &str| description[name].as_str().unwrap_or_default();
        let (name, version) = (text("name"), text("vers"));
        if !self.names.contains(name) {
            return Err(format!("{name} is not to be published").into());
        }
        for needed in ["description", "license", "readme", "repository"] {
            if text(needed).is_empty() {
                return Err(format!("{name} has no {needed}").into());
            }
        }
        let keywords: Vec<_> = description["keywords"].as_array().into_iter().flatten().collect();
        if keywords.len() > 5 || keywords.iter().any(|word| word.as_str().is_none_or(|word| word.len() > 20))
        {
            return Err(format!("{name} has more than 5 keywords, or one of more than 20 letters").into());
        }
        if archive.len() > MAX_BYTES {
            return Err(format!("{name} has {} bytes, more than crates.io takes", archive.len()).into());
        }
        let mut packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dependencies = Vec::new();
        for dependency in description["deps"].as_array().into_iter().flatten() {
            let needed = dependency["name"].as_str().unwrap_or_default();
            if self.names.contains(needed) && !packages.iter().any(|package| package.name == needed) {
                return Err(format!("{name} depends on {needed}, which is not published before it").into());
            }
            let mut entry = dependency.clone();
            entry["req"] = entry["version_req"].take();
            if let Some(renamed) =
                dependency.get("explicit_name_in_toml").filter(|renamed| !renamed.is_null())
            {
                entry["package"] = json!(needed);
                entry["name"] = renamed.clone();
            }
            dependencies.push(entry);
        }
        let mut checksum = String::new();
        for byte in Sha256::digest(archive) {
            write!(checksum, "{byte:02x}")?;
        }
        let line = json!({
            "name": name, "vers": version, "deps": dependencies, "features": description["features"],
            "cksum": checksum, "yanked": false, "links": description["links"],
            "rust_version": description["rust_version"], "v": 2,
        });
        let (name, version) = (name.to_owned(), version.to_owned());
        packages.push(Package { name, version, line, archive: archive.to_vec() });
        Ok(())
    }
}

/// A piece of a body that begins with its length, and what follows it.
fn piece(body: &[u8]) -> Result<(&[u8], &[u8]), Failure> {
    let (length, rest) = body.split_first_chunk().ok_or("a body without a length")?;
    let length = usize::try_from(u32::from_le_bytes(*length))?;
    Ok(rest.split_at_checked(length).ok_or("a body that is cut off")?)
}

fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn ok(body: &[u8]) -> Vec<u8> {
    response("200 OK", "", body)
}

fn found(place: &str) -> Vec<u8> {
    response("302 Found", &format!("location: {place}\r\n"), b"")
}

fn not_found() -> Vec<u8> {
    response("404 Not Found", "", b"")
}
