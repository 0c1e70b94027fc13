//! Ordinary work goes on under the policy 'workspace'.

use std::path::Path;

use crate::support::{Place, has_landlock};

#[test]
fn git_make_and_python_work_in_the_project() {
    if !has_landlock() {
        return;
    }
    let place = Place::new();
    let script = "set -e
        git init -q .; git config user.email a@b; git config user.name n
        echo 'int main(void) { return 0; }' > main.c
        printf 'main: main.c\\n\\tcc -o main main.c\\n' > Makefile
        make -s; ./main
        git add main.c Makefile; git commit -qm first; git stash -q -u > /dev/null; git stash pop -q > /dev/null; git log --oneline | wc -l
        python3 -m venv --without-pip env; env/bin/python -c 'import json, tempfile; print(tempfile.TemporaryFile().write(b\"x\"))'
        seq 3 | sort -r > sorted; cat sorted | head -n 1; mktemp > /dev/null";
    let run = place.haft(Path::new("workspace")).args(["-c", script]).run();
    assert_eq!(run.output_text(), "1\n1\n3\n", "{}", run.error_text());
}
