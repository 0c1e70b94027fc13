//! `haft launch --supervised`: a child with a deadline, a status and a transcript.

use std::time::Duration;

use crate::world::World;

#[test]
fn a_supervised_agent_has_status_output_and_transcript() {
    let world = World::new().with_stand_in("");
    let transcript = world.scratch.text("transcript");
    let call = world.haft(&["launch", "--supervised", "--transcript", &transcript, "go"]);
    let run = call.env("STAND_IN_THEN", "exit 5").run().status(5);
    run.stdout("the stand-in has started\n").stderr_has("transcript: ");
    assert_eq!(world.read(&transcript), "the stand-in has started\n");
    assert_ne!(world.report().number("ppid"), i64::from(std::process::id()), "it is a child of haft's");
    assert!(world.leftovers().is_empty());
    let value = world.launch(&["--supervised", "--json", "go"]).json();
    assert_eq!((&value["agent"], &value["status"]["code"]), (&"it".into(), &0.into()));
    assert_eq!(world.read(value["transcript"].as_str().unwrap()), "the stand-in has started\n");
}

#[test]
fn the_deadline_ends_the_agent_and_its_processes() {
    let world = World::new().with_agents(&[]).with_config(
        "[[agent]]\nname = 'sh'\ncommand = ['{bin}', '-c', 'echo begun; sleep 300 & sleep 300', '{prompt}']",
    );
    let run = world.haft(&["launch", "--supervised", "--timeout", "1s", "--json", "go"]).run().status(124);
    let value = run.json();
    assert_eq!(value["status"]["timed_out"], true);
    assert_eq!(value["tree"]["survivors"], 0);
    assert_eq!(world.read(value["transcript"].as_str().unwrap()), "begun\n");
    run.within(Duration::from_secs(60));
}

#[test]
fn a_signal_ends_the_agent_after_context_commands_ran() {
    let world = World::new().with_agents(&[]).with_config(
        "[[agent]]\nname = 'sh'\ncommand = ['{bin}', '-c', 'echo > ready; sleep 300', '{prompt}']\n\
         [[context]]\nname = 'made'\ncommand = 'echo made'\nrequired = true\n",
    );
    for signal in [15, 2, 1] {
        let running = world.haft(&["launch", "--supervised", "go"]).start();
        world.scratch.await_lines("project/ready", 1);
        running.signal(signal);
        let _ = running.finish().status(130).within(Duration::from_secs(60));
        std::fs::remove_file(world.project().join("ready")).unwrap();
    }
}

#[test]
fn a_supervised_agent_in_an_overlay_changes_the_project_only_when_its_changes_are_committed() {
    let world = World::new().with_file("project/notes", "old\n").with_config(
        "[[agent]]\nname = 'sh'\ncommand = ['{bin}', '-c', 'echo new > notes; cat notes; echo > made', '{prompt}']",
    );
    let value = world.launch(&["--supervised", "--overlay", "--json", "go"]).json();
    assert_eq!(world.read(value["transcript"].as_str().unwrap()), "new\n", "the agent sees its own changes");
    let counts = &value["overlay"]["counts"];
    assert_eq!((&counts["added"], &counts["modified"]), (&1.into(), &1.into()), "{value}");
    let notes = world.project().join("notes");
    assert_eq!(world.read(&notes), "old\n");
    let id = value["overlay"]["id"].as_str().unwrap();
    for (action, content) in [("commit", "new\n"), ("undo", "old\n"), ("discard", "old\n")] {
        let _ = world.haft(&["changes", action, id]).run().status(0);
        assert_eq!(world.read(&notes), content, "after {action}");
    }
    assert!(!world.project().join("made").exists());
}

#[test]
fn the_deadline_and_the_disk_limit_of_an_agent_in_an_overlay_keep_its_changes() {
    for (option, limit, status) in [("--timeout", "1s", 124), ("--limit-disk", "1M", 137)] {
        let world = World::new().with_config(
            "[[agent]]\nname = 'sh'\ncommand = ['{bin}', '-c', 'head -c 3000000 /dev/zero > zeros; sleep 300', '{prompt}']",
        );
        let words = ["launch", "--supervised", "--overlay", option, limit, "--json", "go"];
        let value = world.haft(&words).run().status(status).json();
        assert_eq!(value["tree"]["survivors"], 0, "{value}");
        assert_eq!(value["overlay"]["counts"]["added"], 1, "{value}");
        assert!(!world.project().join("zeros").exists());
    }
}
