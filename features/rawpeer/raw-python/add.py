#!/usr/bin/env python3
"""An extension of API 0.4 that speaks the wire by hand: a thread for every call, nothing but the standard library."""

import json
import os
import threading

LONGEST = 1 << 20
BOUND = 16
TOOLS = [
    {
        "name": "add",
        "description": "Adds numbers.",
        "parameters": {
            "type": "object",
            "properties": {"numbers": {"type": "array", "items": {"type": "number"}}},
            "required": ["numbers"],
        },
        "output_schema": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]},
    },
    {
        "name": "count",
        "description": "Counts slowly.",
        "parameters": {"type": "object", "properties": {"to": {"type": "integer"}}, "required": ["to"]},
    },
]


class Refused(Exception):
    """An error answer."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Cancelled(Exception):
    pass


class Peer:
    def __init__(self):
        self.writing = threading.Lock()
        self.state = threading.Lock()
        self.running = {}  # by spelled id: the event that cancels the call, and why
        self.features = None

    # One lock for "is it still owed an answer" and one for whole lines.
    def say(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with self.writing:
            try:
                while line:
                    line = line[os.write(1, line) :]
            except OSError:
                os._exit(1)

    def settle(self, request, message):
        with self.state:
            if self.running.pop(json.dumps(request), None) is None:
                return
            self.say({"id": request, **message})

    def run(self):
        buffer = b""
        while chunk := os.read(0, 1 << 16):
            buffer += chunk
            while (end := buffer.find(b"\n")) >= 0:
                if end > LONGEST:
                    return 3
                line, buffer = buffer[:end], buffer[end + 1 :]
                if self.take(line):
                    return 0
            if len(buffer) > LONGEST:
                return 3
        return 0

    def take(self, line):
        """Serves one line. True ends the session."""
        if not line.strip():
            return False
        try:
            message = json.loads(line.decode())
        except ValueError:
            self.say({"id": None, "error": {"code": -32700, "message": "parse error"}})
            return False
        if not isinstance(message, dict):
            self.say({"id": None, "error": {"code": -32600, "message": "a message is an object"}})
            return False
        if "method" not in message and ("result" in message or "error" in message):
            return False
        method, params = message.get("method"), message.get("params")
        if "id" not in message:
            if method == "$/cancelRequest" and isinstance(params, dict):
                self.cancel(params.get("id"), params.get("reason"))
            return False
        request = message["id"]
        try:
            if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
                raise Refused(-32600, "this is no request of JSON-RPC 2.0")
            return self.serve(request, method, params)
        except Refused as refused:
            self.say({"id": request, "error": refused.error})
            return method == "initialize" and self.features is None
        return False

    def serve(self, request, method, params):
        if json.dumps(request) in self.running:
            raise Refused(-32600, "this id is in use")
        if method == "initialize":
            if self.features is not None:
                raise Refused(-32600, "initialized already")
            self.say({"id": request, "result": self.begin(params)})
        elif self.features is None:
            if method != "initialize":
                self.say({"id": request, "error": {"code": -32600, "message": "initialize comes first"}})
        elif method == "tool/call":
            self.call(request, params)
        elif method == "shutdown":
            self.cancel_all()
            self.say({"id": request, "result": {}})
            return True
        else:
            raise Refused(-32601, f"no method is called {method[:200]}")
        return False

    def begin(self, params):
        params = params if isinstance(params, dict) else {}
        protocol = params.get("protocol")
        if params.get("api_version") != "0.4" or not isinstance(protocol, dict):
            raise Refused(-32000, "this extension speaks API 0.4")
        known = ["request_cancellation", "content_parts", "request_progress"]
        unknown = [name for name in protocol["required_features"] if name not in known]
        if unknown:
            raise Refused(-32000, "features are missing", {"unsupported_features": unknown})
        self.features = [*protocol["required_features"]]
        self.features += [name for name in protocol["optional_features"] if name in known]
        bound = min(BOUND, protocol["limits"]["max_concurrent_requests"])
        return {
            "api_version": "0.4",
            "commands": [],
            "tools": TOOLS,
            "protocol": {
                "version": protocol["version"],
                "features": self.features,
                "limits": {"max_concurrent_requests": bound},
            },
        }

    def call(self, request, params):
        name = params.get("name") if isinstance(params, dict) else None
        if not isinstance(name, str) or not isinstance(params.get("arguments"), dict) or "catalog_revision" in params:
            raise Refused(-32602, "a call has a name and an object of arguments, and nothing that was not negotiated")
        work = {"add": self.add, "count": self.count}.get(name)
        if work is None:
            raise Refused(-32601, f"no tool is called {name[:200]}")
        stop = threading.Event()
        with self.state:
            self.running[json.dumps(request)] = stop
        threading.Thread(target=self.work, args=(work, request, params["arguments"], stop), daemon=True).start()

    def work(self, work, request, arguments, stop):
        try:
            text, structured = work(request, arguments, stop)
        except Cancelled:
            return
        except (ValueError, TypeError, KeyError) as fault:
            self.settle(request, {"result": {"content": [{"type": "text", "text": f"wrong arguments: {fault}"}], "is_error": True}})
            return
        result = {"content": [{"type": "text", "text": text}], "is_error": False}
        if structured is not None:
            result["structured_content"] = structured
        self.settle(request, {"result": result})

    def add(self, _request, arguments, _stop):
        numbers = arguments["numbers"]
        if not numbers or any(isinstance(n, bool) or not isinstance(n, (int, float)) for n in numbers):
            raise ValueError("give some numbers")
        return str(sum(numbers)), {"sum": sum(numbers)}

    def count(self, request, arguments, stop):
        for n in range(1, int(arguments["to"]) + 1):
            if "request_progress" in self.features and n <= 3:
                event = {"type": "status", "message": f"at {n}", "current": n, "total": None, "unit": None}
                event = {key: value for key, value in event.items() if value is not None}
                with self.state:
                    if json.dumps(request) in self.running:
                        self.say({"method": "$/progress", "params": {"request_id": request, "sequence": n, "event": event}})
            if stop.wait(0.5):
                raise Cancelled
        return "done", None

    def cancel(self, request, reason):
        stop = self.running.get(json.dumps(request))
        if stop is None:
            return
        data = {} if reason is None else {"data": {"reason": reason}}
        self.settle(request, {"error": {"code": -32800, "message": "request cancelled", **data}})
        stop.set()

    def cancel_all(self):
        for spelled in list(self.running):
            self.cancel(json.loads(spelled), "shutdown")


if __name__ == "__main__":
    os._exit(Peer().run())
