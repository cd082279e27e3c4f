"""Calls one function of one file: python3 -I runner.py FILE FUNCTION MEMORY_MB, arguments as JSON on standard input.

The result goes to standard output as JSON; whatever the function prints goes to standard error.
"""

import importlib.util
import inspect
import json
import os
import sys


def main():
    path, name, memory_mb = sys.argv[1], sys.argv[2], int(sys.argv[3])
    try:
        import resource

        limit = memory_mb * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (ImportError, ValueError, OSError):
        pass  # Not every platform can.
    args = json.load(sys.stdin)
    answer, sys.stdout = sys.stdout, sys.stderr
    sys.dont_write_bytecode = True
    # The file's own folder, so that it can be split into several.
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("troupe_tool", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["troupe_tool"] = module
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        sys.exit(f"There is no function {name} in {path}.")
    result = function(**args)
    if inspect.isawaitable(result):
        import asyncio

        async def wait():
            return await result

        result = asyncio.run(wait())
    json.dump(result, answer, ensure_ascii=False, default=str, allow_nan=False)


main()
