"""Offers the download of a data set that is not on this machine, with its progress, and says why where it fails."""

from urllib.parse import urlsplit

import streamlit as st

from dashboard import services
from dashboard.view.plain_text import for_markdown, sentence


def offer_download(info: services.DatasetInfo) -> None:
    if info.archive is None:
        return  # made here: there is nothing to fetch
    home = for_markdown(urlsplit(info.archive.url).netloc)
    st.info(f"These data are not on this machine yet. They are fetched once, from {home}, and kept.")
    if not st.button(f"Download {info.title}", type="primary"):
        return
    bar = st.progress(0.0, text=f"Asking for {info.title}")

    def progress(done: int, expected: int) -> None:
        share = min(done / expected, 1.0) if expected else 0.0  # some servers do not tell the size
        bar.progress(share, text=f"Downloading {info.title}: {done / 1e6:.1f} MB")

    try:
        services.download(info.name, progress)
    except services.DataUnavailable as error:
        bar.empty()
        st.error(sentence(error))
        return
    st.rerun()
