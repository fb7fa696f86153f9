"""Availability of packs and of rebuilt contexts on real sessions. See ``__main__``."""
