//! Rows and cells of the table.

use super::stage::Trouble;

/// The clients, by their letters: the layer over `Channel`, generated clients, either over `gax_connection::Connection`, the layer for HTTP clients, transfers,
/// REST, streams that resume and subscriptions, credentials, batches, long-running operations, pages.
pub(super) const ALL: &str = "LGKHTRSCBOP";

/// A part of the table.
pub(super) struct Section {
    pub(super) heading: &'static str,
    /// Behind "They concern the clients X.".
    pub(super) about: &'static str,
    /// The title of the second column.
    pub(super) second: &'static str,
    pub(super) clients: &'static str,
    pub(super) rows: Vec<Row>,
}

/// A misbehaviour.
pub(super) struct Row {
    pub(super) behaviour: &'static str,
    pub(super) second: &'static str,
    /// The view of a client without retries and checks. Empty: the section says it.
    pub(super) plain: &'static str,
    /// How the suite plays it, to the clients of its cells.
    pub(super) trouble: Option<Trouble>,
    /// The clients that it concerns, if not those of its section.
    clients: Option<&'static str>,
    cells: Vec<(char, Cell)>,
}

/// One client's part of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    /// The suite plays it.
    Suite,
    /// That test plays it.
    Test(&'static str),
    /// It does not apply, for that reason.
    No(&'static str),
}

pub(super) fn row(behaviour: &'static str, second: &'static str, plain: &'static str) -> Row {
    Row { behaviour, second, plain, trouble: None, clients: None, cells: Vec::new() }
}

impl Row {
    /// The suite plays it so to these clients.
    pub(super) fn plays(self, clients: &str, trouble: Trouble) -> Self {
        Self { trouble: Some(trouble), ..self.cells(clients, Cell::Suite) }
    }

    /// Calls that are made meanwhile fail for good.
    pub(super) fn and_final(self) -> Self {
        Self { trouble: self.trouble.map(Trouble::and_is_final), ..self }
    }

    /// Clients over HTTP/1.1 know of no such thing.
    pub(super) fn over_http2(self) -> Self {
        Self { trouble: self.trouble.map(Trouble::over_http2), ..self }
    }

    /// That test plays it to these clients.
    pub(super) fn test(self, clients: &str, name: &'static str) -> Self {
        self.cells(clients, Cell::Test(name))
    }

    /// It does not apply to these clients, for that reason.
    pub(super) fn no(self, clients: &str, reason: &'static str) -> Self {
        self.cells(clients, Cell::No(reason))
    }

    /// The clients that it concerns, where these are not those of its section.
    pub(super) fn of(self, clients: &'static str) -> Self {
        Self { clients: Some(clients), ..self }
    }

    fn cells(mut self, clients: &str, cell: Cell) -> Self {
        self.cells.extend(clients.chars().map(|client| (client, cell)));
        self
    }

    /// The clients that it concerns.
    pub(super) fn clients(&self, section: &Section) -> &'static str {
        self.clients.unwrap_or(section.clients)
    }

    /// The cells of a client, in the order of the table.
    pub(super) fn of_client(&self, client: char) -> impl Iterator<Item = Cell> {
        self.cells.iter().filter(move |(of, _)| *of == client).map(|(_, cell)| *cell)
    }
}

/// The test of the suite for a client.
pub(super) fn suite_of(client: char) -> &'static str {
    match client {
        'L' => "faults::misbehaviours::suite::layer",
        'G' => "faults::misbehaviours::suite::generated_clients",
        'K' => "faults::misbehaviours::suite::connections",
        'H' => "faults::misbehaviours::suite::http",
        'T' => "faults::misbehaviours::suite::transfers",
        'R' => "faults::misbehaviours::suite::rest",
        'S' => "faults::misbehaviours::suite::streams",
        'C' => "faults::misbehaviours::suite::credentials",
        'B' => "faults::misbehaviours::suite::batches",
        'O' => "faults::misbehaviours::suite::operations",
        _ => "faults::misbehaviours::suite::pages",
    }
}
