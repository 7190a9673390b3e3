#!/usr/bin/env node
import "../../dist/examples/dynamic-tools/main.js";
