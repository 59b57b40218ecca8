"""Reading exports: how many megabytes a CPU second, against the tools one would script it with."""
