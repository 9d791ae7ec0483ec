//! Adds our code to what tonic generates for a service.

use crate::descriptors::full_name;
use crate::emit::{BARE_TYPES, Emitter};
use crate::generator_config::{GeneratorConfig, TonicCode};
use crate::operation_types;
use crate::page_items::ResolvedItems;
use prost_build::{Module, Service, ServiceGenerator};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Generates tonic's code for a service, as it is, and ours at the end of its package: only then are the
/// services known that are mixed into it.
pub(crate) struct Generator {
    tonic: tonic_prost_build::Builder,
    generators: HashMap<TonicCode, Box<dyn ServiceGenerator>>,
    emitter: Emitter,
    config: Rc<GeneratorConfig>,
    /// Every service as prost sees it, in the order in which it comes to them, and by name its place.
    services: Vec<Service>,
    places: HashMap<String, usize>,
    pages: ResolvedItems,
    own: OwnCode,
}

/// Our code by package. It is formatted service by service: prost formats a package as a whole, which takes many times its text in
/// memory.
pub(crate) type OwnCode = Rc<RefCell<HashMap<Module, String>>>;

impl Generator {
    pub(crate) fn new(
        tonic: tonic_prost_build::Builder,
        emitter: Emitter,
        config: Rc<GeneratorConfig>,
        own: OwnCode,
    ) -> Self {
        let (services, places, pages) = (Vec::new(), HashMap::new(), ResolvedItems::default());
        Self { tonic, generators: HashMap::new(), emitter, config, services, places, pages, own }
    }

    fn service(&self, name: &str) -> Option<&Service> {
        self.services.get(*self.places.get(name)?)
    }
}

/// The service with a path for each type: tonic looks for `bool`, which is the wrapper `BoolValue` in Rust, in the package.
fn with_paths(mut service: Service) -> Service {
    for method in &mut service.methods {
        for path in [&mut method.input_type, &mut method.output_type] {
            if BARE_TYPES.contains(&&**path) && path != "()" {
                *path = format!("::core::primitive::{path}");
            }
        }
    }
    service
}

impl ServiceGenerator for Generator {
    fn generate(&mut self, service: Service, buf: &mut String) {
        if self.pages.take(&self.config.pages, &service) {
            return;
        }
        let name = full_name(&service.package, &service.proto_name);
        let Some(code) = self.config.service(&name) else { return };
        self.places.insert(name, self.services.len());
        let TonicCode { client, server } = code.tonic;
        if client || server {
            let tonic = || self.tonic.clone().build_client(client).build_server(server).service_generator();
            let generator = self.generators.entry(code.tonic).or_insert_with(tonic);
            generator.generate(with_paths(operation_types::without(service.clone())), buf);
        }
        self.services.push(service);
        // A package without any code before its end would be left out.
        buf.push('\n');
    }

    fn finalize_package(&mut self, package: &str, _: &mut String) {
        let mut own = String::new();
        for service in self.services.iter().filter(|service| service.package == package) {
            let name = full_name(package, &service.proto_name);
            let gax = self.config.service(&name).and_then(|code| code.gax.as_ref());
            if let Some((names, joined)) = gax {
                let mixin = |mixin: &str| self.service(mixin);
                let tokens = self.emitter.service(service, names, joined, &self.pages, mixin);
                match syn::parse2(tokens) {
                    Ok(file) => own.push_str(&prettyplease::unparse(&file)),
                    // Nothing that is written here is no Rust; if it were, the compiler would show where.
                    Err(error) => own.push_str(&error.to_compile_error().to_string()),
                }
            }
        }
        self.own.borrow_mut().insert(Module::from_protobuf_package_name(package), own);
    }
}
