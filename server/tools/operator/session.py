"""A Python that keeps its variables: python3 -I -u session.py MEMORY_MB.

Each line of standard input is a JSON object {"code": ..., "most": characters}; each answer is a line of JSON on standard
output: {"ok", "output", "result"} or {"ok": false, "output", "error"}. Ends when nobody writes to it any more.
"""

import ast
import contextlib
import io
import json
import os
import sys
import threading
import time
import traceback


def limit_memory(memory_mb):
    try:
        import resource

        limit = memory_mb * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (ImportError, ValueError, OSError):
        pass  # Not every platform can.


def end_with_parent():
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(code, variables):
    tree = ast.parse(code, "cell")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), variables)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), variables)


def fault():
    kind, error, trace = sys.exc_info()
    # Without the lines of this file.
    inner = trace.tb_next.tb_next if trace and trace.tb_next else None
    return "".join(traceback.format_exception(kind, error, inner))


def main():
    limit_memory(int(sys.argv[1]))
    end_with_parent()
    # What programs read and write is not the way on which they come and go.
    asked = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    variables = {"__name__": "__main__", "__builtins__": __builtins__}
    for line in asked:
        order = json.loads(line)
        written = io.StringIO()
        try:
            with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
                value = run(order["code"], variables)
                answer = {"ok": True, "result": None if value is None else repr(value)}
        except BaseException:
            answer = {"ok": False, "error": fault()}
        most = order["most"]
        answer["output"] = written.getvalue()
        for key in ("output", "result", "error"):
            text = answer.get(key)
            if text is not None and len(text) > most:
                answer[key] = text[:most] + "… (%d characters in all)" % len(text)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
