"""Sources: every format, folders, patterns, parts, filters, and files that are broken."""

from __future__ import annotations

import bz2
import gzip
import itertools
import json
import pickle
import re
import shutil

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from fastmmd import DataError, MissingDependencyError
from fastmmd.tables import Part, Schema, open_source
from fastmmd.tables.part import rebatch

N = 1000


def make(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "x": rng.normal(size=n),
            "i": rng.integers(0, 100, n),
            "s": rng.choice(["a", "b", "c"], n),
            "b": rng.random(n) < 0.5,
            "t": pa.array(
                np.datetime64("2018-01-01", "s")
                + rng.integers(0, 10**6, n).astype("m8[s]")
            ),
        }
    )


TABLE = make()


def write_jsonl(table, path, opener=open):
    records = table.set_column(4, "t", table["t"].cast(pa.string())).to_pylist()
    with opener(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def write_compressed(table, path, compress):
    pacsv.write_csv(table, path.with_suffix(""))
    path.write_bytes(compress(path.with_suffix("").read_bytes()))
    path.with_suffix("").unlink()


def write_stream(table, path):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table, max_chunksize=300)


WRITERS = {
    "a.parquet": lambda t, p: pq.write_table(t, p, row_group_size=300),
    "a.pq": pq.write_table,
    "a.csv": pacsv.write_csv,
    "a.tsv": lambda t, p: pacsv.write_csv(t, p, pacsv.WriteOptions(delimiter="\t")),
    "a.csv.gz": lambda t, p: write_compressed(t, p, gzip.compress),
    "a.csv.bz2": lambda t, p: write_compressed(t, p, bz2.compress),
    "a.csv.zst": lambda t, p: write_compressed(
        t, p, lambda data: pa.compress(data, "zstd", asbytes=True)
    ),
    "a.feather": lambda t, p: feather.write_feather(t, str(p), chunksize=300),
    "a.arrow": lambda t, p: pl.from_arrow(t).write_ipc(p),
    "a.arrows": write_stream,
    "a.jsonl": write_jsonl,
    "a.ndjson.gz": lambda t, p: write_jsonl(t, p, gzip.open),
}


def read_all(source, columns=None, **options):
    """Return all rows of a source with their file and number."""
    found = []
    for part in source.parts():
        for batch in source.read(part, columns, **options):
            found += [
                ((part.file, int(number)), row)
                for number, row in zip(
                    batch.row_numbers, batch.data.to_pylist(), strict=True
                )
            ]
    return found


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_rows(name, tmp_path):
    WRITERS[name](TABLE, tmp_path / name)
    source = open_source(tmp_path / name)
    assert source.schema.names == TABLE.column_names
    numbers, rows = zip(*read_all(source, batch_rows=128), strict=True)
    assert list(numbers) == [("", i) for i in range(N)]
    # Whole numbers of text formats come as floats, which are equal.
    assert list(rows) == TABLE.to_pylist()


