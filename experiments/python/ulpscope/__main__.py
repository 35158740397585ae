"""python -m ulpscope: the program."""
from .program import main

main()
