"""Tell which kind of table a file is by its ending and first bytes, and what to do about kinds that are not read."""

from __future__ import annotations

from heterodag.errors import DataError
from heterodag.io.sources import Source

PARQUET, EXCEL, TEXT = "Parquet", "Excel", "text"

_ENDINGS = {".parquet": PARQUET, ".pq": PARQUET, ".xlsx": EXCEL, ".xlsm": EXCEL}
_SPREADSHEET = "open it in a spreadsheet program and save it as .xlsx or CSV."
_UNPACK = "unpack it and give the table in it."
_PANDAS = "read it in Python with pandas.{} and save it with to_csv or to_parquet."
_PICKLE = (
    "a pickle can run any code when it is opened, so it is not read; load it yourself with pandas.read_pickle and save it "
    "with to_csv or to_parquet."
)
_NUMPY = "load it in Python with numpy.load and pass the array to HOST().fit, or save it with numpy.savetxt."
_R = "save it in R with write.csv(x, 'x.csv', row.names = FALSE)."
_DATABASE = "export the table as CSV."
#: What to do with a file of another kind, by its ending.
_FOREIGN = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers", ".gsheet"), _SPREADSHEET),
    **dict.fromkeys((".zip", ".7z", ".rar", ".tar", ".tgz", ".tbz2", ".txz", ".zst", ".lz4", ".z"), _UNPACK),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), _PICKLE),
    **dict.fromkeys((".npy", ".npz"), _NUMPY),
    **dict.fromkeys((".rds", ".rda", ".rdata"), _R),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), _PANDAS.format("read_feather")),
    **dict.fromkeys((".h5", ".hdf5", ".hdf"), _PANDAS.format("read_hdf")),
    **dict.fromkeys((".sav", ".zsav", ".por"), _PANDAS.format("read_spss")),
    **dict.fromkeys((".sas7bdat", ".xpt"), _PANDAS.format("read_sas")),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _PANDAS.format("read_json")),
    **dict.fromkeys((".html", ".htm"), _PANDAS.format("read_html")),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3", ".mdb", ".accdb"), _DATABASE),
    ".dta": _PANDAS.format("read_stata"),
    ".orc": _PANDAS.format("read_orc"),
    ".xml": _PANDAS.format("read_xml"),
    ".mat": "save it in MATLAB with writetable or writematrix.",
    ".pdf": "copy the table into a spreadsheet program and save it as .xlsx or CSV.",
}
#: How text files begin that are not tables of lines.
_TEXTS = {
    (b"<!doctype", b"<html", b"<table", b"<?xml"): ("a page or XML", _PANDAS.format("read_html or read_xml")),
    (b"[{", b'{"'): ("JSON", _PANDAS.format("read_json")),
}
_ZIP, _OLE, _PARQUET_MARK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PAR1"


def kind_of(source: Source) -> str:
    """Return the kind of a table, or raise `DataError` with what to do about one that is not read."""
    for suffix in (source.path.suffix.lower(), source.suffix):
        if suffix in _FOREIGN:
            raise DataError(f"File '{source}' is of a kind that is not read ({suffix}); {_FOREIGN[suffix]}")
    start = source.start()
    if start.startswith(_OLE):
        raise DataError(f"File '{source}' is an old Excel file (.xls) or protected by a password; {_SPREADSHEET}")
    if source.suffix in _ENDINGS:
        return _ENDINGS[source.suffix]
    if start.startswith(_PARQUET_MARK):
        return PARQUET
    if start.startswith(_ZIP):
        # An Excel file is a zip archive; others, such as a packed CSV, have none of these parts.
        if b"[Content_Types].xml" in start or b"xl/" in start:
            return EXCEL
        raise DataError(f"File '{source}' is a zip archive; {_UNPACK}")
    for marks, (what, remedy) in _TEXTS.items():
        if start[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(marks):
            raise DataError(f"File '{source}' is {what}, not a table of lines; {remedy}")
    return TEXT
