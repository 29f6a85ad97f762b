"""The server. It loads the libraries and the first data set while the first browser is still on its way."""

import streamlit as st

from dashboard.asgi import PAGE, alone, gate
from dashboard.limits import Limits
from dashboard.seats import Seats

limits = Limits.from_environment()
seats = Seats(limits.visitors)
app = st.App(PAGE, lifespan=alone(limits, seats), middleware=[gate(seats)])
