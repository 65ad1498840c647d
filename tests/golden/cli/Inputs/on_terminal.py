"""Runs a command with standard error on a terminal and prints what that receives, a line for each time the cursor goes
to the beginning, the escape that clears the rest of the line as <clear>. The command's standard output is dropped.

usage: on_terminal.py COMMAND...
"""
import os
import pty
import subprocess
import sys

leader, follower = pty.openpty()
command = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=follower)
os.close(follower)
received = b""
while True:
    try:
        part = os.read(leader, 1 << 16)
    except OSError:  # how Linux says that the other side is closed
        break
    if not part:
        break
    received += part
print(received.decode().replace("\x1b[K", "<clear>").replace("\r", "\n"))
sys.exit(command.wait())
