"""What only a process shows: signals, terminals, pipes, start-up and completion."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fastmmd import Sketch
from fastmmd.sketch.container import read_container

OFTEN = ("--checkpoint-seconds", "0.001", "--bins", "64")
"""A checkpoint after each batch: some megabytes of writing make the run last."""


def wait_for(path, process, stage="sampling"):
    """Wait until a checkpoint of a stage is there and the process is still at work."""
    end = time.monotonic() + 60
    while not path.exists() or stage_of(path) != stage:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.005)


def stage_of(path):
    return read_container(path, "fastmmd-checkpoint", 1)[0]["stage"]


@pytest.mark.parametrize(
    ("suffix", "stage"),
    [(".parquet", "sketching"), (".csv", "sampling"), (".csv", "sketching")],
)
def test_kill_and_resume_gives_the_same_bytes(suffix, stage, large, tmp_path, run, start):
    target, undisturbed = tmp_path / "killed.mmd", tmp_path / "undisturbed.mmd"
    large = large.with_suffix(suffix)
    words = ("sketch", large, *OFTEN, "-o")
    process = start(*words, target)
    wait_for(tmp_path / "killed.mmd.part", process, stage)
    process.kill()
    process.communicate()
    # Still at work when it was killed: otherwise nothing was tested.
    assert process.returncode == -signal.SIGKILL
    assert not target.exists()

    again = run(*words, target)
    assert again.returncode == 2
    assert "killed.mmd.part` is the checkpoint of an interrupted run" in again.stderr
    assert "--resume, or remove it" in again.stderr
    other = run(*words, target, "--resume", "--seed", "3")
    assert other.returncode == 3
    assert "must be the checkpoint of this run" in other.stderr

    # What a process leaves that is killed while it writes; others are not ours to remove.
    left = tmp_path / f".killed.mmd.part.{16 * 'a'}"
    kept = tmp_path / ".killed.mmd.part.mine"
    left.touch()
    kept.touch()
    resumed = run(*words, target, "--resume", "--json")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert '"rows": 300000' in resumed.stdout
    assert run("sketch", large, *OFTEN[2:], "-o", undisturbed).returncode == 0
    assert target.read_bytes() == undisturbed.read_bytes()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".killed.mmd.part.mine", "killed.mmd", "undisturbed.mmd"]


def test_interrupt_leaves_the_old_output(large, tmp_path, start):
    target = tmp_path / "out.mmd"
    old = b"FASTMMD\0 and what was there before"
    target.write_bytes(old)
    process = start("sketch", large, *OFTEN, "-o", target, text=True)
    wait_for(tmp_path / "out.mmd.part", process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert errors == (
        "error: interrupted; the same command with --resume goes on from here.\n"
    )
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["out.mmd", "out.mmd.part"]
    assert target.read_bytes() == old


def test_interrupt_before_the_first_checkpoint(files, tmp_path, call, monkeypatch):
    import fastmmd.tables

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fastmmd.tables, "sketch_source", interrupted)
    done = call("sketch", files / "a.parquet", "-o", tmp_path / "a.mmd")
    assert done.returncode == 130
    assert done.stderr == "error: interrupted; nothing was written.\n"
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(fastmmd.tables, "two_sample_test", interrupted)
    done = call("test", files / "a.parquet", files / "b.parquet")
    assert (done.returncode, done.stderr) == (130, "error: interrupted.\n")
    monkeypatch.setattr("fastmmd.cli.app.make_app", interrupted)
    assert call("--help").returncode == 130


# --- Pipes as output


@pytest.fixture
def stdout(tmp_path):
    """Return a link like /dev/stdout, in a place where a mistake does no harm."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("links of Linux")
    (tmp_path / "devices").mkdir()
    path = tmp_path / "devices" / "stdout"
    path.symlink_to("/proc/self/fd/1")
    return path


@pytest.mark.parametrize("report", [(), ("--json",)])
def test_a_sketch_goes_to_standard_output_alone(
    files, tmp_path, run, start, stdout, report
):
    words = ("sketch", files / "a.parquet", "--stream", "s", "-o")
    expected = tmp_path / "expected.mmd"
    assert run(*words, expected).returncode == 0
    process = start(*words, stdout, *report)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert output == expected.read_bytes()
    about = b'"rows": 300' if report else b"a sketch of 300 rows"
    assert about in errors
    # Into a file, as the shell would do it.
    with (tmp_path / "direct.mmd").open("wb") as stream:
        process = start(*words, stdout, *report, stdout=stream)
        _, errors = process.communicate(timeout=60)
    assert about in errors
    assert (tmp_path / "direct.mmd").read_bytes() == expected.read_bytes()
    merging = start("merge", expected, "-o", stdout, *report)
    output, errors = merging.communicate(timeout=60)
    assert output == expected.read_bytes()
    assert (b'"merged": 1' if report else b"from 1 sketch.") in errors
    assert stdout.is_symlink()
    assert [path.name for path in stdout.parent.iterdir()] == ["stdout"]


def test_a_named_pipe_is_written_to_and_the_report_stays(files, tmp_path, start):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start("sketch", files / "a.parquet", "-o", pipe)
    data = pipe.read_bytes()
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    assert b"a sketch of 300 rows" in output
    assert Sketch.from_bytes(data).count == 300
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_checkpoint_lies_beside_the_file_and_not_beside_a_link(large, tmp_path, start):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.mmd").symlink_to(tmp_path / "there" / "file.mmd")
    process = start("sketch", large, *OFTEN, "-o", tmp_path / "link.mmd")
    wait_for(tmp_path / "there" / "file.mmd.part", process)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    assert (tmp_path / "link.mmd").is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.mmd", "there"]
    assert [p.name for p in (tmp_path / "there").iterdir()] == ["file.mmd"]


