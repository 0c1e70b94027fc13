//! Embeds the tool registry and calls a core tool.
//!
//! Run it with `cargo run -p haft-tools --example embed_registry`.

use haft_config::Directories;
use haft_config::trust::TrustStore;
use haft_process::Host;
use haft_tools::{CallOptions, CoreOptions, Registry, RegistryOptions, core_tools};
use serde_json::json;

pub(crate) fn main() {
    let options =
        RegistryOptions { natives: core_tools(&CoreOptions::default()), ..RegistryOptions::default() };
    let registry = Registry::open(Host::plain(), &Directories::default(), TrustStore::open(None), options);
    let arguments = json!({"pattern": "*.toml", "path": env!("CARGO_MANIFEST_DIR")});
    let envelope = registry.call("glob", arguments, &CallOptions::default());
    assert!(envelope.is_success());
    println!("{}", serde_json::to_string_pretty(&envelope).expect("an envelope is always valid JSON"));
}
