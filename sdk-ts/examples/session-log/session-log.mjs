#!/usr/bin/env node
import "../../dist/examples/session-log/main.js";
