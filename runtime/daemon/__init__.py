"""How a command and a daemon on the same folder speak: by a socket in it, so that the file's rights say who may."""
