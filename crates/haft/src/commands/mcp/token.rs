//! The bearer token of the HTTP transport.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use haft_config::{FileError, FileRules, Owners, printable};
use haft_process::reason;

use crate::failure::Failure;

const MAX_TOKEN_FILE_BYTES: u64 = 4096;

/// A new random token.
pub(crate) fn generate() -> Result<String, Failure> {
    let mut bytes = [0; 24];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| failed("make a token", Path::new("/dev/urandom"), &error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The token in a file. A missing file is created with a new token, readable by its owner only.
pub(crate) fn from_file(path: &Path) -> Result<String, Failure> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(mut file) => {
            let token = generate()?;
            writeln!(file, "{token}").map_err(|error| failed("write the token", path, &error))?;
            Ok(token)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(error) => Err(failed("make the token file", path, &error)),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let refused = |error: FileError| Failure {
        hint: error.hint().map(str::to_owned),
        ..Failure::usage(format!("cannot read the token: '{}': {}", printable(path), error.reason()))
    };
    let owners = Owners::of_process();
    owners.check_secret(path).map_err(refused)?;
    let bytes = FileRules::up_to(MAX_TOKEN_FILE_BYTES).owned_by(&owners).read(path).map_err(refused)?;
    let text = String::from_utf8_lossy(&bytes);
    let token = text.trim();
    if token.len() < 16 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let hint = Some("a token is one line of at least 16 visible characters".to_owned());
        return Err(Failure { hint, ..Failure::usage(format!("no token in '{}'", path.display())) });
    }
    Ok(token.to_owned())
}

fn failed(doing: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot {doing}: '{}': {}", path.display(), reason(error)))
}
