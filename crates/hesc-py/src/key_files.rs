//! Files of secret keys: read and written here alone, so that their bytes do not pass through Python.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hesc_schemes::{SchemeError, sealing};
use pyo3::exceptions::{PyOSError, PyPermissionError};
use pyo3::prelude::*;
use zeroize::Zeroizing;

use crate::errors::{ParameterError, scheme_to_py};
use crate::workers::Compute;

/// Longest file that is read as a secret key: above the largest ring degree's.
const MAX_KEY_FILE: u64 = 1 << 20;

/// Refuses a file that others than its owner may touch, and one that is another user's.
#[cfg(unix)]
fn check_owner(py: Python<'_>, path: &Path, metadata: &Metadata) -> PyResult<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(PyPermissionError::new_err(format!(
            "{path:?} has mode {mode:04o}: others than its owner may read or change this secret key; run \
             chmod 600 on it, and make a new key if others had access"
        )));
    }
    let user: u32 = py.import("os")?.call_method0("geteuid")?.extract()?;
    let owner = metadata.uid();
    if owner != user {
        return Err(PyPermissionError::new_err(format!(
            "{path:?} belongs to user {owner} and you are user {user}: its owner can read and change this secret key; \
             load it as its owner, or give it to yourself with chown {user} and make a new key if others had access"
        )));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_py: Python<'_>, _path: &Path, _metadata: &Metadata) -> PyResult<()> {
    Ok(())
}

/// What the system refuses, as Python's error with the file's name.
fn named(error: &io::Error, path: &Path) -> PyErr {
    let text = error.to_string();
    let said = text.split(" (os error").next().map(str::to_owned);
    PyOSError::new_err((error.raw_os_error(), said, path.as_os_str().to_owned()))
}

/// The bytes of a key file, wiped when dropped. Nothing is read before the file's owner and mode are known.
fn read_key_file(py: Python<'_>, path: &Path) -> PyResult<Zeroizing<Vec<u8>>> {
    // Before it is opened: a pipe would wait for who writes.
    if !fs::metadata(path).map_err(|error| named(&error, path))?.is_file() {
        return Err(ParameterError::new_err(format!("{path:?} is no file, as secret keys are")));
    }
    let file = OpenOptions::new().read(true).open(path).map_err(|error| named(&error, path))?;
    let metadata = file.metadata()?;
    check_owner(py, path, &metadata)?;
    if metadata.len() > MAX_KEY_FILE {
        return Err(ParameterError::new_err(format!("{path:?} is longer than any secret key")));
    }
    // Reserved whole, so that no partial copy stays behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(metadata.len() as usize + 1));
    file.take(metadata.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a key file wants a passphrase.
#[pyfunction]
pub fn wants_passphrase(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    let file = read_key_file(py, &path)?;
    Ok(py.compute(|| sealing::is_sealed(&file)))
}

/// What `read` makes of the wire form of a secret key in a file, unsealed by the passphrase if it wants one: without
/// Python's lock, as unsealing takes its time.
pub fn read_secret<T: Send>(
    py: Python<'_>,
    path: &Path,
    passphrase: Option<&str>,
    read: impl FnOnce(&[u8]) -> PyResult<T> + Send,
) -> PyResult<T> {
    let file = read_key_file(py, path)?;
    py.compute(|| {
        let problem = match (sealing::is_sealed(&file), passphrase) {
            (true, Some(passphrase)) => {
                return read(&sealing::open(&file, passphrase.as_bytes()).map_err(scheme_to_py)?);
            }
            (false, None) => return read(&file),
            (true, None) => "it is missing",
            (false, Some(_)) => "this key file has none",
        };
        Err(scheme_to_py(SchemeError::Passphrase { problem }))
    })
}

/// Writes a new file that only its owner can read, to the disk. Who calls removes what an error leaves.
pub fn write_key_file(path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    Ok(file.sync_all()?)
}