@pytest.mark.parametrize("name", WRITERS)
def test_some_columns_and_some_rows(name, tmp_path):
    WRITERS[name](TABLE, tmp_path / name)
    source = open_source(tmp_path / name, columns=["s", "x"], where="i < 10 and b")
    assert source.schema.names == ["s", "x"]
    expected = [
        (("", i), {"s": row["s"], "x": row["x"]})
        for i, row in enumerate(TABLE.to_pylist())
        if row["i"] < 10 and row["b"]
    ]
    assert read_all(source, batch_rows=100) == expected
    assert read_all(source, ["x"]) == [(k, {"x": row["x"]}) for k, row in expected]


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.feather", "a.jsonl"])
@pytest.mark.parametrize("rows", [1, 7, 128, 300, 999, 1000, 5000])
def test_batches_have_the_rows_asked_for(name, rows, tmp_path):
    WRITERS[name](TABLE, tmp_path / name)
    source = open_source(tmp_path / name)
    for part in source.parts():
        sizes = [batch.n_read for batch in source.read(part, ["x"], batch_rows=rows)]
        total = part.n_rows or N
        assert sizes[:-1] == [rows] * ((total - 1) // rows)
        assert sum(sizes) == total


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.feather"])
def test_reading_can_start_later(name, tmp_path):
    WRITERS[name](TABLE, tmp_path / name)
    source = open_source(tmp_path / name)
    part = source.parts()[-1]
    whole = [b.data for b in source.read(part, batch_rows=32)]
    later = [b.data for b in source.read(part, batch_rows=32, skip=64)]
    assert later == whole[2:]
    first = next(iter(source.read(part, batch_rows=32, skip=64)))
    assert first.row_numbers[0] == part.first_row + 64


def test_strings_and_bytes_of_parquet(tmp_path):
    words = ["a", "b", None, "a"]
    table = pa.table(
        {
            "plain": words,
            "large": pa.array(words, pa.large_string()),
            "coded": pa.array(words).dictionary_encode(),
            "bytes": pa.array([b"u", b"v", None, b"u"]),
            "fixed": pa.array([b"uu", b"vv", None, b"uu"], pa.binary(2)),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    source = open_source(tmp_path / "a.parquet")
    (batch,) = source.read(source.parts()[0])
    assert batch.data.to_pylist() == table.to_pylist()
    assert Schema.infer(table, missing="indicator") == Schema.infer(
        batch.data, missing="indicator"
    )


# --- NumPy


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", ">f8", "?", "g"])
@pytest.mark.parametrize("suffix", ["npy", "npz", "compressed.npz"])
def test_arrays(order, dtype, suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("fastmmd.tables.formats.numpy_files._PIECE_ROWS", 300)
    values = np.array(
        10 * np.random.default_rng(0).normal(size=(N, 3)), dtype, order=order
    )
    path = tmp_path / f"a.{suffix}"
    if suffix == "npy":
        np.save(path, values)
    else:
        (np.savez if suffix == "npz" else np.savez_compressed)(path, values)
    source = open_source(path)
    assert source.schema.names == ["c0", "c1", "c2"]
    assert source.n_rows == N
    assert [p.n_rows for p in source.parts()] == (
        [300, 300, 300, 100] if suffix == "npy" else [N]
    )
    numbers, rows = zip(*read_all(source, batch_rows=128), strict=True)
    assert [number for _, number in numbers] == list(range(N))
    found = np.array([list(row.values()) for row in rows])
    np.testing.assert_array_equal(found, values.astype("f8" if dtype != "?" else "?"))
    some = [list(row.values()) for _, row in read_all(source, ["c2", "c0"])]
    np.testing.assert_array_equal(np.array(some), found[:, [2, 0]])


def test_arrays_of_other_shapes(tmp_path):
    np.save(tmp_path / "one.npy", np.arange(5.0))
    assert read_all(open_source(tmp_path / "one.npy"))[4] == (("", 4), {"c0": 4.0})
    fields = [("x", "f8"), ("name", "U3"), ("when", "M8[D]"), ("long", "m8[h]")]
    rows = np.array([(1.5, "ab", "2018-01-01", 3), (2.5, "c", "2018-01-02", 4)], fields)
    np.save(tmp_path / "fields.npy", rows)
    source = open_source(tmp_path / "fields.npy")
    assert source.schema.names == ["x", "name", "when", "long"]
    assert read_all(source, ["name", "x"])[1] == (("", 1), {"name": "c", "x": 2.5})
    np.savez(tmp_path / "columns.npz", a=np.arange(3), b=np.array(["u", "v", "w"]))
    source = open_source(tmp_path / "columns.npz")
    assert read_all(source)[2][1] == {"a": 2, "b": "w"}
    np.save(tmp_path / "none.npy", np.empty((0, 2)))
    assert read_all(open_source(tmp_path / "none.npy")) == []


def test_an_array_of_several_is_chosen_by_name(tmp_path):
    path = tmp_path / "two.npz"
    np.savez(path, x=np.zeros((3, 2)), y=np.ones((4, 2)))
    with pytest.raises(
        DataError, match=r"x \(3, 2\), y \(4, 2\). Choose one with `array`"
    ):
        open_source(path)
    assert len(read_all(open_source(path, array="y"))) == 4
    with pytest.raises(DataError, match=r"got 'z'. It has x, y"):
        open_source(path, array="z")
    np.savez(path, x=np.zeros(3), y=np.ones(4))
    with pytest.raises(DataError, match="one of one dimension for each column"):
        open_source(path)


@pytest.mark.parametrize(
    "values", [np.zeros((2, 2, 2)), np.array([1j]), np.array([{"a": 1}], dtype=object)]
)
def test_arrays_that_are_no_rows_are_refused(values, tmp_path):
    np.save(tmp_path / "a.npy", values, allow_pickle=True)
    with pytest.raises(DataError, match="must hold rows of plain values"):
        open_source(tmp_path / "a.npy")


# --- Text


def csv(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_types_of_later_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("fastmmd.tables.formats.csv._SNIFF_BYTES", 64)
    lines = "\n".join(["1,,x,"] * 100)
    path = csv(tmp_path / "a.csv", f"i,late,s,never\n{lines}\n2.5,7,y,\n3,8.5,z,\n")
    source = open_source(path)
    assert source.schema.field("i").type == pa.int64()
    assert source.schema.field("late").type == pa.float64()
    assert source.schema.field("never").type == pa.null()
    # Fractions may follow whole numbers, and numbers emptiness.
    last = [row for _, row in read_all(source)][-2:]
    assert [(row["i"], row["late"]) for row in last] == [(2.5, 7.0), (3.0, 8.5)]


def test_missing_text_quotes_and_lines_within_values(tmp_path):
    path = csv(tmp_path / "a.csv", 's,x\n"two\nlines",1\n"",2\n,3\nNA,4\n"NA",5\n')
    found = [row["s"] for _, row in read_all(open_source(path))]
    assert found == ["two\nlines", "", None, None, "NA"]


def test_options_of_text(tmp_path):
    path = csv(tmp_path / "a.csv", "1;x\n2;y\n")
    source = open_source(path, delimiter=";", header=False)
    assert source.schema.names == ["f0", "f1"]
    (tmp_path / "b.csv").write_bytes("s\nZürich\n".encode("latin-1"))
    source = open_source(tmp_path / "b.csv", encoding="latin-1")
    assert read_all(source) == [(("", 0), {"s": "Zürich"})]
    path = csv(tmp_path / "c.csv", "zip\n01234\n")
    assert read_all(open_source(path))[0][1] == {"zip": 1234}
    for name in ("string", "large_string", pa.string()):
        assert read_all(open_source(path, types={"zip": name}))[0][1] == {"zip": "01234"}
    with pytest.raises(ValueError, match=r"`types` must name types.*got 'words'"):
        open_source(path, types={"zip": "words"})
    with pytest.raises(DataError, match=r"`types` must name columns.*Did you mean `zip`"):
        open_source(path, types={"zp": "string"})
    pq.write_table(TABLE, tmp_path / "d.parquet")
    with pytest.raises(ValueError, match="must be left out for parquet files"):
        open_source(tmp_path / "d.parquet", types={"x": "string"})


def test_types_of_several_text_files_are_joined(tmp_path):
    csv(tmp_path / "1.csv", "a,b,c,d,e\n1,1,2018-01-01,,true\n")
    csv(tmp_path / "2.csv", "a,b,c,d,e\n1.5,x,2018-01-01T10:00:00,7,maybe\n")
    source = open_source(tmp_path)
    types = dict(zip(source.schema.names, source.schema.types, strict=True))
    assert types["a"] == pa.float64()
    assert types["b"] == types["e"] == pa.string()
    assert pa.types.is_timestamp(types["c"])
    assert [row["b"] for _, row in read_all(source)] == ["1", "x"]
    assert [row["e"] for _, row in read_all(source)] == ["true", "maybe"]


def test_fields_of_json(tmp_path, monkeypatch):
    monkeypatch.setattr("fastmmd.tables.formats.json_lines._SNIFF_BYTES", 2000)
    path = tmp_path / "a.jsonl"
    lines = [
        '{"i": 1, "t": "2018-01-01T00:00:00.250", "z": "2018-01-01T00:00:00.5Z"}'
    ] * 50
    path.write_text("\n".join([*lines, '{"i": 2.5, "new": 3}']), encoding="utf-8")
    source = open_source(path)
    assert source.schema.names == ["i", "t", "z"]
    assert source.schema.field("t").type == pa.timestamp("us")
    assert source.schema.field("z").type == pa.timestamp("us", "UTC")
    assert read_all(source)[-1][1] == {"i": 2.5, "t": None, "z": None}
    source = open_source(path, types={"new": "float", "i": "float"})
    assert read_all(source)[-1][1]["new"] == 3.0


# --- Folders, patterns, lists


@pytest.fixture
def folder(tmp_path):
    """Return a folder of four files in two levels, with things beside that are no data."""
    root = tmp_path / "flights"
    for year in (2017, 2018):
        for month in ("a b", "__HIVE_DEFAULT_PARTITION__"):
            place = root / f"year={year}" / f"month={month.replace(' ', '%20')}"
            place.mkdir(parents=True)
            pq.write_table(
                make(60, seed=year), place / "part-0.parquet", row_group_size=25
            )
    (root / "_SUCCESS").touch()
    (root / "_metadata").write_text("no data")
    (root / ".crc").mkdir()
    (root / ".crc" / "x.parquet").write_text("no data")
    (root / "README.md").write_text("notes")
    return root


def test_folders_name_columns(folder):
    source = open_source(folder)
    assert source.schema.names == [*TABLE.column_names, "year", "month"]
    assert source.schema.field("year").type == pa.int64()
    assert source.n_rows == 240
    assert source.n_bytes == sum(p.stat().st_size for p in folder.glob("year*/*/*"))
    rows = read_all(source, ["year", "month"])
    assert {tuple(row.values()) for _, row in rows} == {
        (2017, "a b"),
        (2018, "a b"),
        (2017, None),
        (2018, None),
    }
    parts = source.parts()
    assert len(parts) == 12
    assert parts[0].file == "year=2017/month=__HIVE_DEFAULT_PARTITION__/part-0.parquet"
    assert [(p.piece, p.first_row, p.n_rows) for p in parts[:3]] == [
        (0, 0, 25),
        (1, 25, 25),
        (2, 50, 10),
    ]


def test_a_filter_on_folders_leaves_their_files_unread(folder):
    damaged = folder / "year=2017" / "month=a%20b" / "part-0.parquet"
    source = open_source(folder)
    damaged.write_bytes(b"no more")
    only = source.filter("year == 2018 and x > 0")
    assert {part.file[:9] for part in only.parts()} == {"year=2018"}
    assert all(row["x"] > 0 for _, row in read_all(only))
    assert len(source.filter("month == 'a b'").parts()) == 6
    # Either side may decide: nothing can be left out.
    assert len(source.filter("year == 2018 or x > 0").parts()) == 12


@pytest.mark.parametrize(
    ("pattern", "n_files"),
    [
        ("flights/year=2018", 2),
        ("flights/year=2018/", 2),
        ("flights/**/*.parquet", 4),
        ("flights/**", 4),
        ("flights/year=201[78]/*/*.parquet", 4),
        ("flights/year=*8/**/part-?.parquet", 2),
        ("flights/year=*", 4),
        ("f*/year=2017/month=a*/part-0.parquet", 1),
    ],
)
def test_patterns(folder, pattern, n_files):
    source = open_source(str(folder.parent / pattern))
    assert len(source.files) == n_files
    assert source.n_rows == 60 * n_files


def test_the_same_file_has_the_same_name_by_folder_and_by_pattern(folder):
    names = [p.file for p in open_source(folder).parts()]
    assert [p.file for p in open_source(f"{folder}/*/*/*.parquet").parts()] == names
    assert [p.file for p in open_source(f"{folder}/**").parts()] == names
    files = sorted(folder.glob("year=*/*/*.parquet"))
    assert [p.file for p in open_source(files[::-1]).parts()] == names


def test_lists(tmp_path):
    for name in "ab":
        pq.write_table(TABLE, tmp_path / f"{name}.parquet")
    source = open_source([tmp_path / "b.parquet", str(tmp_path / "a.parquet")])
    assert [part.file for part in source.parts()] == ["a.parquet", "b.parquet"]
    assert open_source([tmp_path / "a.parquet"]).parts()[0].name is None
    with pytest.raises(DataError, match=r"every file once; got `.*b\.parquet` twice"):
        open_source([tmp_path / "b.parquet", tmp_path])
    with pytest.raises(DataError, match="at least one file; got an empty list"):
        open_source([])


def test_columns_that_only_some_files_have_are_left_out(tmp_path):
    pq.write_table(TABLE.drop_columns("s"), tmp_path / "a.parquet")
    pq.write_table(TABLE.drop_columns("b"), tmp_path / "b.parquet")
    assert open_source(tmp_path).schema.names == ["x", "i", "t"]
    pq.write_table(TABLE.select(["s"]), tmp_path / "b.parquet")
    with pytest.raises(DataError, match="columns that all its files have in common"):
        open_source(tmp_path)


def test_files_of_other_types(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [1], "c": [True]}), tmp_path / "a.parquet")
    other = pa.table({"a": pa.array([1.5], pa.float32()), "b": pa.nulls(1), "c": [2]})
    pq.write_table(other, tmp_path / "b.parquet")
    source = open_source(tmp_path)
    assert source.schema.field("a").type == source.schema.field("c").type == pa.float64()
    assert len(read_all(source)) == 2
    pq.write_table(pa.table({"a": ["x"], "b": [1], "c": [True]}), tmp_path / "b.parquet")
    with pytest.raises(
        DataError, match=r"column `a` must hold the same kind.*int64 in `.*a"
    ):
        open_source(tmp_path)


def test_format_by_name_content_or_option(tmp_path):
    WRITERS["a.parquet"](TABLE, tmp_path / "plain")
    WRITERS["a.feather"](TABLE, tmp_path / "other")
    assert open_source(tmp_path / "plain").format == "Parquet"
    assert open_source(tmp_path / "other").format == "Arrow"
    pacsv.write_csv(TABLE, tmp_path / "part-00000")
    with pytest.raises(DataError, match="known format, by its name or its first bytes"):
        open_source(tmp_path / "part-00000")
    assert open_source(tmp_path / "part-00000", format="csv").format == "CSV"
    with pytest.raises(DataError, match=r"must hold data files; none.*pass `format`"):
        open_source(tmp_path)
    with pytest.raises(ValueError, match='`format` must be one of "parquet", "csv"'):
        open_source(tmp_path, format="xml")
    folder = tmp_path / "lake"
    folder.mkdir()
    pacsv.write_csv(TABLE, folder / "part-00000")
    assert len(open_source(folder, format="csv").files) == 1
    pacsv.write_csv(TABLE, folder / "a.csv")
    pq.write_table(TABLE, folder / "a.parquet")
    with pytest.raises(DataError, match="files of one format; got csv, parquet"):
        open_source(folder)


# --- What a source is


def test_the_text_of_a_source_is_short(folder):
    text = repr(open_source(folder, where="x > 0"))
    assert text == f"<Source {str(folder)!r}: Parquet, 4 files, 7 columns, filtered>"
    assert repr(open_source(TABLE)) == "<Source 'table': table, 1 file, 5 columns>"


def test_a_table_is_a_source():
    source = open_source(pl.from_arrow(TABLE), where="s == 'a' and x > 0")
    assert source.format == "table"
    assert source.n_rows == N
    expected = [
        (("", i), row)
        for i, row in enumerate(TABLE.to_pylist())
        if row["s"] == "a" and row["x"] > 0
    ]
    assert read_all(source, batch_rows=77) == expected
    assert source.fingerprint() is None
    assert open_source(source) is source


def test_sources_and_parts_can_be_sent_elsewhere(folder):
    source = open_source(folder, where="x > 0 and year == 2018")
    other = pickle.loads(pickle.dumps(source))
    assert other.parts() == source.parts()
    assert read_all(other) == read_all(source)
    for part in source.parts():
        assert Part.from_json(json.loads(json.dumps(part.to_json()))) == part
    with pytest.raises(DataError, match="`part` must be one of the source"):
        next(source.read(Part("elsewhere.parquet")))
    with pytest.raises(DataError, match="`part` must be one of the source"):
        next(source.read(Part("zzz")))


def test_the_fingerprint_tells_other_data(tmp_path):
    path = tmp_path / "a.csv"
    pacsv.write_csv(TABLE, path)
    first = open_source(path).fingerprint()
    assert open_source(path).fingerprint() == first
    assert open_source(path, where="x > 0").fingerprint() != first
    assert open_source(path, types={"i": "string"}).fingerprint() != first
    shutil.copy(path, tmp_path / "b.csv")
    assert open_source(tmp_path / "b.csv").fingerprint() != first
    pacsv.write_csv(TABLE.slice(1), path)
    assert open_source(path).fingerprint() != first


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("s=a,b", [("s", "a"), ("s", "b")]),
        (" i = 3, 7 ", [("i", 3), ("i", 7)]),
        ("b=true,false", [("b", True), ("b", False)]),
        ("b", [("b", False), ("b", True)]),
        ("s", [("s", "a"), ("s", "b"), ("s", "c")]),
    ],
)
def test_one_source_is_split_by_a_column(by, expected):
    sources = open_source(TABLE).split(by)
    for source, (name, value) in zip(sources, expected, strict=True):
        assert name not in source.schema.names
        rows = TABLE.to_pylist()
        numbers = [number for (_, number), _ in read_all(source)]
        assert numbers == [i for i, row in enumerate(rows) if row[name] == value]
        assert source.name.startswith(f"table [{name}=")


def test_splitting_that_makes_no_sense_is_refused():
    source = open_source(TABLE)
    with pytest.raises(DataError, match="at least 2 different values of `s`; got"):
        source.split("s=a")
    with pytest.raises(DataError, match="at least 2 different values"):
        source.split("s=a,a")
    with pytest.raises(DataError, match=r"`by` must name columns.*got `z`"):
        source.split("z=1,2")
    with pytest.raises(
        DataError, match="`by` must give values of `i`, which is int64; got 'a'"
    ):
        source.split("i=a,b")
    with pytest.raises(
        DataError, match=r'few values.*more than 20. Write for instance "i='
    ):
        source.split("i")


def test_splitting_by_folder(folder):
    first, second = open_source(folder).split("year=2017,2018")
    assert {part.file[:9] for part in first.parts()} == {"year=2017"}
    assert len(read_all(second)) == 120
    words = pa.table({"s": pa.array(["u", "v", "u"]).dictionary_encode()})
    assert len(open_source(words.append_column("x", [[1, 2, 3]])).split("s")) == 2


# --- What is refused


def test_wrong_paths_say_what_is_near(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "sub" / "flights.parquet").touch()
    (tmp_path / "flights.parquet").touch()
    monkeypatch.chdir(tmp_path)
    for typed, meant in (
        ("flihgts.parquet", "flights.parquet"),
        ("./flihgts.parquet", "./flights.parquet"),
        ("sub/flight.parquet", "sub/flights.parquet"),
        ("subb/flights.parquet", "sub/flights.parquet"),
        ("subb/what.csv", "sub"),
        (tmp_path / "flihgts.parquet", tmp_path / "flights.parquet"),
    ):
        message = f"`{typed}` must be a file or a folder; there is none. Did you mean `{meant}`?"
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            open_source(typed)
    # What can be read comes first.
    with pytest.raises(
        DataError, match=r"In `\.` there is `flights.parquet`, `empty`, `sub`\.$"
    ):
        open_source("zzzzzz/deep/deeper.csv")
    with pytest.raises(DataError, match=r"there is none\.$"):
        open_source(tmp_path / "empty" / "x.csv")
    with pytest.raises(DataError, match="must be a pattern that some files match; none"):
        open_source(str(tmp_path / "*.csv"))
    with pytest.raises(DataError, match=r"empty` must hold data files; none is there"):
        open_source(tmp_path / "empty")
    for i in range(9):
        (tmp_path / f"{i}.csv").touch()
    with pytest.raises(DataError, match=r"there is `0\.csv`, .*`4\.csv`, …"):
        open_source("zzzzzz")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("bad.csv", "bad.csv"),
        ("./bad.csv", "./bad.csv"),
        ("sub", "sub/bad.csv"),
        ("sub/", "sub/bad.csv"),
        ("sub/b*.csv", "sub/bad.csv"),
        ("*/bad.csv", "sub/bad.csv"),
        ("b?d.csv", "bad.csv"),
        (["sub/good.csv", "bad.csv"], "bad.csv"),
        (["sub", "good.csv"], "sub/bad.csv"),
    ],
)
def test_files_are_called_as_they_were_typed(typed, shown, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    for place in (tmp_path, tmp_path / "sub"):
        csv(place / "bad.csv", "a,b\n1,2\n3\n")
        csv(place / "good.csv", "a,b\n1,2\n3,4\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=f"^`{re.escape(shown)}`, line 3, must"):
        open_source(typed)
    absolute = [tmp_path / own for own in typed] if isinstance(typed, list) else typed
    absolute = absolute if isinstance(typed, list) else tmp_path / typed
    with pytest.raises(DataError, match=f"^`{re.escape(str(tmp_path))}/.*bad.csv`, line"):
        open_source(absolute if isinstance(absolute, list) else str(absolute))


@pytest.mark.parametrize("thing", [3, None, {"a": 1}, np.zeros(3)])
def test_what_is_no_path_is_refused(thing):
    with pytest.raises(TypeError, match="`data` must be a path, a URL, a list of these"):
        open_source(thing)


def test_unknown_columns_are_refused():
    source = open_source(TABLE)
    with pytest.raises(DataError, match=r"`columns` must name columns.*got `z`"):
        open_source(source, columns=["z"])
    with pytest.raises(TypeError, match="`columns` must be a list"):
        open_source(source, columns="x")
    with pytest.raises(
        DataError, match=r"`where` must name columns.*got `xx`. Did you mean `x`"
    ):
        open_source(source, where="xx > 3")
    with pytest.raises(DataError, match="compare `s` with a string; got 3"):
        open_source(source, where="s > 3")
    with pytest.raises(DataError, match="`columns` must name columns"):
        next(source.read(source.parts()[0], ["z"]))


def cut(path, keep):
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data))])


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.npy", "a.npz"])
@pytest.mark.parametrize("keep", [0.0, 0.001, 0.5, 0.99])
def test_broken_files_are_named(name, keep, tmp_path):
    path = tmp_path / name
    if name.startswith("a.np"):
        (np.save if name == "a.npy" else np.savez)(path, np.ones((1000, 3)))
    else:
        WRITERS[name](TABLE, path)
    cut(path, keep)
    with pytest.raises(
        DataError, match=rf"`.*{name}` must be a complete \w+ file; .*\.$"
    ):
        read_all(open_source(path))


