//! Adds our code to what tonic generates for a service.

use crate::descriptors::full_name;
use crate::emit::Emitter;
use crate::plan::Plan;
use prost_build::Service;
use std::rc::Rc;

/// Generates tonic's code for a service, as it is, and ours after it.
pub(crate) struct Generator {
    pub(crate) tonic: Box<dyn prost_build::ServiceGenerator>,
    pub(crate) emitter: Emitter,
    pub(crate) plan: Rc<Plan>,
}

impl prost_build::ServiceGenerator for Generator {
    fn generate(&mut self, service: Service, buf: &mut String) {
        let Some(plan) = self.plan.service(&full_name(&service.package, &service.proto_name)) else { return };
        let gax = plan.gax.as_ref().map(|(names, joined)| self.emitter.service(&service, names, joined));
        if plan.tonic {
            self.tonic.generate(service, buf);
        }
        if let Some(tokens) = gax {
            buf.push_str(&tokens.to_string());
            buf.push('\n');
        }
    }

    fn finalize(&mut self, buf: &mut String) {
        self.tonic.finalize(buf);
    }

    fn finalize_package(&mut self, package: &str, buf: &mut String) {
        self.tonic.finalize_package(package, buf);
    }
}
