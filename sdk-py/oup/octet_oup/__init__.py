"""OUP, the protocol between an application and an octet server.

octet_oup.wire holds the bindings: models, methods, errors, limits, features and tables.
"""
