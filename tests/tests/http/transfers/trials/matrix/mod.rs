//! Every misbehaviour of proxies and servers in `docs/contributing/misbehaviours.md`, played to every kind of transfer over hyper and reqwest.

mod cell;
mod fault;
mod play;
mod rows;
