"""stub"""

COMMANDS = {"fit": None}
