//! `[http]`: which HTTP requests are safe to retry.

use super::read::Reader;
use crate::TableError;
use crate::document::{Kind, Member, Node};
use gax_retry::http::{IdempotencyRule, IdempotencyTable, OperationClass, Precondition};

impl Reader<'_> {
    /// The table that `[http]` describes: its rules, before those of the table that it is based on.
    pub(super) fn http(&mut self, node: &Node) -> Result<IdempotencyTable, TableError> {
        let names = ["base", "prefixes", "hosts", "idempotency_key", "rule"];
        let [base, prefixes, hosts, key, rules] = self.find(node, "http", names)?;
        let mut table = base.map(|node| self.base(node)).transpose()?.unwrap_or_default();
        for prefix in self.elements(prefixes, "prefixes")? {
            table = table.with_prefix(self.scalars.string(prefix, "a prefix")?.to_string());
        }
        for host in self.elements(hosts, "hosts")? {
            table = table.with_host(self.scalars.string(host, "a host")?.to_string());
        }
        let rules = self.elements(rules, "rule")?;
        let rules = rules.iter().map(|rule| self.rule(rule)).collect::<Result<Vec<_>, _>>()?;
        // A rule goes before those that are there already, and of the file's own the first decides.
        let table = rules.into_iter().rev().fold(table, IdempotencyTable::with_rule);
        let has_key = key.map(|node| self.scalars.boolean(node, "idempotency_key")).transpose()?;
        Ok(if has_key.is_some_and(|word| word.value) { table.with_idempotency_key() } else { table })
    }

    fn elements<'n>(&self, node: Option<&'n Node>, name: &str) -> Result<&'n [Node], TableError> {
        node.map_or(Ok(&[]), |node| self.scalars.array(node, name))
    }

    fn base(&self, node: &Node) -> Result<IdempotencyTable, TableError> {
        match &*self.scalars.string(node, "base")? {
            "storage" => Ok(IdempotencyTable::storage()),
            "http-methods" => Ok(IdempotencyTable::http_methods()),
            _ => {
                let help = "write \"storage\" or \"http-methods\", or leave it out";
                Err(self.source.fault(node.span, "is no table of rules", help))
            }
        }
    }

    fn rule(&mut self, node: &Node) -> Result<IdempotencyRule, TableError> {
        let names = ["name", "method", "path", "class", "if_any", "hedgeable"];
        let [name, method, path, class, if_any, hedgeable] = self.find(node, "a rule", names)?;
        let required = |field: Option<&Node>, what: &str, help: &str| match field {
            Some(field) => self.scalars.string(field, what).map(|text| (field.span, text)),
            None => Err(self.source.fault(node.span, "is no whole rule", help)),
        };
        let (_, name) =
            required(name, "name", "write name = \"invoices.pay\", or what you call the operation")?;
        let (_, method) = required(method, "method", "write method = \"POST\", or \"*\" for any")?;
        let (place, path) = required(path, "path", "write path = \"/v1/{name=invoices/*}:pay\"")?;
        let class = match (class, if_any) {
            (Some(class), None) => self.class(class)?,
            (None, Some(if_any)) => {
                let conditions = self.elements(Some(if_any), "if_any")?;
                let conditions = conditions.iter().map(|node| self.condition(node));
                OperationClass::conditional(conditions.collect::<Result<Vec<_>, _>>()?)
            }
            _ => {
                let help =
                    "write class = \"always\", class = \"never\" or if_any = [{ header = \"If-Match\" }]";
                return Err(self.source.fault(node.span, "says not just one of class and if_any", help));
            }
        };
        let rule =
            IdempotencyRule::new(name.to_string(), method.to_string(), &path, class).map_err(|error| {
                self.source.fault(place, "is no pattern for paths", format!("correct it: {error}"))
            })?;
        let hedgeable = hedgeable.map(|node| self.scalars.boolean(node, "hedgeable")).transpose()?;
        Ok(hedgeable.map_or(rule.clone(), |word| rule.hedgeable(word.value)))
    }

    fn class(&self, node: &Node) -> Result<OperationClass, TableError> {
        match &*self.scalars.string(node, "class")? {
            "always" => Ok(OperationClass::Always),
            "never" => Ok(OperationClass::Never),
            _ => {
                let help = "write \"always\" or \"never\"; for a condition, write if_any in place of class";
                Err(self.source.fault(node.span, "is no class", help))
            }
        }
    }

    fn condition(&self, node: &Node) -> Result<Precondition, TableError> {
        let parts: &[Member] = match &node.kind {
            Kind::Object(members) => members,
            _ => &[],
        };
        if let [part] = parts {
            let name = self.scalars.string(&part.value, &part.key)?.to_string();
            match &*part.key {
                "query" => return Ok(Precondition::query(name)),
                "header" => return Ok(Precondition::header(name)),
                "body" => return Ok(Precondition::body_field(name)),
                _ => {}
            }
        }
        let help = "write { query = \"ifMatch\" }, { header = \"If-Match\" } or { body = \"etag\" }";
        Err(self.source.fault(node.span, "is no condition", help))
    }
}
