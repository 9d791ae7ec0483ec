//! RPCs that give a list page by page, by their descriptors.
//!
//! The rules are those of Google's generator for Java, sdk-platform-java: `Parser.parsePageSizeFieldName` says which RPCs are paged,
//! `Message.findAndUnwrapPaginatedRepeatedField` what their items are.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FieldOptions, MessageOptions};

/// The numbers that a page's size may be, as Rust has them.
pub(crate) const NUMBERS: [&str; 4] = ["i32", "i64", "u32", "u64"];
/// The wrappers that prost writes as numbers that may be missing, unless it is configured otherwise.
const WRAPPERS: [&str; 4] = [
    ".google.protobuf.Int32Value",
    ".google.protobuf.Int64Value",
    ".google.protobuf.UInt32Value",
    ".google.protobuf.UInt64Value",
];

/// The fields of a paged RPC's messages that its pages are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageShape {
    /// The request's field for the size of a page, if it is a number.
    pub(crate) size: Option<SizeField>,
    /// The response's field with the items, as its proto has it.
    pub(crate) items: String,
    pub(crate) item: Item,
    /// `true` if one of the fields is deprecated.
    pub(crate) is_deprecated: bool,
}

/// The field for the size of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SizeField {
    pub(crate) name: String,
    /// The wrapper around the number, by its full name with a leading dot.
    pub(crate) wrapper: Option<String>,
}

/// An item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    One(ItemType),
    /// The entry of a map.
    Entry(ItemType, ItemType),
}

/// The type of an item, or of an entry's key or value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ItemType {
    /// As Rust has it.
    Scalar(&'static str),
    /// Bytes, of whichever type prost is configured to use.
    Bytes,
    /// A message, by its full name with a leading dot.
    Message(String),
}

impl Item {
    /// The item, or the value of an entry.
    pub(crate) fn value(&self) -> &ItemType {
        let (Item::One(value) | Item::Entry(_, value)) = self;
        value
    }
}

impl ItemType {
    /// The name of the message.
    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            ItemType::Message(name) => Some(name),
            ItemType::Scalar(_) | ItemType::Bytes => None,
        }
    }
}

/// Returns whether an RPC is paged: its request has the fields `page_size` and `page_token` and its response has
/// `next_page_token`, none of them repeated. In some packages `max_results` is as good as `page_size`.
pub(crate) fn is_paged(
    package: &str,
    request: Option<&DescriptorProto>,
    response: Option<&DescriptorProto>,
) -> bool {
    size_field(package, request).is_some()
        && single(request, "page_token").is_some()
        && single(response, "next_page_token").is_some()
}

/// `page_size` goes before `max_results`.
fn size_field<'a>(package: &str, request: Option<&'a DescriptorProto>) -> Option<&'a FieldDescriptorProto> {
    let max_results = || single(request, "max_results").filter(|_| counts_max_results(package));
    single(request, "page_size").or_else(max_results)
}

/// Returns whether Google's Java generator takes `max_results` for a page's size: in APIs without gRPC, and in
/// `BigQuery`'s.
fn counts_max_results(package: &str) -> bool {
    package == "google.cloud.bigquery.v2" || package.starts_with("google.cloud.compute.")
}

fn single<'a>(message: Option<&'a DescriptorProto>, name: &str) -> Option<&'a FieldDescriptorProto> {
    message?.field.iter().find(|field| field.name() == name && field.label() != Label::Repeated)
}

/// The shape of a paged RPC; `None` if it is not paged, if its response has no list, or if a token is not text.
///
/// The items are the first map of the response or, if it has none, its first repeated field, in the order in which the proto
/// declares them.
pub(crate) fn page_shape(
    package: &str,
    request: Option<&DescriptorProto>,
    response: Option<&DescriptorProto>,
) -> Option<PageShape> {
    let size = size_field(package, request)?;
    let (token, next) = (single(request, "page_token")?, single(response, "next_page_token")?);
    if !(is_text(token) && is_text(next)) {
        return None;
    }
    let response = response?;
    let repeated = || response.field.iter().filter(|field| field.label() == Label::Repeated);
    let map = repeated().find_map(|field| Some((field, entry(response, field)?)));
    let (items, item) =
        map.or_else(|| Some((repeated().next()?, Item::One(item_type(repeated().next()?)))))?;
    let is_deprecated =
        |field: &FieldDescriptorProto| field.options.as_ref().is_some_and(FieldOptions::deprecated);
    Some(PageShape {
        size: number(size),
        items: items.name().to_owned(),
        item,
        is_deprecated: [size, token, next, items].into_iter().any(is_deprecated),
    })
}

/// The entry of a map; `None`: the field is none.
fn entry(message: &DescriptorProto, field: &FieldDescriptorProto) -> Option<Item> {
    let name = field.type_name().rsplit('.').next()?;
    let is_entry = |nested: &&DescriptorProto| {
        nested.name() == name && nested.options.as_ref().is_some_and(MessageOptions::map_entry)
    };
    let entry = message.nested_type.iter().find(is_entry).filter(|_| field.r#type() == Type::Message)?;
    let part = |number| entry.field.iter().find(|field| field.number() == number).map(item_type);
    Some(Item::Entry(part(1)?, part(2)?))
}

fn item_type(field: &FieldDescriptorProto) -> ItemType {
    ItemType::Scalar(match field.r#type() {
        Type::Message | Type::Group => return ItemType::Message(field.type_name().to_owned()),
        Type::Bytes => return ItemType::Bytes,
        Type::String => "::std::string::String",
        Type::Double => "f64",
        Type::Float => "f32",
        Type::Int64 | Type::Sint64 | Type::Sfixed64 => "i64",
        Type::Uint64 | Type::Fixed64 => "u64",
        Type::Int32 | Type::Sint32 | Type::Sfixed32 | Type::Enum => "i32",
        Type::Uint32 | Type::Fixed32 => "u32",
        Type::Bool => "bool",
    })
}

