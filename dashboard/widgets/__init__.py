"""The parts a page is put together from; a part draws, and asks `services` for what it draws."""
