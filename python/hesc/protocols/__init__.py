"""What two or three parties need to compute together: plans, clients, servers and their messages.

A folder is a protocol, with the same names of files inside: `plan` is what both sides know,
`planning` makes one from a model, `client`, `server`, `owner` and `party` are the roles, `backend`
is what estimators serve a model by. Beside the folders lies what several of them share.
"""
