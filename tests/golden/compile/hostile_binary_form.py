#!/usr/bin/env python3
"""Runs a command in a process that ignores SIGCHLD, so that nobody learns how a child of it ended; its exit code is this one's.

    hostile_binary_form.py COMMAND...
"""
import os
import signal
import sys

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
