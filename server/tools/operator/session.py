"""A Python that keeps its variables: python3 -I -u session.py MEMORY_MB.

Each line of standard input is a JSON object {"code": ..., "most": characters, "tools": [{"name", "parameters"}]}; each
answer is a line of JSON on standard output: {"ok", "output", "result"} or {"ok": false, "output", "error"}. Before its
answer, a program can call tools: a line {"call": {"tool", "args"}}, for which the next line of input has {"output"} or
{"error", "status_code"}. Ends when nobody writes to it any more.
"""

import ast
import builtins
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


class ToolError(Exception):
    """A failed call of a tool; status_code as in HTTP."""

    def __init__(self, message, status_code):
        super().__init__(message)
        self.status_code = status_code


MOST_ARGUMENTS = 256 * 1024


def as_json(value):
    """What json does not know: data frames as records, arrays as lists, times as texts."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return value.to_dict(orient="records")
    for name in ("tolist", "isoformat"):
        if hasattr(value, name):
            return getattr(value, name)()
    raise TypeError("%s is not JSON: pass texts, numbers, lists and dicts" % type(value).__name__)


class Calls:
    """The only way out of a program: one line out, one line in."""

    def __init__(self, asked, answers):
        self.asked = asked
        self.answers = answers
        self.lock = threading.RLock()
        self.open = False

    def write(self, message):
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()

    def finish(self, answer):
        with self.lock:
            self.open = False
            self.write(answer)

    def function(self, name, parameters):
        def call(*values, **named):
            if len(values) > len(parameters):
                raise TypeError("%s takes at most %d arguments" % (name, len(parameters)))
            positional = dict(zip(parameters, values))
            for key in positional.keys() & named.keys():
                raise TypeError("%s got two values for %s" % (name, key))
            args = json.dumps({**positional, **named}, default=as_json, allow_nan=False)
            if len(args) > MOST_ARGUMENTS:
                raise ValueError("The arguments of %s exceed %d characters" % (name, MOST_ARGUMENTS))
            with self.lock:
                if not self.open:
                    raise ToolError("%s can only be called while a program runs" % name, 409)
                self.write({"call": {"tool": name, "args": json.loads(args)}})
                line = self.asked.readline()
            if not line:
                os._exit(1)
            answer = json.loads(line)
            if "error" in answer:
                raise ToolError(answer["error"], answer["status_code"])
            return answer["output"]

        call.__name__ = name
        return call


def without_this_file(report):
    if report is not None:
        inner = [frame for frame in report.stack if frame.filename != __file__]
        report.stack = traceback.StackSummary.from_list(inner)
        without_this_file(report.__cause__)
        without_this_file(report.__context__)
    return report


def fault():
    return "".join(without_this_file(traceback.TracebackException(*sys.exc_info())).format())


def main():
    limit_memory(int(sys.argv[1]))
    end_with_parent()
    # What programs read and write is not the way on which they come and go.
    asked = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    calls = Calls(asked, answers)
    known = {}
    variables = {"__name__": "__main__", "__builtins__": known}
    while True:
        line = asked.readline()
        if not line:
            break
        order = json.loads(line)
        functions = {tool["name"]: calls.function(**tool) for tool in order["tools"]}
        # A program's own names and Python's take precedence.
        names = {**functions, "tools": functions, "ToolError": ToolError, **vars(builtins)}
        for name in set(known) - set(names):
            del known[name]
        known.update(names)
        calls.open = True
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
        calls.finish(answer)


main()