/// Returns whether a field of the message itself holds text. One of several that exclude each other is elsewhere in Rust.
fn is_text(field: &FieldDescriptorProto) -> bool {
    field.r#type() == Type::String && stands_alone(field)
}

fn number(field: &FieldDescriptorProto) -> Option<SizeField> {
    let (is_number, wrapper) = match item_type(field) {
        ItemType::Scalar(name) => (NUMBERS.contains(&name) && field.r#type() != Type::Enum, None),
        ItemType::Message(name) => (WRAPPERS.contains(&name.as_str()), Some(name)),
        ItemType::Bytes => (false, None),
    };
    (is_number && stands_alone(field)).then(|| SizeField { name: field.name().to_owned(), wrapper })
}

fn stands_alone(field: &FieldDescriptorProto) -> bool {
    field.oneof_index.is_none() || field.proto3_optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protox::Compiler;
    use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

    /// A file that is this text.
    struct Text(String);

    impl FileResolver for Text {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            File::from_source(name, &self.0)
        }
    }

    /// The shape of an RPC of these messages.
    fn shape_in(package: &str, request: &str, response: &str) -> Option<PageShape> {
        let proto = format!(
            "syntax = 'proto3'; import 'google/protobuf/wrappers.proto'; message Q {{ {request} }} \
             message R {{ {response} }} message Thing {{}} enum Kind {{ NONE = 0; }}"
        );
        let mut files = ChainFileResolver::new();
        files.add(GoogleFileResolver::new());
        files.add(Text(proto));
        let mut compiler = Compiler::with_file_resolver(files);
        let set = compiler.open_file("test.proto").unwrap().file_descriptor_set();
        let file = &set.file[0];
        page_shape(package, file.message_type.first(), file.message_type.get(1))
    }

    const REQUEST: &str = "int32 page_size = 1; string page_token = 2;";
    const TOKEN: &str = "string next_page_token = 9;";

    fn items(fields: &str) -> Option<(String, Item)> {
        shape_in("a", REQUEST, &format!("{TOKEN} {fields}")).map(|shape| (shape.items, shape.item))
    }

    fn one(name: &str, item: ItemType) -> (String, Item) {
        (name.to_owned(), Item::One(item))
    }

    #[test]
    fn the_items_are_the_first_map_or_the_first_list() {
        let message = |name: &str| ItemType::Message(name.to_owned());
        assert_eq!(
            items("repeated string b = 2; repeated Thing a = 1;").unwrap(),
            one("b", ItemType::Scalar("::std::string::String"))
        );
        let kinds = items("Thing x = 1; repeated Kind kinds = 2;").unwrap();
        assert_eq!(kinds, one("kinds", ItemType::Scalar("i32")));
        assert_eq!(items("repeated bytes parts = 2;").unwrap(), one("parts", ItemType::Bytes));
        assert_eq!(items("repeated Thing a = 1;").unwrap(), one("a", message(".Thing")));
        let entry = Item::Entry(ItemType::Scalar("u32"), message(".Thing"));
        assert_eq!(items("repeated Thing a = 1; map<uint32, Thing> b = 2;"), Some(("b".to_owned(), entry)));
        assert_eq!(items("Thing x = 1;"), None);
    }

    #[test]
    fn sizes_are_numbers() {
        let size = |package: &str, field: &str| {
            let request = format!("string page_token = 2; {field}");
            shape_in(package, &request, &format!("{TOKEN} repeated Thing a = 1;"))
                .map(|shape| shape.size.map(|size| (size.name, size.wrapper)))
        };
        let named = |name: &str| Some(Some((name.to_owned(), None)));
        assert_eq!(size("a", "int32 page_size = 1;"), named("page_size"));
        assert_eq!(size("a", "optional int64 page_size = 1;"), named("page_size"));
        assert_eq!(size("a", "string page_size = 1;"), Some(None));
        assert_eq!(size("a", "oneof one { int32 page_size = 1; }"), Some(None));
        assert_eq!(size("a", "uint32 max_results = 1;"), None);
        let bigquery = "google.cloud.bigquery.v2";
        let field = "google.protobuf.UInt32Value max_results = 1;";
        assert_eq!(size(bigquery, "optional uint32 max_results = 1;"), named("max_results"));
        assert_eq!(size(bigquery, "Thing max_results = 1;"), Some(None));
        assert_eq!(size(bigquery, "uint32 max_results = 1; int32 page_size = 3;"), named("page_size"));
        let wrapper = Some(".google.protobuf.UInt32Value".to_owned());
        assert_eq!(size(bigquery, field), Some(Some(("max_results".to_owned(), wrapper))));
    }

    #[test]
    fn tokens_are_text() {
        let shape =
            |request: &str, token: &str| shape_in("a", request, &format!("{token} repeated Thing a = 1;"));
        assert!(shape("int32 page_size = 1; optional string page_token = 2;", TOKEN).is_some());
        assert!(shape("int32 page_size = 1; bytes page_token = 2;", TOKEN).is_none());
        assert!(shape("int32 page_size = 1; oneof one { string page_token = 2; }", TOKEN).is_none());
        assert!(shape(REQUEST, "uint64 next_page_token = 2;").is_none());
    }

    #[test]
    fn deprecated_fields_are_known() {
        let shape = |token: &str| shape_in("a", REQUEST, &format!("{token} repeated Thing a = 1;")).unwrap();
        assert!(!shape(TOKEN).is_deprecated);
        assert!(shape("string next_page_token = 2 [deprecated = true];").is_deprecated);
    }
}
