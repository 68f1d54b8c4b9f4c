def claims(c):
    return []
