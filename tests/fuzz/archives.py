"""A data set of each archive format, small enough to be broken thousands of times."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping

from explainer_core.datasets.cora import CITATIONS, PAPERS
from explainer_core.datasets.download import Archive, fingerprint

TU_FILES = {
    f"SET/SET_{part}.txt": text.encode()
    for part, text in {
        "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 2\n2, 4\n5, 6\n6, 5\n5, 6\n7, 7\n7, 5\n",
        "edge_labels": "0\n0\n1\n1\n0\n0\n0\n0\n0\n1\n0\n",
        "graph_indicator": "1\n1\n1\n1\n2\n2\n2\n2\n",
        "graph_labels": "1\n-1\n",
        "node_labels": "0\n3\n1\n1\n1\n2\n2\n0\n",
    }.items()
}
TU_SETTINGS = ({-1: "harmless", 1: "harmful"},), {"atoms": ("C", "O", "H", "N"), "bonds": ("single", "double")}
CORA_FILES = {
    PAPERS: b"31\t0\t1\t1\tTheory\n7\t1\t0\t0\tNeural_Networks\n12\t0\t0\t0\tCase_Based\n40\t1\t1\t1\tTheory\n",
    CITATIONS: b"31\t7\n7\t31\n12\t31\n12\t12\n",
}


def small_archive(name: str, files: Mapping[str, bytes]) -> Archive:
    members = {path: fingerprint(content) for path, content in files.items()}
    return Archive(name, f"https://example.org/{name}", members, 1 << 20, 1 << 20)


def zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(zipfile.ZipInfo(path), content)  # without a date, so that it is the same in every run
    return packed.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    tape = io.BytesIO()
    with tarfile.open(fileobj=tape, mode="w") as archive:
        for path, content in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(tape.getvalue(), mtime=0)
