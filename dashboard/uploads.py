"""Files on their way from a browser: how many a page may hold at a time, and how much all pages together.

Streamlit keeps what is sent in memory until the page that sent it is gone, and counts nothing; the gate asks here first.
"""

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.limits import MB

UPLOADS = "_stcore/upload_file/"
MOST_FILES = 12  # of one page
MOST_BYTES = 400 * MB  # of all pages


def refusal(path: str) -> str | None:
    """Why a file that is sent to this path has no room, in one sentence; None where it has."""
    held = getattr(runtime.get_instance().uploaded_file_mgr, "file_storage", {}) if runtime.exists() else {}
    page = path.removeprefix(UPLOADS).partition("/")[0]
    files = [file for kept in list(held.values()) for file in list(kept.values())]
    if len(held.get(page, ())) >= MOST_FILES:
        return f"a page must hold at most {MOST_FILES} files (got one more); load it again"
    if sum(len(file.data) for file in files) >= MOST_BYTES:
        return f"all pages together must hold at most {MOST_BYTES // MB} MB of files (got more); try again in a minute"
    return None


def forget_files() -> None:
    """All files of the page that asks: what was made of them is kept elsewhere, or not at all."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
