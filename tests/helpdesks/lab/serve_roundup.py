"""Serves a Roundup tracker on loopback: `serve_roundup.py FOLDER`, which prints its port. Runs in a venv of its own."""

import socketserver
import sys
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from roundup.cgi.wsgi_handler import RequestDispatcher


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        """Says nothing."""


server = make_server("127.0.0.1", int(sys.argv[2]), RequestDispatcher(sys.argv[1]), Server, Quiet)
print("ready", flush=True)
server.serve_forever()
