"""The real command on real files of each format gives what the library gives."""

from __future__ import annotations

import json

import pytest

from fastmmd import tables

FORMATS = {
    "parquet": ("a.parquet", "b.parquet", []),
    "hive partitions": ("a-hive", "b-hive", ["--exclude", "part"]),
    "csv": ("a.csv", "b.csv", []),
    "compressed csv": ("a.csv.gz", "b.csv.gz", []),
    "feather": ("a.feather", "b.feather", []),
    "arrow": ("a.arrow", "b.arrow", []),
    "json lines": ("a.jsonl", "b.jsonl", []),
    "npy": ("a.npy", "b.npy", []),
    "npz": ("a.npz", "b.npz", ["--array", "rows"]),
    "pattern": ("a-parts/day-*.parquet", "b-parts/*.parquet", []),
    "two formats": ("a.parquet", "b.csv", []),
}


QUICK = {"arrow", "two formats"}
"""Like others but for a name or a mixture: run in this process."""


@pytest.mark.parametrize("name", FORMATS)
def test_each_format(name, files, run, call):
    a, b, options = FORMATS[name]
    start = call if name in QUICK else run
    done = start("test", files / a, files / b, "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    array = "rows" if name == "npz" else None
    exclude = ["part"] if "--exclude" in options else None
    sources = [tables.open_source(files / path, array=array) for path in (a, b)]
    expected = tables.two_sample_test(*sources, exclude=exclude, rng=0)
    assert found == expected.to_dict()
    # A shift of 0.6 standard deviations in 300 and 250 rows.
    assert (found["n_x"], found["n_y"]) == (300, 250)
    assert found["pvalue"] == 0.001


def test_an_object_store(files, run, s3):
    urls = [s3(files / name) for name in ("a.parquet", "b.csv")]
    done = run("test", *urls, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["n_x"] == 300
    done = run("test", urls[0].replace("a.parquet", "c.parquet"), urls[1])
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")


@pytest.fixture(scope="module")
def s3():
    """Return a function that puts a file into a bucket of a local server."""
    boto3 = pytest.importorskip("boto3")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
    url = f"http://{host}:{port}"
    client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", **keys)
    client.create_bucket(Bucket="bucket")

    def put(path):
        client.upload_file(str(path), "bucket", f"data/{path.name}")
        place = f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"
        return f"s3://key:secret@bucket/data/{path.name}?{place}"

    yield put
    server.stop()


def test_options_for_text(tmp_path, call_json):
    for name, start in (("a", 0), ("b", 40)):
        lines = [f"{start + i};0{i % 7}" for i in range(60)]
        (tmp_path / f"{name}.data").write_text("\n".join(lines))
    found = call_json(
        *("test", tmp_path / "a.data", tmp_path / "b.data", "--format", "csv"),
        *("--delimiter", ";", "--no-header", "--types", "f1=string"),
    )
    assert found["n_x"] == 60
    tabs = tmp_path / "tabs.txt"
    tabs.write_text("x\ty\n1\t2\n")
    found = call_json("inspect", tabs, "--delimiter", "\\t")
    assert [column["name"] for column in found["columns"]] == ["x", "y"]