def test_a_damaged_row_group_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path, write_page_checksum=True)
    data = bytearray(path.read_bytes())
    data[100:3000] = bytes(2900)
    path.write_bytes(data)
    source = open_source(path)
    with pytest.raises(
        DataError, match=r"`.*a\.parquet` must be a complete Parquet file"
    ):
        read_all(source)


def test_files_that_one_may_not_read_are_named(tmp_path, monkeypatch):
    pq.write_table(TABLE, tmp_path / "a.parquet")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    # Root may read everything, so the refusal is played.
    monkeypatch.setattr(pq, "ParquetFile", refuse)
    with pytest.raises(DataError, match=r"a\.parquet` must be a file that you may read"):
        open_source(tmp_path / "a.parquet")
    monkeypatch.setattr("fastmmd.tables.paths._below", refuse)
    with pytest.raises(DataError, match=r"` must be a place that you may read"):
        open_source(tmp_path)


def test_a_damaged_compressed_file_is_named(tmp_path):
    WRITERS["a.csv.gz"](TABLE, tmp_path / "a.csv.gz")
    cut(tmp_path / "a.csv.gz", 0.5)
    with pytest.raises(DataError, match=r"`.*a\.csv\.gz` must be a complete CSV file"):
        read_all(open_source(tmp_path / "a.csv.gz"))


