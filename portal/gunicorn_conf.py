"""How gunicorn serves the portal: `gunicorn -c portal/gunicorn_conf.py portal.wsgi`.

Options on gunicorn's command line win, for instance `--bind 0.0.0.0:8000` behind a proxy.
"""

from pathlib import Path

from portal import env

bind = f"127.0.0.1:{env.number('PORT', 8000)}"
worker_class = "gthread"
workers = env.number("PORTAL_WEB_WORKERS", 2)
threads = env.number("PORTAL_WEB_THREADS", 4)
# The application is loaded once and shared by the workers: a quicker start, less memory.
preload_app = True
keepalive = 5
graceful_timeout = 5
loglevel = "warning"
control_socket_disable = True
# The workers' signs of life are file times; in memory they never wait for a disk.
_MEMORY = Path("/dev/shm")  # noqa: S108 - gunicorn makes its files there with names nobody can guess
worker_tmp_dir = str(_MEMORY) if _MEMORY.is_dir() else None
