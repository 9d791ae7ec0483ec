//! Names in generated code.

use heck::ToUpperCamelCase;
use std::collections::{HashMap, HashSet};

/// Functions that a generated type has next to the accessors of its RPCs, and traits' methods that
/// an RPC of the same name would hide.
const RESERVED: [&str; 24] = [
    "accept_compressed",
    "apply_to_all_unary_methods",
    "build",
    "builder",
    "clone",
    "connect",
    "connect_with_settings",
    "create",
    "default",
    "fmt",
    "max_decoding_message_size",
    "max_encoding_message_size",
    "methods",
    "new",
    "rest",
    "rest_with_options",
    "retry_param_definitions",
    "retryable_code_definitions",
    "send_compressed",
    "to_builder",
    "to_owned",
    "with_interceptor",
    "with_origin",
    "with_settings",
];

/// The functions' names for a service's RPCs, given in the form that tonic uses (`list_assets`,
/// `r#type`).
///
/// They are tonic's own but where a generated type has a function of that name already, or an earlier
/// RPC of the service: then `_rpc` is appended, as often as it takes.
pub(crate) fn accessor_names<'a>(methods: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let methods: Vec<&str> = methods.into_iter().collect();
    let mut taken: HashSet<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
    // An RPC that can have its own name keeps it, wherever it stands.
    let mut keeps = HashSet::new();
    let kept: Vec<bool> =
        methods.iter().map(|method| !taken.contains(*method) && keeps.insert(*method)).collect();
    taken.extend(keeps.into_iter().map(str::to_owned));
    methods
        .iter()
        .zip(kept)
        .map(|(method, kept)| {
            let mut name = (*method).to_owned();
            if !kept {
                while taken.contains(&name) {
                    name.push_str("_rpc");
                }
                taken.insert(name.clone());
            }
            name
        })
        .collect()
}

/// The names that a service adds to its package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceNames {
    /// The module, such as `asset_service_gax`.
    pub(crate) module: String,
    /// Such as `AssetServiceClient`.
    pub(crate) client: String,
    /// Such as `AssetServiceSettings`.
    pub(crate) settings: String,
    /// Such as `AssetServiceStubSettings`.
    pub(crate) stub_settings: String,
    /// Such as `AssetServiceStubSettingsBuilder`.
    pub(crate) builder: String,
    /// Those of the types' names that nothing else in the package has.
    pub(crate) exported: Vec<String>,
}

impl ServiceNames {
    fn new(service: &str) -> Self {
        let camel = service.to_upper_camel_case();
        let is_camel = service.starts_with(char::is_uppercase) && !service.contains('_');
        let name = if is_camel { service } else { camel.as_str() };
        Self {
            module: format!("{}_gax", module_stem(&camel)),
            client: format!("{name}Client"),
            settings: format!("{name}Settings"),
            stub_settings: format!("{name}StubSettings"),
            builder: format!("{name}StubSettingsBuilder"),
            exported: Vec::new(),
        }
    }

    fn types(&self) -> [&String; 4] {
        [&self.client, &self.settings, &self.stub_settings, &self.builder]
    }
}

/// The names for the services of one package. `types` are its messages and enums, `modules` its
/// subpackages, both as Rust spells them; they and the services' own names must not clash.
pub(crate) fn service_names(
    services: &[&str],
    types: &HashSet<String>,
    modules: &HashSet<String>,
) -> Vec<ServiceNames> {
    let mut names: Vec<ServiceNames> = services.iter().map(|service| ServiceNames::new(service)).collect();
    let mut claims: HashMap<String, usize> = HashMap::new();
    for name in names.iter().flat_map(ServiceNames::types) {
        *claims.entry(name.clone()).or_default() += 1;
    }
    let mut taken = modules.clone();
    for name in &mut names {
        while !taken.insert(name.module.clone()) {
            name.module.push('_');
        }
        let exported = name
            .types()
            .into_iter()
            .filter(|name| claims.get(*name) == Some(&1) && !types.contains(*name))
            .cloned()
            .collect();
        name.exported = exported;
    }
    names
}

/// The stem of a service's modules, as tonic makes it: an underscore before each capital.
pub(crate) fn module_stem(camel: &str) -> String {
    let mut stem = String::new();
    for (index, character) in camel.chars().enumerate() {
        if index > 0 && character.is_uppercase() {
            stem.push('_');
        }
        stem.extend(character.to_lowercase());
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_rpc_keeps_its_name_unless_it_is_taken() {
        assert_eq!(
            accessor_names(["list_assets", "r#import", "new", "build_rpc", "build", "list_assets"]),
            ["list_assets", "r#import", "new_rpc", "build_rpc", "build_rpc_rpc", "list_assets_rpc"]
        );
    }

    #[test]
    fn an_rpc_does_not_lose_its_name_to_an_earlier_suffix() {
        assert_eq!(accessor_names(["new", "new_rpc"]), ["new_rpc_rpc", "new_rpc"]);
    }

    #[test]
    fn modules_are_spelt_as_tonic_spells_them() {
        let none = HashSet::new();
        let names = service_names(&["AssetService", "IAMPolicy", "greeter", "X2y"], &none, &none);
        let modules: Vec<&str> = names.iter().map(|name| name.module.as_str()).collect();
        assert_eq!(modules, ["asset_service_gax", "iam_policy_gax", "greeter_gax", "x2y_gax"]);
        assert_eq!(names[2].stub_settings, "GreeterStubSettings");
    }

    #[test]
    fn types_keep_the_protos_name_where_it_is_one_in_rust() {
        let none = HashSet::new();
        let names = service_names(&["IAMCredentials", "iam_policy", "Iam_Policy2"], &none, &none);
        assert_eq!(
            names[0].types(),
            [
                "IAMCredentialsClient",
                "IAMCredentialsSettings",
                "IAMCredentialsStubSettings",
                "IAMCredentialsStubSettingsBuilder"
            ]
        );
        assert_eq!(names[0].module, "iam_credentials_gax");
        assert_eq!(names[1].client, "IamPolicyClient");
        assert_eq!(names[2].client, "IamPolicy2Client");
    }

    #[test]
    fn a_name_with_two_owners_is_exported_for_neither() {
        let types = HashSet::from(["FooClient".to_owned()]);
        let modules = HashSet::from(["foo_gax".to_owned()]);
        let names = service_names(&["Foo", "FooStub"], &types, &modules);
        // FooStubSettings is the stub settings of Foo and the settings of FooStub.
        assert_eq!(names[0].exported, ["FooSettings", "FooStubSettingsBuilder"]);
        assert_eq!(names[1].exported, ["FooStubClient", "FooStubStubSettings", "FooStubStubSettingsBuilder"]);
        assert_eq!(names[0].module, "foo_gax_");
    }
}
