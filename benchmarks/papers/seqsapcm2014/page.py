def page(c):
    return "x"
