//! Programs in a mount namespace with an overlay.

use std::fs;
use std::sync::Arc;

use haft_process::{Command, Exit, Namespaces, OverlayMount, StartPermission};

#[test]
fn a_program_in_an_overlay_leaves_the_tree_as_it_is() {
    let place = tempfile::tempdir().expect("a directory");
    let [tree, upper, work] = ["tree, with:odd name", "upper", "work"].map(|name| place.path().join(name));
    for directory in [&tree, &upper, &work] {
        fs::create_dir(directory).expect("a directory");
    }
    fs::write(tree.join("kept"), "before").expect("a file");
    let mounts = [OverlayMount { tree: tree.clone(), upper: upper.clone(), work }];
    let namespaces = match Namespaces::with_overlays(&mounts) {
        Ok(namespaces) => Arc::new(namespaces),
        Err(error) => return eprintln!("skipped: {error}"),
    };

    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "echo after > kept; echo new > added; cat kept"]);
    command.working_directory(&tree).namespaces(namespaces.clone());
    let (exit, _) = command.spawn(&StartPermission::all()).expect("a child").wait().expect("its end");
    assert_eq!(exit, Exit::Code(0));
    assert_eq!(fs::read_to_string(tree.join("kept")).expect("a file"), "before");
    assert!(!tree.join("added").exists());
    assert_eq!(fs::read_to_string(upper.join("kept")).expect("a file"), "after\n");

    let mut again = Command::new("/bin/grep");
    again.arguments(["-q", "after", "kept"]).working_directory(&tree).namespaces(namespaces);
    let (exit, _) = again.spawn(&StartPermission::all()).expect("a child").wait().expect("its end");
    assert_eq!(exit, Exit::Code(0), "the next program sees the changes");
}
