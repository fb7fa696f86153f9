"""The app in a browser: one page, one websocket, one process for each window that is opened."""
