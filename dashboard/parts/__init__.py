"""The parts a page is put together from; a part draws, and asks `compute` for what it draws."""
