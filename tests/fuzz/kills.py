"""stub"""
COMMANDS = {"fit": None}
