"""What SEAL can do for the same tasks, through `seal-python`, written as a friend of SEAL would.

Needs `pip install './papers[peers]'`.
"""