@pytest.mark.parametrize("dictionary", [False, True])
def test_a_single_wrong_bit_is_found_by_the_checksum_of_its_page(dictionary, tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"x": np.arange(1000.0), "s": ["word"] * 1000})
    pq.write_table(
        table,
        path,
        write_page_checksum=True,
        compression="none",
        use_dictionary=["s"] if dictionary else False,
    )
    data = bytearray(path.read_bytes())
    data[data.find(b"word" if dictionary else np.float64(500.0).tobytes()) + 1] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        DataError, match=r"`.*a\.parquet` must be a complete Parquet file; .*[Cc]hecksum"
    ):
        read_all(open_source(path))


@pytest.mark.parametrize("sniffed", [64, 2**20])
def test_ragged_rows_are_named_by_line(sniffed, tmp_path, monkeypatch):
    monkeypatch.setattr("fastmmd.tables.formats.csv._SNIFF_BYTES", sniffed)
    path = csv(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 100 + "3\n" + "1,2\n" * 100)
    message = r"a\.csv`, line 102, must have 2 values like the lines before; got 1: '3'"
    with pytest.raises(DataError, match=message):
        read_all(open_source(path))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_another_delimiter_is_suggested(mark, tmp_path):
    text = "a;b;c\n1;2;x\n3;4;y\n".replace(";", mark)
    path = csv(tmp_path / "a.csv", text)
    message = (
        rf"^`.*a\.csv` must have values separated by ','; its first line is .*\. Pass "
        rf"`delimiter={re.escape(repr(mark))}`, or `delimiter=','` if it is one column\.$"
    )
    with pytest.raises(DataError, match=message):
        open_source(path)
    assert open_source(path, delimiter=mark).schema.names == ["a", "b", "c"]
    assert open_source(path, delimiter=",").schema.names == [f"a{mark}b{mark}c"]
    # Without names two lines must agree: text may have a semicolon anywhere.
    with pytest.raises(DataError, match=message):
        open_source(path, header=False)
    path = csv(tmp_path / "text.csv", f"well{mark} perhaps\nyes\n")
    assert open_source(path, header=False).schema.names == ["f0"]
    assert open_source(csv(tmp_path / "one.csv", "a\n1\n")).schema.names == ["a"]


