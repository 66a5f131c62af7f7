"""What a service must not forget: answers that were given, how many, and jobs that wait.

An answer and what it takes of budgets are written in one transaction, on the disk before anybody
has the answer. The same query again gets the same bytes and costs nothing while they are kept:
fresh noise over the same rows could be averaged away. `service_state` has the whole; it lies in a
file (`sqlite_file`) or in a database that several machines share (`postgres`), in the same tables.
"""
