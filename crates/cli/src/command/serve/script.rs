//! The script that the flags ask for.

use super::args::ServeArgs;
use crate::command::table::{Api, close_method};
use crate::failure::Failure;
use crate::input::Input;
use gax_testing::{Reply, Script};
use tonic::Status;

/// The script, whose names are those of the API if there is one.
pub(super) fn script(args: &ServeArgs, api: Option<&Api>) -> Result<Script, Failure> {
    let Some(path) = &args.script else {
        let mut status = Status::new(args.code.number().into(), "gax serve");
        if let Some(pushback) = args.pushback {
            status.metadata_mut().insert("grpc-retry-pushback-ms", pushback.into());
        }
        let step = (args.delay, Reply::status(status));
        return Ok(Script::of(vec![step; args.fail]).each_call());
    };
    let input = Input::read(path, "a script")?;
    let script: Script =
        input.text().parse().map_err(|error| Failure::Usage(format!("{}:{error}", input.name)))?;
    let Some(api) = api else { return Ok(script) };
    let methods = api.services.iter().chain(&api.imported).flat_map(|service| {
        let methods = service.methods().iter();
        methods.map(move |method| (format!("{}/{}", service.name(), method.name()), method.name()))
    });
    let known: Vec<(String, &str)> = methods.collect();
    for name in script.methods() {
        if !known.iter().any(|(path, method)| *path == name || *method == name) {
            let advice = match close_method(&name, &known) {
                Some(close) => format!("did you mean {close}?"),
                None => "write pkg.Service/Method, or just Method".to_owned(),
            };
            let file = &input.name;
            return Err(Failure::Usage(format!("{file}: method {name:?} is not in the protos; {advice}")));
        }
    }
    Ok(script)
}