# --- Terminals


def on_a_terminal(start, *words, **options):
    """Run a command on a terminal, and return its status and what is seen there."""
    master, slave = pty.openpty()
    process = start(*words, stdin=slave, stdout=slave, stderr=slave, **options)
    os.close(slave)
    seen = b""
    while True:
        ready, _, _ = select.select([master], [], [], 60)
        assert ready
        try:
            data = os.read(master, 4096)
        except OSError:  # the process has closed its end
            break
        if not data:
            break
        seen += data
    os.close(master)
    return process.wait(timeout=60), seen.decode()


def test_progress_on_a_terminal(large, tmp_path, start, run):
    words = ("sketch", large, *OFTEN, "-o", tmp_path / "a.mmd")
    status, seen = on_a_terminal(start, *words)
    assert status == 0
    assert "Sampling" in seen
    assert re.search(r"Sketching .*of 300,000 rows, .* rows/s, 0:00:\d\d left", seen)
    # A long path may break the line between any two words.
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
    assert "a sketch of 300,000 rows." in " ".join(plain.split())
    assert "\x1b[" in seen
    assert run(*words).stderr == ""


def test_reports_of_experiments_go_where_output_goes(tmp_path, start):
    # Bars on the terminal, the report into a file.
    words = ("reproduce", "sinusoids", "diameter", "--quick", "--out", tmp_path)
    report = tmp_path / "report.txt"
    master, slave = pty.openpty()
    with report.open("wb") as stream:
        process = start(*words, stdin=slave, stdout=stream, stderr=slave)
        os.close(slave)
        seen = b""
        with contextlib.suppress(OSError):  # the process has closed its end
            while data := os.read(master, 4096):
                seen += data
    os.close(master)
    assert process.wait(timeout=60) == 0
    assert "Experiments" in seen.decode()
    text = report.read_text()
    assert text.startswith("sinusoids, Figure 1: holds.\n")
    assert "\ndiameter, Figure 2: holds partly.\n" in text
    assert "claim" not in seen.decode()


@pytest.fixture
def seen(capsys, monkeypatch):
    """Return a function that runs a command here as on a terminal."""
    from fastmmd.cli import main

    def seen(*words):
        monkeypatch.setenv("TERM", "xterm")
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: True)
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return seen


def test_a_terminal_in_this_process(files, tmp_path, seen, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    target = tmp_path / "a.mmd"
    status, output, errors = seen("sketch", files / "a.csv", "-o", target, "--resume")
    assert status == 0
    assert "Reading" in errors
    assert "Sampling" in errors
    assert "\x1b[1mWrote" in output
    target.with_name("a.mmd.part").touch()
    status, output, errors = seen("sketch", files / "a.csv", "-o", target, "--resume")
    assert status == 3
    assert output == ""
    assert "\x1b[1;31merror:" in errors
    status, output, _ = seen("test", files / "a.npy", files / "b.npy", "--quiet")
    assert (status, "\x1b[1;33mThe samples differ" in output) == (0, True)


def test_no_colours_where_none_are_wanted(files, seen, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    status, output, _ = seen("test", files / "a.npy", files / "b.npy", "--quiet")
    assert (status, "p-value" in output) == (0, True)
    # Bold is no colour; 30 to 39 and 90 to 97 are.
    assert not re.search(r"\x1b\[[\d;]*(3|9)\d[\d;]*m", output)


# --- Pipes


@pytest.mark.parametrize("words", [("--help",), ("inspect", "{}/a.parquet")])
def test_a_closed_pipe_is_no_news(words, files, start):
    with start(*(word.format(files) for word in words)) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


# --- Start-up


def test_help_loads_nothing_heavy(environment):
    code = (
        "import sys, time; from fastmmd.cli import main; main(['--help']); "
        "print('LOADED', *sys.modules); print(time.process_time())"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    shown = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
    loaded, seconds = shown.partition("LOADED")[2].strip().split("\n")
    heavy = {"numpy", "pyarrow", "scipy", "pandas"}
    assert not heavy & set(loaded.split())
    assert float(seconds) < 1.0


# --- Completion


def completions(script, line, cwd, environment):
    """Return what bash offers at the end of a line."""
    words = line.split(" ")
    code = f"""
        source {script}
        name=$(complete -p fastmmd | sed -E 's/.*-F ([^ ]+) .*/\\1/')
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
        COMP_CWORD={len(words) - 1}
        COMP_LINE='{line}'
        COMP_POINT={len(line)}
        "$name"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    command = ["bash", "--norc", "--noprofile", "-c", code]
    done = subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, check=True
    )
    return [word.strip() for word in done.stdout.splitlines()]


def test_completion_in_bash(run, files, tmp_path, environment):
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    script = tmp_path / "fastmmd.bash"
    script.write_text(run("completion", "bash").stdout)
    assert completions(script, "fastmmd me", files, environment) == ["merge"]
    offered = completions(script, "fastmmd test --fail", files, environment)
    assert offered == ["--fail-on-difference"]
    offered = completions(script, "fastmmd test --missing ", files, environment)
    assert set(offered) == {"raise", "drop", "indicator"}
    assert completions(script, "fastmmd test fl", files, environment) == [
        "flights.parquet"
    ]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_for_other_shells(shell, call):
    assert "fastmmd" in call("completion", shell).stdout
