//! Fixture: directories with tools.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use haft_config::Directories;
use haft_config::trust::{ContentHash, TrustStore};
use haft_process::{Environment, Host};
use haft_test_support::Scratch;
use haft_tools::{CallOptions, CoreOptions, Envelope, Registry, RegistryOptions, core_tools};
use serde_json::Value;

/// A system, a user and a project in one temporary directory.
pub(crate) struct ToolFixture {
    pub(crate) scratch: Scratch,
    pub(crate) host: Host,
}

impl ToolFixture {
    pub(crate) fn new() -> ToolFixture {
        let scratch = Scratch::new();
        for directory in ["system", "user/tools", "project/.haft/tools", "work"] {
            std::fs::create_dir_all(scratch.file(directory)).expect("a directory");
        }
        let host = Host::builder().run_directory(scratch.file("runs")).build();
        ToolFixture { scratch, host }
    }

    pub(crate) fn places(&self) -> Directories {
        Directories {
            system: Some(self.scratch.file("system")),
            user: Some(self.scratch.file("user")),
            project: Some(self.scratch.file("project/.haft")),
            state: Some(self.scratch.file("state")),
            cache: Some(self.scratch.file("cache")),
        }
    }

    /// Writes an executable file.
    pub(crate) fn write(&self, place: &str, text: &str) -> PathBuf {
        let path = self.scratch.file(place);
        let new = path.with_extension("new");
        std::fs::write(&new, text).expect("a file");
        std::fs::set_permissions(&new, PermissionsExt::from_mode(0o755)).expect("a mode");
        std::fs::rename(&new, &path).expect("a place");
        path
    }

    /// Writes a user's tool in sh: `says` are further fields of its schema, `does` is the body of a call.
    pub(crate) fn tool(&self, name: &str, says: &str, does: &str) -> PathBuf {
        self.write(&format!("user/tools/{}-tool", name.replace('_', "-")), &script(name, says, does))
    }

    pub(crate) fn trust(&self) -> TrustStore {
        TrustStore::open(self.places().state.as_deref())
    }

    /// Trusts a file with its current content.
    pub(crate) fn trust_file(&self, place: &str) {
        let path = self.scratch.file(place);
        let hash = ContentHash::of_file(&path).expect("a file");
        self.trust().trust([(path.as_path(), hash)]).expect("trusted");
    }

    pub(crate) fn options(&self) -> RegistryOptions {
        let environment = [("PATH", "/usr/bin:/bin"), ("SECRET_KEY", "s"), ("WANTED_KEY", "w")];
        RegistryOptions {
            // Generous, because the machine may be slow. Tools that must time out take much longer.
            schema_timeout: Duration::from_secs(20),
            environment: Arc::new(Environment::from_pairs(environment).expect("pairs")),
            directory: self.scratch.file("work"),
            natives: core_tools(&CoreOptions { shell: vec!["/bin/sh".into(), "-c".into()] }),
            ..RegistryOptions::default()
        }
    }

    pub(crate) fn registry(&self) -> Registry {
        self.registry_with(self.options())
    }

    pub(crate) fn registry_with(&self, options: RegistryOptions) -> Registry {
        Registry::open(self.host.clone(), &self.places(), self.trust(), options)
    }
}

/// The text of a tool in sh.
pub(crate) fn script(name: &str, says: &str, does: &str) -> String {
    let says = if says.is_empty() { String::new() } else { format!(", {says}") };
    let parameters = if says.contains("\"parameters\"") { "" } else { ", \"parameters\": {}" };
    format!(
        "#!/bin/sh\nif [ \"$1\" = --schema ]; then\ncat <<'END'\n{{\"name\": \"{name}\", \"description\": \"A test\"{parameters}{says}}}\nEND\nexit\nfi\n{does}\n"
    )
}

/// Calls a tool with default options.
pub(crate) fn call(registry: &Registry, name: &str, arguments: Value) -> Envelope {
    registry.call(name, arguments, &CallOptions::default())
}

/// The result of a successful call.
#[track_caller]
pub(crate) fn result(envelope: &Envelope) -> Value {
    match &envelope.outcome {
        Ok(value) => value.clone(),
        Err(error) => panic!("{error:?}\n{}", envelope.stderr),
    }
}

/// The code and message of a failed call.
#[track_caller]
pub(crate) fn error(envelope: &Envelope) -> (&'static str, String) {
    match &envelope.outcome {
        Ok(value) => panic!("a result: {value}"),
        Err(error) => (error.code.as_str(), error.message.clone()),
    }
}
