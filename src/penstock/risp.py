"""RISP, the encoding of RQ: the codes of its commands, for the broker and for clients.

A command is one byte and an argument. The top three bits of the byte give the type of the argument, so unknown commands
can be skipped. All numbers are big-endian and unsigned.

    code >> 5    0         1       2        3         4         5                 6                 7
    codes        0-31      32-63   64-95    96-127    128-159   160-191           192-223           224-255
    argument     none      none    1 byte   2 bytes   4 bytes   length 1, bytes   length 2, bytes   length 4, bytes
    meaning      action    flag    number   number    number    string            string            string

Numbers, strings and flags set fields, and an action uses them. Codes marked with * are Penstock's own: only nodes that
sent a token get WELCOME and DENIED, and peers that do not know the others skip them.

This module is not compiled, so that clients load nothing of the broker; compiled modules inline its numbers.
"""

from typing import Final

# Actions.
NOP: Final = 0x00
CLEAR: Final = 0x01  # resets all fields; nothing else does
PING: Final = 0x05
PONG: Final = 0x06
REQUEST: Final = 0x0A
REPLY: Final = 0x0B
DELIVERED: Final = 0x0D
BROADCAST: Final = 0x0E
UNDELIVERED: Final = 0x10
CONSUME: Final = 0x14
CANCEL_QUEUE: Final = 0x15
CLOSING: Final = 0x16
SERVER_FULL: Final = 0x17
CONSUMING: Final = 0x18
WELCOME: Final = 0x1A  # *
DENIED: Final = 0x1B  # *

# Flags.
EXCLUSIVE: Final = 0x20
NOREPLY: Final = 0x21

# Numbers.
PRIORITY: Final = 0x40
RETRIES: Final = 0x41
QUEUEID: Final = 0x60
TIMEOUT: Final = 0x61  # seconds
MAX: Final = 0x62
ID: Final = 0x80
DELAY: Final = 0x90  # *, milliseconds
TTL: Final = 0x91  # *, milliseconds

# Strings.
QUEUE: Final = 0xA0
TOKEN: Final = 0xB0  # *, acts by itself once it is complete
LONG_TOKEN: Final = 0xD0  # *, the same with a length of two bytes
PAYLOAD: Final = 0xE0

FIRST_FLAG: Final = 0x20
FIRST_WITH_ARGUMENT: Final = 0x40
FIRST_STRING: Final = 0xA0

# The size of code and number, or of code and string length, by code >> 5.
HEADER_SIZES: Final = b"\x01\x01\x02\x03\x05\x02\x03\x05"