def test_another_delimiter_is_suggested_where_lines_are_ragged(tmp_path):
    path = csv(tmp_path / "a.csv", "a;b\n1,5;2\n3,5;4\n")
    message = (
        r"line 2, must have 1 value like the lines before; got 2: '1,5;2'\. If values are "
        r"separated by ';', pass `delimiter=';'`\.$"
    )
    with pytest.raises(DataError, match=message):
        open_source(path)
    # The other way round: what was asked for is wrong.
    path = csv(tmp_path / "b.csv", "a,b,c\n1,2,x;y\n")
    with pytest.raises(DataError, match="separated by ',', pass `delimiter=','`"):
        open_source(path, delimiter=";")
    path = csv(tmp_path / "c.csv", "a,b\n1,2\n3\n")
    with pytest.raises(DataError, match=r"got 1: '3'\.$"):
        open_source(path)


def test_another_encoding_is_suggested(tmp_path, monkeypatch):
    text = "name,köln\n" + "x,1\n" * 100 + "ä,2\n"
    (tmp_path / "names.csv").write_bytes(text.encode("latin1"))
    (tmp_path / "values.csv").write_bytes(text.replace("ö", "o").encode("latin1"))
    (tmp_path / "utf16.csv").write_bytes(text.encode("utf16"))
    message = r"`.*\.csv` must be text in the encoding utf-8; .*`encoding='latin1'`\.$"
    for sniffed in (2**20, 64):
        monkeypatch.setattr("fastmmd.tables.formats.csv._SNIFF_BYTES", sniffed)
        for name in ("names.csv", "values.csv"):
            with pytest.raises(DataError, match=message):
                read_all(open_source(tmp_path / name))
            rows = read_all(open_source(tmp_path / name, encoding="latin1"))
            assert rows[-1][1]["name"] == "ä"
    with pytest.raises(DataError, match=r"line 102, column `name` is not\. Pass"):
        read_all(open_source(tmp_path / "values.csv"))
    # A column that is not read may hold anything.
    source = open_source(tmp_path / "values.csv", columns=["koln"])
    assert len(read_all(source)) == 101
    with pytest.raises(DataError, match=r"starts as UTF-16 does.*`encoding='utf16'`"):
        open_source(tmp_path / "utf16.csv")
    rows = read_all(open_source(tmp_path / "utf16.csv", encoding="utf16"))
    assert rows[-1][1] == {"name": "ä", "köln": 2.0}
    with pytest.raises(DataError, match=r"encoding ascii; .*`encoding='utf8'`"):
        read_all(open_source(tmp_path / "names.csv", encoding="ascii"))
    with pytest.raises(ValueError, match=r"`encoding` must be the name of an encoding"):
        open_source(tmp_path / "names.csv", encoding="latin-one")


