"""The source of the bundled demo session: an invented agent fixes an invented bug.

``python -m tests.demo_session`` writes ``assets/demo/``; a test asserts that it is current.
"""
