"""Object storage: a local server in place of S3, by Arrow's own file system and fsspec."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from fastmmd import DataError
from fastmmd.tables import open_source, sketch_source, two_sample_test

TABLE = pa.table(
    {
        "x": np.random.default_rng(0).normal(size=2000),
        "s": np.random.default_rng(1).choice(["a", "b"], 2000),
    }
)


def as_parquet(table):
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=600)
    return sink.getvalue()


def as_csv(table):
    sink = io.BytesIO()
    pacsv.write_csv(table, sink)
    return sink.getvalue()


@pytest.fixture(scope="module")
def bucket():
    """Start a server, fill a bucket, and point the environment to it."""
    server_module = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    server = server_module.ThreadedMotoServer(
        ip_address="127.0.0.1", port=0, verbose=False
    )
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_REGION", "us-east-1")
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="flights")
        for i, year in enumerate((2017, 2018)):
            client.put_object(
                Bucket="flights",
                Key=f"data/year={year}/part-0.parquet",
                Body=as_parquet(TABLE.slice(1000 * i, 1000)),
            )
        client.put_object(Bucket="flights", Key="data/_SUCCESS", Body=b"")
        client.put_object(Bucket="flights", Key="text/all.csv", Body=as_csv(TABLE))
        client.put_object(Bucket="flights", Key="text/broken.parquet", Body=b"PAR1 no")
        yield "flights"
        client.close()
    server.stop()


@pytest.mark.parametrize(
    ("url", "n_files"),
    [
        ("s3://flights/data", 2),
        ("s3://flights/data/", 2),
        ("s3://flights/data/year=2018", 1),
        ("s3://flights/data/year=*/*.parquet", 2),
        ("s3://flights/data/**/part-*.parquet", 2),
        ("s3://flights/text/all.csv", 1),
    ],
)
@pytest.mark.usefixtures("bucket")
def test_urls(url, n_files):
    source = open_source(url)
    assert len(source.files) == n_files
    rows = [
        row
        for part in source.parts()
        for batch in source.read(part, ["x", "s"])
        for row in batch.data.to_pylist()
    ]
    expected = TABLE.slice(1000) if "2018" in url else TABLE
    assert rows == expected.to_pylist()


@pytest.mark.usefixtures("bucket")
def test_a_sketch_of_remote_files_is_that_of_local_ones(tmp_path):
    for i, year in enumerate((2017, 2018)):
        place = tmp_path / f"year={year}"
        place.mkdir()
        (place / "part-0.parquet").write_bytes(as_parquet(TABLE.slice(1000 * i, 1000)))
    local, remote = (
        sketch_source(open_source(data, columns=["x", "s"]), stream="s", n_bins=16)
        for data in (tmp_path, "s3://flights/data")
    )
    assert local == remote
    assert two_sample_test("s3://flights/text/all.csv", tmp_path, rng=0).pvalue > 0.01


@pytest.mark.usefixtures("bucket")
def test_wrong_places_are_named():
    near = r"Did you mean `s3://flights/data/year=201[78]` or `s3://flights/data/year=201"
    with pytest.raises(DataError, match=rf"there is none\. {near}"):
        open_source("s3://flights/data/year=2019")
    with pytest.raises(DataError, match=r"Did you mean `s3://flights/text/all\.csv`\?"):
        open_source("s3://flights/txt/all.csv?region=us-east-1")
    with pytest.raises(
        DataError, match=r"`s3://flights/text/broken\.parquet` must be a complete"
    ):
        open_source("s3://flights/text/broken.parquet")
    with pytest.raises(
        DataError, match=r"`s3://flights/text/broken\.parquet` must be a complete"
    ):
        open_source("s3://flights/text/*.parquet?region=us-east-1")
    with pytest.raises(DataError, match=r"must be a file or a folder|can be reached"):
        open_source("s3://no-such-bucket/data")


@pytest.mark.usefixtures("bucket")
def test_a_file_system_can_be_given():
    system, _ = pafs.FileSystem.from_uri("s3://flights/data")
    assert open_source("flights/data", filesystem=system).n_rows == 2000
    with pytest.raises(DataError, match="must be in one place; got"):
        open_source(["s3://flights/data", "."])


def test_other_places_go_through_fsspec():
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.pipe("/lake/a.parquet", as_parquet(TABLE))
    system.pipe("/lake/b.csv.gz", b"")
    source = open_source("memory://lake/a.parquet")
    assert source.n_rows == 2000
    assert open_source("memory://lake/*.parquet").n_rows == 2000
    assert open_source("/lake/a.parquet", filesystem=system).n_rows == 2000
    system.rm("/lake", recursive=True)