def test_names_without_rows_or_line_end(tmp_path):
    csv(tmp_path / "a.csv", "a,b")
    csv(tmp_path / "b.csv", "b,a\n1,x\n")
    source = open_source(tmp_path / "*.csv")
    assert [row for _, row in read_all(source)] == [{"a": "x", "b": 1.0}]
    assert read_all(open_source(tmp_path / "a.csv")) == []
    csv(tmp_path / "marked", "\ufeffa,b")
    assert open_source(tmp_path / "marked", format="csv").schema.names == ["a", "b"]
    with pytest.raises(DataError, match="must have rows; it is empty"):
        open_source(csv(tmp_path / "c.csv", "\n\n"), header=False)


def test_values_of_another_type_are_named_by_line_and_column(tmp_path, monkeypatch):
    monkeypatch.setattr("fastmmd.tables.formats.csv._SNIFF_BYTES", 64)
    path = csv(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 100 + "1,oops\n")
    message = (
        r"line 102, column `b` must be of type double like the rows before; got 'oops'.*"
        r"pass `types=\{'b': 'string'\}`"
    )
    with pytest.raises(DataError, match=message):
        read_all(open_source(path))
    assert len(read_all(open_source(path, types={"b": "string"}))) == 101


def test_other_broken_text(tmp_path):
    with pytest.raises(DataError, match=r"must have a line with the names.*it is empty"):
        open_source(csv(tmp_path / "a.csv", ""))
    with pytest.raises(
        DataError, match="columns of different names; got more than one `a`"
    ):
        open_source(csv(tmp_path / "b.csv", "a,a\n1,2\n"))
    with pytest.raises(DataError, match=r"b\.jsonl` must be a complete JSON lines file"):
        open_source(csv(tmp_path / "b.jsonl", '{"a": 1}\n{"a": oops}\n'))
    for text in ('[{"a": 1}, {"a": 2}]', '\ufeff [\n{"a": 1}\n]\n'):
        with pytest.raises(
            DataError, match=r"c\.jsonl` must have one object a line.*it is one array.*jq"
        ):
            open_source(csv(tmp_path / "c.jsonl", text))
    for text in ("", "\n\n"):
        with pytest.raises(DataError, match=r"one object a line, .*; it is empty\.$"):
            open_source(csv(tmp_path / "e.jsonl", text))
    assert read_all(open_source(csv(tmp_path / "d.csv", "a,b\n"))) == []


def test_fields_that_change_their_type_are_named(tmp_path, monkeypatch):
    path = csv(tmp_path / "a.jsonl", '{"a": 1}\n' * 50 + '{"a": "x"}\n')
    message = "in some lines the field `a` is a number, in others a string"
    for sniffed in (2**20, 64):
        monkeypatch.setattr("fastmmd.tables.formats.json_lines._SNIFF_BYTES", sniffed)
        with pytest.raises(DataError, match=message):
            read_all(open_source(path))


def test_folders_must_be_named_alike(tmp_path):
    (tmp_path / "year=2018").mkdir()
    pq.write_table(TABLE, tmp_path / "year=2018" / "a.parquet")
    pq.write_table(TABLE, tmp_path / "b.parquet")
    with pytest.raises(
        DataError, match="folders must all be named after `year`, or none"
    ):
        open_source(tmp_path)


def test_unknown_places(monkeypatch):
    with pytest.raises(DataError, match="must be a path or a URL of a known kind"):
        open_source("nowhere://bucket/file.csv")

    def lacking(_):
        msg = "it requires requests"
        raise ImportError(msg)

    with monkeypatch.context() as patch:
        patch.setattr("fsspec.core.url_to_fs", lacking)
        with pytest.raises(
            MissingDependencyError, match="needs a further package; it req"
        ):
            open_source("nowhere://bucket/file.csv")
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(MissingDependencyError, match="pip install fsspec"):
        open_source("nowhere://bucket/file.csv")


def test_rebatching_keeps_all_rows():
    table = pa.table(
        {"x": np.arange(100), "s": pa.array(["a"] * 100).dictionary_encode()}
    )
    for sizes in ([100], [1] * 100, [7, 0, 90, 3], []):
        edges = np.cumsum([0, *sizes])
        batches = [
            table.slice(a, b - a).combine_chunks().to_batches()[0]
            for a, b in itertools.pairwise(edges)
            if b > a
        ]
        for rows in (1, 10, 33, 100, 1000):
            found = list(rebatch(iter(batches), rows))
            assert [b.num_rows for b in found[:-1]] == [rows] * max(len(found) - 1, 0)
            total = [v for b in found for v in b.column(0).to_pylist()]
            assert total == list(range(edges[-1]))
